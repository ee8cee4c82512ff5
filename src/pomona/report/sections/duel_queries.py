"""On which queries does the later system win, and on which does it lose?"""

from __future__ import annotations

import altair as alt

from pomona.experiments.analysis.duel import Duel
from pomona.experiments.analysis.query_slice import LENGTH, RELEVANT
from pomona.report.digits import count, signed
from pomona.report.encoding import Chart, data_of, sized, zero_line
from pomona.report.names import measure_title
from pomona.report.section import Figure, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text

MOST_QUERIES = 10


class DuelQueriesSection(Section):
    """All differences in their order; the queries at both ends."""

    name = "duel-queries"
    title = "Query by query"
    order = 20
    report = "duel"

    def of_dataset(self, findings: Duel, dataset: str) -> Parts:
        a, b = findings.duels[dataset]
        differences = findings.differences(a, b)["difference"].to_list()
        yield Figure(
            "query-differences",
            sorted_differences(differences, a, b, findings.main),
            f"{measure_title(findings.main)} of {a} minus that of {b}, every query, the worst first.",
        )
        yield Numbers(query_table(findings, a, b, is_best=False), f"Where {a} loses most", is_open=True)
        yield Numbers(query_table(findings, a, b, is_best=True), f"Where {a} gains most", is_open=True)


def sorted_differences(
    differences: list[float], a: str, b: str, measure: str, *, where: str = "", has_note: bool = True
) -> Chart:
    """The difference of every query, which are sorted by it."""
    rows = [{"query": i, "difference": d} for i, d in enumerate(differences)]
    rows.append({"query": len(rows), "difference": differences[-1]})  # where the last step ends
    x = alt.X(
        "query:Q", title="queries, the worst first", scale=alt.Scale(nice=False), axis=alt.Axis(format="d")
    )
    y = alt.Y("part:Q", title=f"difference in {measure_title(measure)}")
    base = alt.Chart(data_of(rows)).encode(x=x, y=y)
    above = base.transform_calculate(part="max(0, datum.difference)")
    below = base.transform_calculate(part="min(0, datum.difference)")
    chart = alt.layer(
        above.mark_area(style="better", interpolate="step-after"),
        below.mark_area(style="worse", interpolate="step-after"),
        zero_line("y"),
    )
    better, worse = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    counts = f"{a} is better on {better} queries, {b} on {worse}, of {len(differences)}"
    return sized(
        chart,
        f"Per-query difference in {measure_title(measure)}{where}, {a} minus {b}, sorted: {counts}.",
        height=200,
        note=counts if has_note else "",
    )


def query_table(findings: Duel, a: str, b: str, *, is_best: bool) -> Table:
    """The queries with the largest differences to one side."""
    rows = [
        row
        for row in findings.differences(a, b).to_dicts()
        if (row["difference"] > 0 if is_best else row["difference"] < 0)
    ]
    chosen = rows[::-1][:MOST_QUERIES] if is_best else rows[:MOST_QUERIES]
    columns = [
        text("Query", "query"),
        number("Difference", "difference", signed),
        number(b, "b"),
        number(a, "a"),
        number("Documents", LENGTH, count),
        number("Relevant", RELEVANT, count),
    ]
    title = f"Queries where {a} {'gains' if is_best else 'loses'} most ({measure_title(findings.main)})"
    return make_table("best-queries" if is_best else "worst-queries", title, columns, chosen)
