import polars as pl
import pytest

from experiments.invented_results import RANKERS, Ranker, but, invent
from pomona.experiments.analysis.warning import warnings_of
from pomona.experiments.findings import Findings


def warnings(results):
    return list(warnings_of(Findings(results)))


def test_nothing_to_say():
    assert warnings(invent()) == []


def test_failed_and_unfinished_runs():
    results = invent(failed=[("one", 2, "MART", 0)])
    failed, fewer = warnings(results)
    assert failed == "MART failed in 1 of 2 runs on one: out of memory"
    assert fewer.startswith("MART was judged on 60 of 120 queries of one: its means are of other queries")
    state = pl.when(pl.col("state") == "failed").then(pl.lit("queued")).otherwise("state")
    queued = but(results, runs=results.runs.with_columns(state=state, reason=pl.lit(None, pl.String)))
    assert warnings(queued)[0] == "MART on one: 1 of 2 runs were not done yet"


def test_a_baseline_that_failed():
    said = warnings(invent(RANKERS[1:], failed=[("one", 1, "MART", 0), ("one", 2, "MART", 0)]))
    assert said == [
        "MART failed in 2 of 2 runs on one: out of memory",
        "the baseline MART has no finished run on one: nothing is marked",
    ]


def test_few_queries():
    assert warnings(invent(n_queries=20)) == [
        "one has 40 test queries: fewer than 50 tell rankers apart badly",
    ]


def test_the_same_ids_in_two_folds():
    results = invent()
    again = but(results, values=results.values.with_columns(qid=pl.col("qid").str.tail(3)))
    assert warnings(again)[0].startswith("60 query ids of one are in more than one test fold")


VARIANTS = (
    Ranker("LambdaMART 31", 0.1, kind="lambdamart", valid_skill=0.05),
    Ranker("LambdaMART 63", 0.05, kind="lambdamart", valid_skill=0.2),
    Ranker("MART", 0.3, kind="mart"),
)


def test_a_variant_chosen_by_the_test_data():
    (choice,) = warnings(invent(VARIANTS))
    assert choice == (
        "of 2 variants of lambdamart on one, LambdaMART 31 is best on the test data, but the validation data "
        "choose LambdaMART 63: report that one, the test fold must choose nothing"
    )


def test_variants_that_validation_chooses_too_and_variants_without_it():
    agreeing = [Ranker("a", 0.1, kind="mart"), Ranker("b", 0.0, kind="mart")]
    assert warnings(invent(agreeing)) == []
    (choice,) = warnings(invent(agreeing, with_valid=False))
    assert choice.startswith("2 variants of mart on one have no validation values")
    assert "choose by the test data" in choice


@pytest.mark.parametrize(("aim", "is_said"), [("err@10", True), ("NDCG@10", False), ("yahoo:ndcg@10", False)])
def test_trained_for_something_else(aim, is_said):
    results = invent([Ranker("odd", trained_for=aim), *RANKERS[1:]])
    expected = [f"odd was trained for {aim}, which is not among the measures it is judged by"]
    assert warnings(results) == expected * is_said
