import polars as pl
import pytest

from experiments.small_study import curves
from pomona.stats.paired import compare_pair


def test_the_loss_by_training_on():
    findings = curves()
    table = findings.overfitting
    assert table["ranker"].to_list() == ["L 2", "L 4", "L 8"]
    assert table["last"].to_list() == [12.0] * 3
    stages = findings.results.stages.filter(ranker="L 8").sort("fold", "qid")
    last, chosen = (stages.filter(name)["value"].to_numpy() for name in ("is_last", "is_chosen"))
    row = table.filter(ranker="L 8").to_dicts()[0]
    tests = compare_pair(last, chosen, n_resamples=200)
    assert (
        row["difference"] == pytest.approx(last.mean() - chosen.mean()) == row["at_last"] - row["at_chosen"]
    )
    assert (row["t_p"], row["wilcoxon_p"]) == pytest.approx((tests.t_p, tests.wilcoxon_p))
    assert row["n_queries"] == 40


def test_what_validation_chose_is_what_the_runs_are():
    findings = curves()
    values = findings.results.values.filter(part="test")
    for ranker, at_chosen in findings.overfitting.select("ranker", "at_chosen").iter_rows():
        assert at_chosen == pytest.approx(values.filter(ranker=ranker)["ndcg@5"].mean())
    best = findings.results.runs.group_by("ranker").agg(pl.col("best_iteration").mean())
    assert dict(best.iter_rows()) == dict(findings.overfitting.select("ranker", "chosen").iter_rows())


def test_a_run_that_ended_before_stays_as_it_is():
    row = curves().overfitting.to_dicts()[0]
    assert row["at_100"] == row["at_200"] == row["at_last"]


def test_test_curves_are_among_the_learning_curves():
    parts = curves().learning["part"].unique().sort().to_list()
    assert parts == ["test", "train", "valid"]
    test = curves().results.curves.filter(part="test", ranker="L 2", fold=1)
    assert test["iteration"].to_list() == list(range(1, 13))
