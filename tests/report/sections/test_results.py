import polars as pl
import pytest

from pomona.report.sections.cost import front_chart
from pomona.report.sections.curves import cutoff_curves
from pomona.report.sections.results import intervals, results_table
from report.drawn import spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_intervals_are_what_was_found(findings):
    chart = intervals(findings, DATA)
    spec, (baseline, rows, _) = spec_of(chart)
    expected = findings.quality.filter(ranker="MART", measure="ndcg@10").row(0, named=True)
    row = next(row for row in rows if row["ranker"] == "MART")
    assert (row["low"], row["mean"], row["high"]) == pytest.approx(
        (expected["low"], expected["mean"], expected["high"]), rel=1e-5
    )
    assert baseline == [{"mean": row["mean"]}]
    assert "Highest: LambdaMART" in spec["description"]
    assert "Ideal" not in {row["ranker"] for row in rows}


def test_what_is_left_out_of_a_plot_is_said(findings):
    below = 0.3 * (pl.col("ranker") == "Linear regression")
    far = changed(findings, quality=findings.quality.with_columns(pl.col("mean", "low", "high") - below))
    for chart in (
        intervals(far, DATA),
        cutoff_curves(far, DATA),
        front_chart(far, DATA, "train_seconds"),
        front_chart(far, DATA, "score_microseconds"),
    ):
        spec, layers = spec_of(chart)
        assert spec["title"]["text"].startswith("not shown, far below: Linear regression (0.1")
        assert "Not shown, far below: Linear regression" in spec["description"]
        assert all(row.get("ranker") != "Linear regression" for rows in layers for row in rows)


def test_intervals_nobody_could_tell(findings):
    unknown = findings.quality.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    spec, _ = spec_of(intervals(changed(findings, quality=unknown), DATA))
    assert "(– to –)" in spec["description"]


def test_results_the_best_first_then_bounds_then_failures(findings):
    table = results_table(findings, "mq2008")
    assert [column.title for column in table.columns] == [
        "Ranker", "NDCG@10", "AP", "NDCG@10 (letor4)", "AP (letor4)", "NDCG@10 (lightgbm)", "AP (lightgbm)",
        "AVG_Norm", "Train (s)", "Score (µs/doc)", "Memory (MB)",
    ]  # fmt: skip
    names = [row.cells[0].text for row in table.rows]
    assert names[6:] == ["Ideal", "Worst", "SVMmap"]
    means = [row.cells[1].value for row in table.rows[:6]]
    assert means == sorted(means, reverse=True)
    assert [row.kind for row in table.rows] == [""] * 6 + ["bound", "bound", "failed"]
    assert table.rows[-1].remark == "failed: over the time limit of 600 s"
    assert [row.remark for row in table.rows if row.cells[0].text == "MART"] == ["baseline"]


def test_results_show_what_was_found(findings):
    table = results_table(findings, "mq2008")
    expected = findings.quality.row(
        by_predicate=(pl.col("ranker") == "MART") & (pl.col("measure") == "ap"), named=True
    )
    cell = next(row for row in table.rows if row.cells[0].text == "MART").cells[2]
    assert (cell.value, cell.low, cell.high, cell.mark) == (
        expected["mean"],
        expected["low"],
        expected["high"],
        "",
    )
    assert cell.text == f"{expected['mean']:.4f}"
    costs = next(row for row in table.rows if row.cells[0].text == "LambdaMART").cells[-3:]
    assert [cell.text for cell in costs] == ["21.0", "1.40", "214"]


def test_only_the_best_of_a_column_is_bold_and_no_bound_is(findings):
    table = results_table(findings, "mq2008")
    for column in range(1, 7):
        assert [row.cells[0].text for row in table.rows if row.cells[column].is_best] == ["LambdaMART"]


def test_a_ranker_that_missed_queries_is_never_the_best(findings):
    others = pl.col("ranker") != "LambdaMART"
    costs = findings.costs.with_columns(
        n_failed=pl.when(pl.col("ranker") == "LambdaMART").then(3).otherwise(pl.col("n_failed")),
        reason=pl.lit("no memory"),
    )
    partly = changed(findings, quality=findings.quality.with_columns(is_comparable=others), costs=costs)
    rows = results_table(partly, "mq2008").rows
    last = [row for row in rows if row.kind == ""][-1]
    assert last.cells[0].text == "LambdaMART"
    assert last.remark == "3 of 7 runs failed: no memory"
    assert not any(cell.is_best for cell in last.cells)
    assert sum(row.cells[1].is_best for row in rows) == 1


def test_a_measure_that_a_ranker_lacks_is_a_dash(findings):
    lacking = findings.quality.filter(~((pl.col("ranker") == "MART") & (pl.col("measure") == "ap")))
    table = results_table(changed(findings, quality=lacking), "mq2008")
    assert next(row for row in table.rows if row.cells[0].text == "MART").cells[2].text == "–"
