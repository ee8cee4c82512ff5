import polars as pl
import pytest

from experiments.invented_results import but, invent
from experiments.small_study import searched
from pomona.experiments.findings import find
from pomona.experiments.results import _IMPORTANCE_COLUMNS


def test_means_over_models_with_what_is_absent_as_none():
    rows = [
        ("one", 1, "MART", 0, "a", 0.75),
        ("one", 1, "MART", 0, "b", 0.25),
        ("one", 2, "MART", 0, "a", 1.0),
    ]
    results = but(invent(), importance=pl.DataFrame(rows, schema=_IMPORTANCE_COLUMNS, orient="row"))
    found = find(results, n_resamples=50).importance
    expected = [("one", "MART", "a", 2, 0.875, 0.75, 1.0), ("one", "MART", "b", 2, 0.125, 0.0, 0.25)]
    assert found.rows() == expected


def test_of_a_real_comparison():
    findings = searched()
    found = findings.importance
    assert set(found["ranker"]) == {"MART", "LinearRegression", "AdaRank(n_rounds=5)"}
    totals = found.group_by("ranker").agg(pl.col("share").sum())["share"].to_list()
    assert totals == pytest.approx([1, 1, 1], abs=0.01)
    assert (found["low"] <= found["share"]).all()
    assert (found["share"] <= found["high"]).all()
