import polars as pl
import pytest

from experiments.invented_results import invent
from pomona.experiments.analysis.learning import learning_table

KEYS = ["dataset", "fold", "ranker", "seed", "part", "measure", "iteration", "value"]


def curves(*rows):
    full = [("one", fold, "MART", seed, "valid", "ap", i, value) for fold, seed, i, value in rows]
    return pl.DataFrame(full, schema=KEYS, orient="row")


def test_mean_and_spread_over_runs():
    table = learning_table(
        curves((1, 0, 1, 0.2), (1, 0, 2, 0.4), (2, 0, 1, 0.4), (2, 0, 2, 0.4)), alpha=0.05, seed=0
    )
    assert table["mean"].to_list() == pytest.approx([0.3, 0.4])
    assert table["low"].to_list() == pytest.approx([0.2, 0.4])
    assert table["high"].to_list() == pytest.approx([0.4, 0.4])


def test_a_run_that_stopped_keeps_its_last_value():
    table = learning_table(
        curves((1, 0, 1, 0.2), (2, 0, 1, 0.4), (2, 0, 2, 0.6), (2, 0, 3, 0.8)), alpha=0.05, seed=0
    )
    assert table["iteration"].to_list() == [1, 2, 3]
    assert table["mean"].to_list() == pytest.approx([0.3, (0.2 + 0.6) / 2, (0.2 + 0.8) / 2])


def test_sparse_iterations_hold_the_value_before():
    table = learning_table(curves((1, 0, 10, 0.2), (1, 0, 20, 0.4), (1, 1, 15, 0.6)), alpha=0.05, seed=0)
    assert table["iteration"].to_list() == [10, 15, 20]
    assert table["mean"].to_list() == pytest.approx([(0.2 + 0.6) / 2, (0.2 + 0.6) / 2, (0.4 + 0.6) / 2])


def test_one_run_has_no_spread():
    table = learning_table(curves((1, 0, 1, 0.2)), alpha=0.05, seed=0)
    assert table.row(0) == ("one", "MART", "valid", 1, 0.2, None, None)


def test_rankers_keep_their_order_and_no_curve_is_no_row():
    table = learning_table(invent().curves, alpha=0.05, seed=0)
    assert table["ranker"].unique(maintain_order=True).to_list() == ["LambdaMART", "MART"]
    assert table.filter(ranker="LambdaMART", part="train").height == 30
    assert learning_table(invent().curves.clear(), alpha=0.05, seed=0).is_empty()
