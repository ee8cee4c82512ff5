"""Why is one document above another?"""

from __future__ import annotations

from functools import partial

import altair as alt
import polars as pl

from pomona.experiments.analysis.explain import ExplainedQuery
from pomona.report.digits import signed, significant
from pomona.report.encoding import Chart, Rows, data_of, names_down, sized, tips, zero_line
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text

MOST_FEATURES = 15
_ANSWER = """
<p class="answer">{{ answer }}</p>
<p>{{ method }}</p>
"""
_METHODS = {
    "path": "Shapley values (TreeSHAP, path-dependent): exact, and they add up to the score.",
    "interventional": "Shapley values (TreeSHAP, interventional): exact, and they add up to the score.",
    "linear": "Weights times features, from their means: exact, and they add up to the score.",
    "gradient": "Gradient times input: what the score does near each document; it need not add up.",
}


class ExplainPairSection(Section):
    """The features that put one document above the other."""

    name = "explain-pair"
    title = "Why is A above B?"
    order = 10
    report = "explain"

    def overall(self, findings: ExplainedQuery) -> Parts:
        yield Html(_ANSWER, answer=findings.answer, method=_METHODS[findings.method])
        yield Figure(
            "difference",
            difference_bars(findings),
            f"What each feature adds to {findings.a} beyond what it adds to {findings.b}, with its value in "
            f"both. To the right: for {findings.a}.",
        )
        yield Numbers(difference_table(findings), "Every feature")


def difference_bars(findings: ExplainedQuery) -> Chart | None:
    """The largest differences, and the sum of all others."""
    every = findings.difference.filter(pl.col("difference") != 0)
    rows: Rows = [
        {
            "name": f"{row['feature']}: {in_words(row['value_a'])} | {in_words(row['value_b'])}",
            **row,
            **{name: in_words(row[name], 6) for name in ("value_a", "value_b")},
            "side": "for" if row["difference"] > 0 else "against",
        }
        for row in every.head(MOST_FEATURES).to_dicts()
    ]
    rest = every.tail(max(0, len(every) - MOST_FEATURES))["difference"].sum()
    if not rows:
        return None
    if len(every) > MOST_FEATURES:
        name = f"{len(every) - MOST_FEATURES} other features"
        rows.append(
            {"name": name, "feature": name, "difference": rest, "side": "for" if rest > 0 else "against"}
        )
    base = alt.Chart(data_of(rows)).encode(
        y=names_down("name", [row["name"] for row in rows], 300),
        x=alt.X("difference:Q", title=f"adds to {findings.a}, minus to {findings.b}"),
        tooltip=tips(
            feature="feature",
            value_a=f"value in {findings.a}",
            value_b=f"value in {findings.b}",
            adds_to_a=(f"adds to {findings.a}", "+.4f"),
            adds_to_b=(f"adds to {findings.b}", "+.4f"),
            difference=("difference", "+.4f"),
        ),
    )
    chart = alt.layer(
        base.transform_filter("datum.side == 'for'").mark_bar(style="better"),
        base.transform_filter("datum.side == 'against'").mark_bar(style="worse"),
        zero_line("x"),
    )
    return sized(chart, findings.answer, height=max(80, 22 * len(rows)))


def in_words(value: float | str | None, digits: int = 4) -> str:
    """A feature's value, shortly; that of a category is its name."""
    if isinstance(value, str):
        return value
    return "undefined" if value is None or value != value else f"{value:.{digits}g}"


def difference_table(findings: ExplainedQuery) -> Table:
    """Every feature that adds to either."""
    some = findings.difference.filter((pl.col("adds_to_a") != 0) | (pl.col("adds_to_b") != 0))
    value = text if some["value_a"].dtype == pl.String else partial(number, form=significant)
    columns = [
        text("Feature", "feature"),
        value(f"Value in {findings.a}", "value_a"),
        value(f"Value in {findings.b}", "value_b"),
        number(f"Adds to {findings.a}", "adds_to_a", signed),
        number(f"Adds to {findings.b}", "adds_to_b", signed),
        number("Difference", "difference", signed),
        text("Carried it", lambda row: "yes" if row["feature"] in findings.carriers else ""),
    ]
    return make_table("difference", f"{findings.a} and {findings.b}", columns, some.to_dicts())
