import polars as pl
import pytest

from pomona.report.sections.pairs import pair_table, significance_matrix
from report.drawn import spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def matrix_cell(rows, row, column):
    return next(cell for cell in rows if (cell["row"], cell["column"]) == (row, column))


def test_the_matrix_is_the_same_seen_from_both_sides(findings):
    pairs = findings.pairs.with_columns(
        difference=pl.lit(0.02),
        low=pl.lit(-0.01),
        high=pl.lit(0.05),
        is_significant=pl.lit(True),
    )
    spec, (cells, *_) = spec_of(significance_matrix(changed(findings, pairs=pairs), DATA, "ndcg@10"))
    first = findings.pairs.row(0, named=True)
    one = matrix_cell(cells, first["a"], first["b"])
    other = matrix_cell(cells, first["b"], first["a"])
    assert (one["verdict"], one["points"], one["interval"]) == (
        "significantly better",
        "+2.0",
        "−0.0100 to +0.0500",
    )
    assert (other["verdict"], other["points"], other["interval"]) == (
        "significantly worse",
        "−2.0",
        "−0.0500 to +0.0100",
    )
    assert len(cells) == 6 * 5
    assert "15 of 15 pairs differ significantly" in spec["description"]


def test_the_matrix_without_intervals_or_difference(findings):
    pairs = findings.pairs.with_columns(
        difference=0.0, low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64)
    )
    pairs = pairs.with_columns(is_significant=False)
    _, (cells, *_) = spec_of(significance_matrix(changed(findings, pairs=pairs), DATA, "ndcg@10"))
    assert {(cell["verdict"], cell["points"], cell["interval"]) for cell in cells} == {
        ("the same", "0.0", "– to –")
    }


def test_a_large_matrix_has_colors_only():
    _, layers = spec_of(significance_matrix(invented(20), DATA, "ndcg@10"))
    assert len(layers) == 1
    assert len(layers[0]) == 20 * 19
    assert significance_matrix(invented(1), DATA, "ndcg@10") is None


def test_pairs_tell_every_test(findings):
    table = pair_table(findings, "mq2008")
    assert len(table.rows) == 6 * 15
    first = findings.pairs.row(0, named=True)
    printed = {
        column.title: cell.value for column, cell in zip(table.columns, table.rows[0].cells, strict=True)
    }
    assert printed["Difference"] == first["difference"]
    assert printed["p (Holm)"] == first["holm_p"]
    assert (printed["Wins"], printed["Ties"], printed["Losses"]) == (
        first["wins"],
        first["ties"],
        first["losses"],
    )
    assert printed["Significant"] == ("yes" if first["is_significant"] else "no")
    assert printed["Detectable"] == first["detectable"]


def test_pairs_of_which_nothing_can_be_told(findings):
    unknown = findings.pairs.with_columns(
        pl.lit(None, pl.Float64).alias(name) for name in ("low", "high", "effect")
    )
    row = pair_table(changed(findings, pairs=unknown), "mq2008").rows[0]
    assert row.cells[3].interval == ""
    assert row.cells[4].text == "–"


def test_matrix_marks_and_table_say_the_same(findings):
    """Whatever is significant is so everywhere on the page, and nothing else is."""
    marks = {(row["measure"], row["ranker"]): row["mark"] for row in findings.quality.iter_rows(named=True)}
    assert {"▲", "▼", ""} == set(marks.values())
    for measure in findings.measures:
        _, (cells, *_) = spec_of(significance_matrix(findings, DATA, measure))
        for cell in cells:
            if cell["column"] == findings.baseline:
                mark = {"significantly better": "▲", "significantly worse": "▼"}.get(cell["verdict"], "")
                assert marks[measure, cell["row"]] == mark
    table = pair_table(findings, DATA)
    at = [column.title for column in table.columns].index("Significant")
    n_pairs = findings.pairs.filter(pl.col("is_significant")).height
    assert sum(row.cells[at].value == "yes" for row in table.rows) == n_pairs
