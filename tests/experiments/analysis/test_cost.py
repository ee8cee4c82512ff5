import polars as pl
import pytest

from experiments.invented_results import Ranker, but, invent
from pomona.experiments.findings import Findings


def test_means_over_finished_runs():
    failed = [("one", 2, "LambdaMART", 1), ("one", 1, "MART", 0), ("one", 2, "MART", 0)]
    costs = Findings(invent(failed=failed)).costs
    assert costs["ranker"].to_list() == ["LambdaMART", "MART", "Linear"]
    first = costs.row(0, named=True)
    # Runs of folds 1, 1 and 2, which take 2 + fold + 10 · 0.1 seconds.
    assert first["train_seconds"] == pytest.approx((4 + 4 + 5) / 3)
    assert first["score_microseconds"] == pytest.approx(1e6 * 0.001 / 8)
    assert (first["peak_memory"], first["model_bytes"], first["best_iteration"]) == (2000, 500, 30.0)
    assert (first["n_done"], first["n_failed"], first["reason"]) == (3, 1, "out of memory")
    gone = costs.row(1, named=True)
    assert gone["train_seconds"] is gone["score_microseconds"] is gone["peak_memory"] is None
    assert (gone["n_done"], gone["n_failed"], gone["reason"]) == (0, 2, "out of memory")


def test_fronts():
    # Better rankers take longer, but for `slow`, which is beaten in both.
    results = invent([Ranker("good", 0.2), Ranker("fair", 0.1), Ranker("poor", 0.0), Ranker("slow", 0.05)])
    runs = results.runs.with_columns(pl.col("train_seconds") + 9 * (pl.col("ranker") == "slow"))
    fronts = Findings(but(results, runs=runs), n_resamples=10).fronts
    assert fronts.columns == [
        *("dataset", "ranker", "mean", "train_seconds", "score_microseconds"),
        *("on_train_front", "on_score_front"),
    ]
    assert fronts["on_train_front"].to_list() == [True, True, True, False]
    # All score at the same speed: the best alone.
    assert fronts["on_score_front"].to_list() == [True, False, False, False]


def test_fronts_without_rankers():
    results = invent([Ranker("IdealRanker", is_bound=True)], baseline="none")
    fronts = Findings(results, n_resamples=10).fronts
    assert fronts.is_empty()
    assert "on_train_front" in fronts.columns
