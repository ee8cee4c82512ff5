"""How many queries must be judged?"""

from __future__ import annotations

import altair as alt

from pomona.experiments.analysis.power import FEW, PowerAnalysis
from pomona.report.digits import count, fixed
from pomona.report.encoding import Chart, Rows, color, data_of, shape, sized, tips
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, rounded, text

_ANSWER = """
<p class="answer">{{ found.answer }}</p>
<p>The pilot: {{ found.n_queries }} queries, mean difference {{ observed }}.{% if is_small %}
Fewer than {{ few }} queries tell little about the spread of all: take the numbers as a rough guide.{%
endif %}</p>
"""


class PowerSection(Section):
    """Power by the number of queries."""

    name = "power"
    title = "How many queries?"
    order = 10
    report = "power"

    def overall(self, findings: PowerAnalysis) -> Parts:
        yield Html(
            _ANSWER,
            found=findings,
            observed=fixed(findings.observed),
            is_small=findings.n_queries < FEW,
            few=FEW,
        )
        yield Figure(
            "power",
            power_curve(findings),
            f"How likely so many queries show a difference of {fixed(abs(findings.difference))} (paired "
            f"t-test at {findings.alpha:g}): by the formula, and by queries drawn from the "
            "pilot. Dashed: the power that is wanted; upright: the pilot.",
        )
        yield Numbers(power_table(findings), "The numbers", is_open=True)


def power_curve(findings: PowerAnalysis) -> Chart:
    """Power by the number of queries, by formula (a line) and simulation (points)."""
    rows: Rows = []
    for row in findings.curve.to_dicts():
        rows.append({"n": row["n_queries"], "power": row["power"], "slot": "1", "by": "formula"})
        if row["simulated"] is not None:
            rows.append({"n": row["n_queries"], "power": row["simulated"], "slot": "2", "by": "simulation"})
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("n:Q", title="queries", scale=alt.Scale(zero=False)),
        y=alt.Y("power:Q", title="power", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
        color=color(),
        tooltip=tips(by="by", n=("queries", "d"), power=("power", ".1%")),
    )
    chart = alt.layer(
        alt.Chart(data_of([{"power": findings.power}])).mark_rule(style="front").encode(y="power:Q"),
        alt.Chart(data_of([{"n": findings.n_queries}])).mark_rule(style="zero").encode(x="n:Q"),
        base.transform_filter("datum.by == 'formula'").mark_line(interpolate="monotone"),
        base.transform_filter("datum.by == 'simulation'")
        .mark_point(filled=True, size=60, opacity=1)
        .encode(shape=shape()),
    )
    return sized(
        chart, findings.answer, height=260, note="line: by the formula; squares: drawn from the pilot"
    )


def power_table(findings: PowerAnalysis) -> Table:
    """A row a number of queries."""
    columns = [
        text("Queries", lambda row: count(row["n_queries"])),
        rounded("Power", "power", 3),
        rounded("Power, simulated", "simulated", 3),
        number("Detectable difference", "detectable"),
    ]
    return make_table("power", "Power by the number of queries", columns, findings.curve.to_dicts())
