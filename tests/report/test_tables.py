import polars as pl
import pytest

from pomona.report import tables
from pomona.report.table import to_csv
from report.invented import changed, invented


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_results_the_best_first_then_bounds_then_failures(findings):
    table = tables.results(findings, "mq2008")
    assert [column.title for column in table.columns] == [
        "Ranker", "NDCG@10", "AP", "NDCG@10 (letor4)", "AP (letor4)", "NDCG@10 (yahoo)", "AP (yahoo)",
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
    table = tables.results(findings, "mq2008")
    found = findings.table.row(
        by_predicate=(pl.col("ranker") == "MART") & (pl.col("measure") == "ap"), named=True
    )
    cell = next(row for row in table.rows if row.cells[0].text == "MART").cells[2]
    assert (cell.value, cell.low, cell.high, cell.mark) == (found["mean"], found["low"], found["high"], "")
    assert cell.text == f"{found['mean']:.4f}"
    costs = next(row for row in table.rows if row.cells[0].text == "LambdaMART").cells[-3:]
    assert [cell.text for cell in costs] == ["21.0", "1.40", "214"]


def test_only_the_best_of_a_column_is_bold_and_no_bound_is(findings):
    table = tables.results(findings, "mq2008")
    for column in range(1, 7):
        assert [row.cells[0].text for row in table.rows if row.cells[column].is_best] == ["LambdaMART"]


def test_a_ranker_that_missed_queries_is_never_the_best(findings):
    fewer = (
        pl.when(pl.col("ranker") == "LambdaMART").then(10).otherwise(pl.col("n_queries")).alias("n_queries")
    )
    costs = findings.costs.with_columns(
        n_failed=pl.when(pl.col("ranker") == "LambdaMART").then(3).otherwise(pl.col("n_failed")),
        reason=pl.lit("no memory"),
    )
    partly = changed(findings, table=findings.table.with_columns(fewer), costs=costs)
    rows = tables.results(partly, "mq2008").rows
    last = [row for row in rows if row.kind == ""][-1]
    assert last.cells[0].text == "LambdaMART"
    assert last.remark == "3 of 7 runs failed: no memory"
    assert not any(cell.is_best for cell in last.cells)
    assert sum(row.cells[1].is_best for row in rows) == 1


def test_a_measure_that_a_ranker_lacks_is_a_dash(findings):
    lacking = findings.table.filter(~((pl.col("ranker") == "MART") & (pl.col("measure") == "ap")))
    table = tables.results(changed(findings, table=lacking), "mq2008")
    assert next(row for row in table.rows if row.cells[0].text == "MART").cells[2].text == "–"


def test_cutoffs_have_a_row_for_every_judge(findings):
    table = tables.cutoffs(findings, "mq2008")
    assert [column.title for column in table.columns][2:] == [f"@{k}" for k in range(1, 11)]
    assert len(table.rows) == 6 * 3


def test_conventions_show_mean_and_rank(findings):
    table = tables.conventions(findings, "mq2008")
    row = next(row for row in table.rows if row.cells[0].text == "LambdaMART yahoo")
    assert row.cells[1].text == "yahoo"
    found = findings.conventions.filter(ranker="LambdaMART yahoo", judged_with="letor4").row(0, named=True)
    at = [column.title for column in table.columns].index("letor4")
    assert row.cells[at].value == found["mean"]
    assert row.cells[at + 1].value == found["rank"]


def test_conventions_know_rankers_without_rank_or_aim(findings):
    unknown = findings.conventions.with_columns(
        trained_with=pl.lit(None, pl.String), rank=pl.lit(None, pl.Int64)
    )
    rows = tables.conventions(changed(findings, conventions=unknown), "mq2008").rows
    assert {(row.cells[1].text, row.cells[4].text) for row in rows} == {("–", "–")}


def test_order_changes_have_opposite_differences(findings):
    table = tables.order_changes(findings, "mq2008")
    assert table.rows
    for row in table.rows:
        assert row.cells[4].value > 0 > row.cells[6].value
        assert row.cells[4].text.startswith("+")


def test_pairs_tell_every_test(findings):
    table = tables.pairs(findings, "mq2008")
    assert len(table.rows) == 6 * 15
    first = findings.pairs.row(0, named=True)
    told = {column.title: cell.value for column, cell in zip(table.columns, table.rows[0].cells, strict=True)}
    assert told["Difference"] == first["difference"]
    assert told["p (Holm)"] == first["holm_p"]
    assert (told["Wins"], told["Ties"], told["Losses"]) == (first["wins"], first["ties"], first["losses"])
    assert told["Detectable"] == first["detectable"]


def test_pairs_of_which_nothing_can_be_told(findings):
    unknown = findings.pairs.with_columns(
        pl.lit(None, pl.Float64).alias(name) for name in ("low", "high", "effect")
    )
    row = tables.pairs(changed(findings, pairs=unknown), "mq2008").rows[0]
    assert row.cells[3].interval == ""
    assert row.cells[4].text == "–"


def test_costs_say_who_is_on_a_front(findings):
    table = tables.costs(findings, "mq2008")
    titles = [column.title for column in table.columns]
    on = {row.cells[0].text for row in table.rows if row.cells[titles.index("on the training front")].text}
    assert on == set(findings.fronts.filter(on_train_front=True)["ranker"])
    assert [row.cells[titles.index("Runs done")].text for row in table.rows] == ["4"] * 6


def test_variance_and_winning(findings):
    assert len(tables.variance(findings, "mq2008").rows) == 36
    winning = tables.winning(findings)
    shares = [row.cells[3].value for row in winning.rows]
    assert shares == sorted(shares, reverse=True)
    assert {row.cells[4].text for row in winning.rows} == {"Pareto-optimal", "rank 2", ""}


def test_data_are_told_as_counts_and_numbers(findings):
    table = tables.data(findings)
    told = {column.title: cell.text for column, cell in zip(table.columns, table.rows[0].cells, strict=True)}
    assert told["documents"] == "4560"
    assert told["mean docs"] == "19.4"
    assert told["max label"] == "2"
    assert "digest" not in told


def test_tables_without_rows_are_left_out():
    single = invented(2, conventions=("definition",), failed=False)
    names = {table.name for _, table in tables.tables_of(single)}
    assert "order-changes" not in names
    assert {"results", "pairs", "winning", "datasets"} <= names


def test_every_table_of_every_dataset():
    several = invented(datasets=("a", "b"))
    found = [(dataset, table.name) for dataset, table in tables.tables_of(several)]
    assert len(found) == len(set(found))
    assert {dataset for dataset, _ in found} == {"a", "b", None}
    assert all("a" in to_csv(table) or dataset != "a" for dataset, table in tables.tables_of(several))
