import polars as pl
import pytest

from experiments.invented_results import RANKERS, Ranker, but, invent
from pomona.experiments.analysis.caution import cautions
from pomona.experiments.analysis.pooled import pooled


def told(results, measures=("ndcg@10", "ap")):
    return cautions(results, pooled(results), list(measures), results.spec.rankers[0].label)


def test_nothing_to_say():
    assert told(invent()) == []


def test_failed_and_unfinished_runs():
    results = invent(failed=[("one", 2, "MART", 0)])
    failed, fewer = told(results)
    assert failed == "MART failed in 1 of 2 runs on one: out of memory"
    assert fewer.startswith("MART was judged on 60 of 120 queries of one: its means are of other queries")
    state = pl.when(pl.col("state") == "failed").then(pl.lit("queued")).otherwise("state")
    queued = but(results, runs=results.runs.with_columns(state=state, reason=pl.lit(None, pl.String)))
    assert told(queued)[0] == "MART on one: 1 of 2 runs were not done yet"


def test_a_baseline_that_failed():
    said = told(invent(RANKERS[1:], failed=[("one", 1, "MART", 0), ("one", 2, "MART", 0)]))
    assert said == [
        "MART failed in 2 of 2 runs on one: out of memory",
        "the baseline MART has no finished run on one: nothing is marked",
    ]


def test_few_queries():
    assert told(invent(n_queries=20)) == [
        "one has 40 test queries: fewer than 50 tell rankers apart badly",
    ]


def test_the_same_ids_in_two_folds():
    results = invent()
    again = but(results, values=results.values.with_columns(qid=pl.col("qid").str.tail(3)))
    assert told(again)[0].startswith("60 query ids of one are in more than one test fold")


VARIANTS = (
    Ranker("LambdaMART 31", 0.1, kind="lambdamart", valid_skill=0.05),
    Ranker("LambdaMART 63", 0.05, kind="lambdamart", valid_skill=0.2),
    Ranker("MART", 0.3, kind="mart"),
)


def test_a_variant_chosen_by_the_test_data():
    (choice,) = told(invent(VARIANTS))
    assert choice == (
        "of 2 variants of lambdamart on one, LambdaMART 31 is best on the test data, but the validation data "
        "choose LambdaMART 63: report that one, the test fold must choose nothing"
    )


def test_variants_that_validation_chooses_too_and_variants_without_it():
    agreeing = [Ranker("a", 0.1, kind="mart"), Ranker("b", 0.0, kind="mart")]
    assert told(invent(agreeing)) == []
    (choice,) = told(invent(agreeing, with_valid=False))
    assert choice.startswith("2 variants of mart on one have no validation values")
    assert "choose by the test data" in choice


def test_what_the_runs_say_about_the_test_fold():
    schema = ["dataset", "check", "text"]
    rows = [("one", "test fold chose the number of trees", "no validation part"), ("one", "empty query", "3")]
    results = but(invent(), warnings=pl.DataFrame(rows, schema=schema, orient="row"))
    assert told(results) == ["one: test fold chose the number of trees: no validation part"]


@pytest.mark.parametrize(("aim", "is_said"), [("err@10", True), ("NDCG@10", False), ("yahoo:ndcg@10", False)])
def test_trained_for_something_else(aim, is_said):
    results = invent([Ranker("odd", trained_for=aim), *RANKERS[1:]])
    expected = [f"odd was trained for {aim}, which is not among the measures it is judged by"]
    assert told(results) == expected * is_said
