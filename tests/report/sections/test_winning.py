import polars as pl
import pytest

from pomona.report.sections.winning import WinningSection, winning_numbers, winning_table
from report.drawn import spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_winning_numbers_label_the_front_first(findings):
    second = pl.col("ranker") == "LambdaMART yahoo"
    findings = changed(findings, winning=findings.winning.with_columns(is_rank2=second))
    _, (front, points, _, labelled, *_) = spec_of(winning_numbers(findings))
    assert {row["ranker"] for row in front} == set(findings.winning.filter(is_pareto=True)["ranker"])
    assert {row["front"] for row in points} == {"Pareto-optimal", "rank 2", "neither"}
    assert {row["ranker"] for row in front} <= {row["ranker"] for row in labelled}
    unknown = findings.winning.with_columns(normalized=pl.lit(None, pl.Float64))
    assert winning_numbers(changed(findings, winning=unknown)) is None
    assert list(WinningSection().overall(changed(findings, winning=unknown))) == []


def test_the_table_has_the_best_first(findings):
    second = pl.col("ranker") == "LambdaMART yahoo"
    winning = winning_table(changed(findings, winning=findings.winning.with_columns(is_rank2=second)))
    shares = [row.cells[3].value for row in winning.rows]
    assert shares == sorted(shares, reverse=True)
    assert {row.cells[4].text for row in winning.rows} == {"Pareto-optimal", "rank 2", ""}
