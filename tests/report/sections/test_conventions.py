import polars as pl
import pytest

from pomona.report.sections.conventions import (
    ConventionsSection,
    change_table,
    convention_curves,
    convention_ranks,
    convention_table,
    trained_judged,
)
from report.drawn import panels_of, spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_convention_curves_have_a_panel_a_tool(findings):
    spec, (_, rows, _) = spec_of(convention_curves(findings, DATA))
    assert panels_of(rows, "convention") == ["definition", "letor4", "lightgbm"]
    assert len(rows) == 3 * 6 * 10
    assert spec["usermeta"]["panels"] == 3
    assert len(spec["spec"]["layer"]) == 3  # error bars, lines, points
    many, _ = spec_of(convention_curves(invented(9), DATA))
    assert len(many["spec"]["layer"]) == 2


def test_one_convention_needs_no_panels():
    single = invented(conventions=("definition",))
    assert convention_curves(single, DATA) is None
    assert convention_ranks(single, DATA) is None


def test_trained_and_judged_is_about_methods_with_variants(findings):
    spec, (_, rows, _) = spec_of(trained_judged(findings, DATA))
    assert spec["spec"]["layer"][0]["encoding"]["yError"]["field"] == "error"
    assert all(row["error"] > 0 for row in rows)
    assert {row["ranker"] for row in rows} == {"LambdaMART", "LambdaMART yahoo"}
    assert {row["trained"] for row in rows} == {"definition", "lightgbm"}
    assert panels_of(rows, "panel") == [
        f"lambdamart judged by {tool}" for tool in ("definition", "letor4", "lightgbm")
    ]
    assert trained_judged(invented(1), DATA) is None


def test_a_ranker_trained_for_nothing_is_no_variant(findings):
    unknown = findings.conventions.with_columns(
        trained_with=pl.when(pl.col("ranker") == "LambdaMART").then(None).otherwise(pl.col("trained_with"))
    )
    assert trained_judged(changed(findings, conventions=unknown), DATA) is None


def test_ranks_count_the_pairs_that_change_places(findings):
    spec, (rows, _, ends) = spec_of(convention_ranks(findings, DATA))
    pairs = set(findings.order_changes.select("better", "worse").iter_rows())
    assert f"{len(pairs)} pairs of rankers change their order" in spec["description"]
    assert len(rows) == 3 * 6
    assert {row["judged_with"] for row in ends} == {"lightgbm"}


def test_rankers_of_the_same_rank_share_a_label(findings):
    tied = findings.conventions.with_columns(
        rank=pl.when(pl.col("rank") == 2).then(1).otherwise(pl.col("rank"))
    )
    _, (_, _, ends) = spec_of(convention_ranks(changed(findings, conventions=tied), DATA))
    first = next(row for row in ends if row["rank"] == 1)
    names = tied.filter(judged_with="lightgbm", measure="ndcg@10", rank=1)["ranker"]
    assert first["names"] == ", ".join(sorted(names))


def test_a_ranker_without_rank_is_left_out(findings):
    partly = findings.conventions.with_columns(rank=pl.when(pl.col("ranker") != "MART").then(pl.col("rank")))
    _, (rows, _, _) = spec_of(convention_ranks(changed(findings, conventions=partly), DATA))
    assert "MART" not in {row["ranker"] for row in rows}


def test_conventions_show_mean_and_rank(findings):
    table = convention_table(findings, "mq2008")
    row = next(row for row in table.rows if row.cells[0].text == "LambdaMART yahoo")
    assert row.cells[1].text == "lightgbm"
    expected = findings.conventions.filter(ranker="LambdaMART yahoo", judged_with="letor4").row(0, named=True)
    at = [column.title for column in table.columns].index("letor4")
    assert row.cells[at].value == expected["mean"]
    assert row.cells[at + 1].value == expected["rank"]


def test_conventions_know_rankers_without_rank_or_aim(findings):
    unknown = findings.conventions.with_columns(
        trained_with=pl.lit(None, pl.String), rank=pl.lit(None, pl.Int64)
    )
    rows = convention_table(changed(findings, conventions=unknown), "mq2008").rows
    assert {(row.cells[1].text, row.cells[4].text) for row in rows} == {("–", "–")}


def test_order_changes_have_opposite_differences(findings):
    table = change_table(findings, "mq2008")
    assert table.rows
    for row in table.rows:
        assert row.cells[4].value > 0 > row.cells[6].value
        assert row.cells[4].text.startswith("+")


def test_it_says_that_nothing_changes_or_how_to_find_out(findings):
    calm = changed(findings, order_changes=findings.order_changes.clear())
    texts = [part.text for part in ConventionsSection().of_dataset(calm, DATA) if hasattr(part, "text")]
    assert texts == ["<p>No two rankers change their order between these conventions.</p>"]
    assert not any(hasattr(part, "text") for part in ConventionsSection().of_dataset(findings, DATA))
    (one,) = ConventionsSection().overall(invented(conventions=("letor4",)))
    assert "All numbers follow one convention, letor4." in one.text
