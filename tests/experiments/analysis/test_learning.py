import polars as pl
import pytest

from experiments.invented_results import but, invent
from pomona.experiments.findings import Findings

KEYS = ["dataset", "fold", "ranker", "seed", "part", "measure", "iteration", "value"]


def learned(*rows):
    """The table of curves of these folds, seeds, iterations and values."""
    full = [("one", fold, "MART", seed, "valid", "ap", i, value) for fold, seed, i, value in rows]
    return Findings(but(invent(), curves=pl.DataFrame(full, schema=KEYS, orient="row"))).learning


def test_mean_and_spread_over_runs():
    table = learned((1, 0, 1, 0.2), (1, 0, 2, 0.4), (2, 0, 1, 0.4), (2, 0, 2, 0.4))
    assert table["mean"].to_list() == pytest.approx([0.3, 0.4])
    assert table["low"].to_list() == pytest.approx([0.2, 0.4])
    assert table["high"].to_list() == pytest.approx([0.4, 0.4])


def test_a_run_that_stopped_keeps_its_last_value():
    table = learned((1, 0, 1, 0.2), (2, 0, 1, 0.4), (2, 0, 2, 0.6), (2, 0, 3, 0.8))
    assert table["iteration"].to_list() == [1, 2, 3]
    assert table["mean"].to_list() == pytest.approx([0.3, (0.2 + 0.6) / 2, (0.2 + 0.8) / 2])


def test_sparse_iterations_hold_the_value_before():
    table = learned((1, 0, 10, 0.2), (1, 0, 20, 0.4), (1, 1, 15, 0.6))
    assert table["iteration"].to_list() == [10, 15, 20]
    assert table["mean"].to_list() == pytest.approx([(0.2 + 0.6) / 2, (0.2 + 0.6) / 2, (0.4 + 0.6) / 2])


def test_one_run_has_no_spread():
    table = learned((1, 0, 1, 0.2))
    assert table.row(0) == ("one", "MART", "valid", 1, 0.2, None, None)


def test_rankers_keep_their_order_and_no_curve_is_no_row():
    table = Findings(invent()).learning
    assert table["ranker"].unique(maintain_order=True).to_list() == ["LambdaMART", "MART"]
    assert table.filter(ranker="LambdaMART", part="train").height == 30
    assert Findings(but(invent(), curves=invent().curves.clear())).learning.is_empty()
