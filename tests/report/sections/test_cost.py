import polars as pl
import pytest

from pomona.report.sections.cost import cost_table, front_chart
from report.drawn import spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


@pytest.mark.parametrize(
    ("cost", "is_on"),
    [("train_seconds", "on_train_front"), ("score_microseconds", "on_score_front")],
)
def test_a_front_joins_its_rankers_by_cost(findings, cost, is_on):
    _, (front, points, *_) = spec_of(front_chart(findings, DATA, cost))
    assert [row[cost] for row in front] == sorted(row[cost] for row in front)
    assert {row["ranker"] for row in front} == set(findings.fronts.filter(**{is_on: True})["ranker"])
    assert len(points) == 6
    nothing = findings.fronts.with_columns(pl.lit(None, pl.Float64).alias(cost))
    assert front_chart(changed(findings, fronts=nothing), DATA, cost) is None


def test_costs_say_who_is_on_a_front(findings):
    table = cost_table(findings, "mq2008")
    titles = [column.title for column in table.columns]
    on = {row.cells[0].text for row in table.rows if row.cells[titles.index("on the training front")].text}
    assert on == set(findings.fronts.filter(on_train_front=True)["ranker"])
    assert [row.cells[titles.index("Runs done")].text for row in table.rows] == ["4"] * 6
