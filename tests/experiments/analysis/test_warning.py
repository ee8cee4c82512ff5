from dataclasses import replace

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
    assert warnings(again)[0].startswith("query ids of one that are in more than one test fold: 60;")


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


def test_the_headline_takes_the_variant_that_validation_chooses():
    variants = [
        replace(one, varied=("n_leaves",), parameters={"n_leaves": i}) for i, one in enumerate(VARIANTS)
    ]
    (choice,) = warnings(invent(variants))
    assert choice.endswith("but the validation data choose LambdaMART 63, which the headline takes")


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


def described(results, **facts):
    row = {"dataset": "one", "queries": 120, "empty_queries": 0, "min_docs": 5, "max_label": 2.0, **facts}
    return but(results, datasets=pl.DataFrame([row]), lengths={"one": {5: 30, 9: 12, 10: 50, 20: 28}})


def test_queries_without_a_relevant_document():
    assert warnings(described(invent())) == []
    (said,) = warnings(described(invent(), empty_queries=7))
    assert said.startswith("7 of the 120 queries of one have no relevant document")
    assert "drop_empty = true" in said
    (said,) = warnings(described(invent(), empty_queries=1))
    assert said.startswith("1 of the 120 queries of one has no relevant document")


def test_tools_that_give_0_to_short_queries():
    results = invent(conventions=("definition", "letor4"))
    (said,) = warnings(described(results))
    assert said.startswith("letor4 gives 0 to a query of fewer than 10 documents, however it is ranked")
    assert "42 of the 120 queries of one" in said
    assert warnings(but(described(results), lengths={"one": {10: 120}})) == []
    (unsure,) = warnings(but(described(results), lengths={}))
    assert "some of the 120 queries" in unsure


@pytest.mark.parametrize(
    ("convention", "empty", "reason"),
    [
        ("yahoo", 7, "empty queries"),
        ("yahoo", 0, None),
        ("ranklib", 7, None),
        ("letor4", 0, "gain or discount, short queries"),
    ],
)
def test_a_final_evaluation_that_is_not_by_the_definition(convention, empty, reason):
    said = warnings(described(invent(conventions=(convention,), measures=("ndcg@10",)), empty_queries=empty))
    told = [text for text in said if "by its definition" in text]
    expected = f"{convention}:ndcg@10 is not ndcg@10 by its definition on one ({reason})"
    assert [text.startswith(expected) for text in told] == [True] * (reason is not None)


def test_measures_for_labels_of_another_scale():
    results = invent(measures=("ndcg@10", "err@20", "sr4"))
    err, seznam = warnings(described(results))
    assert err.startswith("err@20 on one: the largest label is 2, below max_grade=4")
    assert seznam.startswith("sr4 on one: the largest label is 2, below the top grade 4")
    assert warnings(described(results, max_label=4.0)) == []
    said = warnings(described(invent(measures=("ndcg@10", "err(max_grade=2)@20"))))
    assert said == []
