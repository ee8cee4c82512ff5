"""Is the later system better, by more than chance?"""

from __future__ import annotations

import altair as alt

from pomona.experiments.analysis.duel import Duel
from pomona.report.digits import p_value, signed
from pomona.report.encoding import Chart, Rows, color, data_of, names_down, sized, tips, zero_line
from pomona.report.names import measure_title, significance_rule
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, measured, number, rounded, text, verdict, with_interval

_ANSWER = """
{% for sentence in sentences %}
<p class="{{ 'answer' if loop.first else 'more-answer' }}">{{ sentence }}</p>
{% endfor %}
<p>{{ n }} queries, {{ empty }} of them without a relevant document{%
if left %}; {{ left }} judged queries that some run lacks are left out{% endif %}.</p>
"""
MOST_SENTENCES = 6


class DuelVerdictSection(Section):
    """The differences of all pairs by all measures, with their tests."""

    name = "duel-verdict"
    title = "The answer"
    order = 10
    report = "duel"

    def overall(self, findings: Duel) -> Parts:
        yield Html(
            _ANSWER,
            sentences=findings.verdicts[:MOST_SENTENCES],
            n=len(findings.queries),
            empty=findings.n_empty,
            left=findings.n_left_out,
        )
        n = len(findings.duels)
        yield Figure(
            "differences",
            intervals([{**row, "name": _name(row)} for row in findings.pairs.iter_rows(named=True)]),
            f"Mean differences with {1 - findings.alpha:.0%} intervals"
            f"{f' that hold for all {n} pairs at once' if n > 1 else ''}. Significant: "
            f"{significance_rule(findings.alpha)}.",
        )
        yield Numbers(mean_table(findings), "The means", is_open=True)
        yield Numbers(pair_tests(findings), "Every test", is_open=True)


def _name(row: dict[str, object]) -> str:
    return f"{measure_title(str(row['measure']))}: {row['a']} − {row['b']}"


def intervals(rows: Rows) -> Chart | None:
    """Differences with their intervals, a line each, by `name`; those that are significant are filled."""
    if not rows:
        return None
    names = [row["name"] for row in rows]
    drawn: Rows = [
        {
            **{key: row[key] for key in ("name", "difference", "low", "high")},
            "verdict": "significant" if row["is_significant"] else "within chance",
            "slot": "1" if row["is_significant"] else "other",
            "interval": f"{signed(row['low'])} to {signed(row['high'])}",
            "p": p_value(row["holm_p"]),
            "n": row["n_queries"],
        }
        for row in rows
    ]
    drawn = [{key: None if value != value else value for key, value in row.items()} for row in drawn]
    words = {"name": "of", "interval": "interval", "verdict": "verdict", "p": "p (Holm)", "n": "queries"}
    base = alt.Chart(data_of(drawn)).encode(
        y=names_down("name", names, 260, grid=True),
        color=color(),
        tooltip=tips(difference=("difference", "+.4f"), **words),
    )
    title = "difference (to the right: the first named is better)"
    x = alt.X("low:Q", title=title, axis=alt.Axis(tickCount=7, labelFlush=False))
    shapes = alt.Scale(domain=["significant", "within chance"], range=["circle", "stroke"])
    points = base.encode(x="difference:Q", shape=alt.Shape("verdict:N", scale=shapes, legend=None))
    chart = alt.layer(
        zero_line("x"),
        base.mark_rule(style="interval").encode(x=x, x2="high:Q"),
        points.transform_filter("datum.verdict == 'significant'").mark_point(filled=True, size=90, opacity=1),
        points.transform_filter("datum.verdict != 'significant'").mark_tick(thickness=2, size=12),
    )
    n_significant = sum(row["verdict"] == "significant" for row in drawn)
    return sized(
        chart,
        f"Differences with intervals: {n_significant} of {len(drawn)} are significant.",
        height=max(60, 24 * len(drawn)),
        note="blue with a dot: significant; grey with a tick: within chance",
    )


def mean_table(findings: Duel) -> Table:
    """Every system by every measure."""
    columns = [
        text("System", "system"),
        measured(),
        with_interval("Mean", "mean"),
    ]
    return make_table("means", "Means of the systems", columns, findings.means.to_dicts())


def pair_tests(findings: Duel) -> Table:
    """Every pair by every measure: difference, tests, wins."""
    columns = [
        text("System", "a"),
        text("minus", "b"),
        measured(),
        with_interval("Difference", "difference", signed),
        rounded("Effect d_z", "effect", 2, signed),
        *verdict(),
        number("Detectable", "detectable"),
    ]
    return make_table("tests", "Every pair of systems", columns, findings.pairs.to_dicts())
