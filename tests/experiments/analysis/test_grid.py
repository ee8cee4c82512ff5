import numpy as np
import pytest

from experiments.small_study import curves, done, grid, sizes, spec_with
from pomona.experiments.findings import find
from pomona.stats.norm import norm_performance


def test_rows_of_one_method_with_their_parameters():
    findings = grid()
    table = findings.grid
    assert table["group"].unique().to_list() == ["LambdaMART"]
    assert table["x"].to_list() == [0.1] * 3 + [0.3] * 3
    assert table["x_2"].to_list() == [2, 4, 8] * 2
    quality = {
        (r, m): mean for r, m, mean in findings.quality.select("ranker", "measure", "mean").iter_rows()
    }
    means = [[quality[ranker, m] for m in ("ndcg@5", "ap")] for ranker in table["ranker"]]
    np.testing.assert_allclose(table["norm"], norm_performance(means))
    np.testing.assert_allclose(
        findings.quality.filter(measure="ap")["norm_performance"], norm_performance(means)
    )


def test_the_best_and_the_worst_are_chosen_by_validation():
    findings = grid()
    by_valid = findings.grid.sort("valid", maintain_order=True)["ranker"]
    row = findings.extremes.filter(measure="ap").to_dicts()[0]
    assert (row["best"], row["worst"]) == (by_valid[-1], by_valid[0])
    quality = dict(findings.quality.filter(measure="ap").select("ranker", "mean").iter_rows())
    assert row["difference"] == pytest.approx(quality[row["best"]] - quality[row["worst"]])
    assert row["spread"] == pytest.approx(max(quality.values()) - min(quality.values()))


def test_slopes_are_those_of_least_squares():
    findings = curves()
    row = findings.slopes.filter(measure="ndcg@5").to_dicts()[0]
    table = findings.grid.join(findings.quality.filter(measure="ndcg@5"), on="ranker")
    expected = np.polyfit(table["x"], table["mean"], 1)[0]
    assert row["slope"] == pytest.approx(expected)
    assert row["low"] < row["slope"] < row["high"]
    assert grid().slopes.is_empty()  # two parameters have no one slope


def test_a_measure_counts_as_its_cutoff_and_may_be_no_number():
    each = {"measure": ["ndcg@2", "ndcg@5", "ap"]}
    row = {"ranker": "lambdamart", "n_trees": 2, "label": "L {measure}", "each": each}
    findings = find(done(spec_with((), row, {"ranker": "mart", "n_trees": 2})), n_resamples=50)
    assert findings.grid["x"].to_list() == [2, 5, None]
    assert findings.slopes.is_empty()
    assert not any("which is not among the measures" in text for text in findings.warnings)
    assert sizes().grid.is_empty()
