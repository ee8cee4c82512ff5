"""What is each list worth by each measure?"""

from __future__ import annotations

import altair as alt

from pomona.experiments.analysis.measure_values import MeasureComparison
from pomona.report.encoding import Chart, data_of, series_of, sized, tips
from pomona.report.names import measure_title
from pomona.report.section import Figure, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text

_MOST_CURVES, _MOST_POINTS, _MOST_ROWS = 6, 60, 300


class MeasureValuesSection(Section):
    """Values of lists, list by list (Modrý 2014, Tables 3.2, 3.3 and 3.5, Figure 3.3)."""

    name = "measure-values"
    title = "Values"
    order = 10
    report = "measures"

    def overall(self, findings: MeasureComparison) -> Parts:
        yield Figure(
            "values",
            value_curves(findings),
            "The value of every list, lists in the order in which they were given. Where one line rises and "
            "another falls, two measures disagree about which of two neighbours is better.",
        )
        yield Numbers(value_table(findings), "The values", is_open=len(findings.values) <= _MOST_POINTS)


def value_curves(findings: MeasureComparison) -> Chart | None:
    """One line a measure over the numbers of the lists; none where their order means nothing."""
    if not findings.is_ordered:
        return None
    names = {one: measure_title(one) for one in findings.measures[:_MOST_CURVES]}
    rows = [
        {"number": number, "list": row["list"], "measure": title, "value": row[one]}
        for number, row in enumerate(findings.values.iter_rows(named=True), 1)
        for one, title in names.items()
    ]
    n_lists, titles = len(findings.values), list(names.values())
    look = series_of("measure", titles, alt.Legend(title=None, orient="top", labelLimit=200))
    highest = max(1.0, *(row["value"] for row in rows))
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X(
            "number:Q",
            title="number of the list",
            scale=alt.Scale(domain=[1, n_lists], nice=False),
            axis=alt.Axis(format="d", tickMinStep=1, tickCount=min(n_lists, 24)),
        ),
        y=alt.Y("value:Q", title="value", scale=alt.Scale(domain=[0, highest])),
        color=look.color,
        tooltip=tips(number=("number", "d"), list="list", measure="measure", value=("value", ".5f")),
    )
    layers = [base.mark_line(strokeWidth=2 if n_lists <= _MOST_POINTS else 1)]
    if n_lists <= _MOST_POINTS:
        layers.append(base.mark_point(filled=True, size=44, opacity=1).encode(shape=look.shape))
    left_out = len(findings.measures) - len(names)
    return sized(
        alt.layer(*layers),
        f"Values of {n_lists} lists by {', '.join(titles)}.",
        height=320,
        note=f"{left_out} more measures are in the table" if left_out else "",
    )


def value_table(findings: MeasureComparison) -> Table:
    """Every list with its value by every measure; of very many, the first."""
    columns = [
        text("List", "list"),
        number("Number", "number", str),
        *(number(measure_title(one), one, lambda value: f"{value:.5f}") for one in findings.measures),
    ]
    rows = findings.values.head(_MOST_ROWS).with_row_index("number", 1).to_dicts()
    n_lists = len(findings.values)
    which = "" if n_lists == len(rows) else f"first {len(rows)} of {n_lists} "
    return make_table("values", f"Values of the {which}lists", columns, rows)
