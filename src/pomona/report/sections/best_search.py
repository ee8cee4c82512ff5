"""What was tried, how soon did it pay, and what does quality cost?"""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from pomona.experiments.analysis.best import BestFindings
from pomona.report.digits import count, significant
from pomona.report.encoding import FRONT_HEIGHT, Chart, Rows, labelled_points, scale_of, sized, tips
from pomona.report.names import measure_title
from pomona.report.section import Figure, Html, Numbers, Parts, Section, Side
from pomona.report.table import Table, make_table, number, text, yes
from pomona.report.theme import slots_of

_INTRODUCTION = """
<p>Every recipe begins with one fold (of large data, with a part of the queries and few trees or epochs). The
best third goes on to all folds. After the menu, recipes are changes of the best ones. Points are recipes that
were judged by all folds{% if is_partial %} of their rung{% endif %}; none of them is the combination.</p>
"""
_WORST_SHARE = 0.5  # of the spread of values, below which points are left out of the charts


class BestSearchSection(Section):
    """Quality against time spent, quality against latency, and every trial."""

    name = "best-search"
    title = "What was tried"
    order = 20
    report = "best"

    def overall(self, findings: BestFindings) -> Parts:
        yield Html(_INTRODUCTION, is_partial=findings.conclusion.is_partial)
        time_caption = "When each recipe had been judged. The dashed line is the best so far."
        front_caption = "No recipe is both better and faster to score than those on the dashed line."
        yield Side(
            Figure("best-time", time_chart(findings), time_caption, "Quality against time spent"),
            Figure("best-latency", latency_chart(findings), front_caption, "Quality against latency"),
        )
        title = "Every recipe (values of one fold and of all folds are of different queries)"
        yield Numbers(trial_table(findings), title, is_open=findings.trials.height <= 12)


def time_chart(findings: BestFindings) -> Chart | None:
    """The value of each recipe when it was done, and the best so far."""
    rows = _rows(findings, "at", "is_better")
    if not rows:
        return None
    x = alt.X("at:Q", title="seconds of search", scale=scale_of([0.0, *(row["at"] for row in rows)]))
    best = max(row["value"] for row in rows)
    description = f"{measure_title(findings.measure)} against seconds of search; the best is {best:.4f}."
    return _chart(findings, rows, "is_better", x, description, at=("seconds of search", ".0f"))


def latency_chart(findings: BestFindings) -> Chart | None:
    """The value of each recipe against what scoring costs, and its Pareto front."""
    rows = [row for row in _rows(findings, "microseconds", "is_on_front") if row["microseconds"] > 0]
    if not rows:
        return None
    title = "scoring time, µs a document"
    x = alt.X(
        "microseconds:Q",
        title=title,
        scale=scale_of([row["microseconds"] for row in rows], log=True),
        axis=alt.Axis(format="~g", labelOverlap=True, labelSeparation=6),
    )
    front = ", ".join(row["recipe"] for row in rows if row["is_on_front"])
    description = f"{measure_title(findings.measure)} against {title}. On the front: {front}."
    return _chart(findings, rows, "is_on_front", x, description, microseconds=(title, ".3~g"))


def _rows(findings: BestFindings, x: str, front: str) -> Rows:
    """The recipes, those of the line first: they are labelled, the others only where they are few."""
    progress = findings.progress
    if progress.is_empty():
        return []
    values = progress["value"]
    best, middle = float(values.max()), float(values.median())  # type: ignore[arg-type]
    lowest = middle - max(best - middle, 1e-6) / _WORST_SHARE
    shown = progress.filter((pl.col("value") >= lowest) | pl.col(front)).sort(x)
    methods = progress.sort("value", descending=True)["ranker"].unique(maintain_order=True).to_list()
    slots = slots_of(methods, methods[0])
    rows = [{**row, "slot": slots[row["ranker"]], "label": _label(row)} for row in shown.to_dicts()]
    return [
        {**row, "label": row["label"] if row[front] else "", "is_small": True}
        for row in sorted(rows, key=lambda row: (not row[front], -row["value"]))
    ]


def _label(row: dict[str, Any]) -> str:
    """A recipe in few letters: its method, and its first parameters' values."""
    name, _, parameters = str(row["recipe"]).removesuffix(")").partition("(")
    values = [part.partition("=")[2] for part in parameters.split(", ") if "=" in part]
    return " ".join([name, *values[:2]])[:28]


def _chart(
    findings: BestFindings, rows: Rows, front: str, x: alt.X, description: str, **tip: tuple[str, str]
) -> Chart:
    measure = measure_title(findings.measure)
    y = alt.Y("value:Q", title=measure, scale=scale_of([row["value"] for row in rows]))
    line = sorted((row for row in rows if row[front]), key=lambda row: float(row[next(iter(tip))]))
    groups = {row["slot"]: "others" if row["slot"] == "other" else row["ranker"] for row in rows}
    tooltip = tips(recipe="recipe", value=(measure, ".4f"), origin="origin", **tip)
    points = labelled_points(rows, line, x, y, tooltip, "step-after", groups=groups)
    return sized(points, description, height=FRONT_HEIGHT)


def trial_table(findings: BestFindings) -> Table:
    """Every recipe: how far it came, what it is worth, and what it cost."""
    columns = [
        text("Recipe", "recipe"),
        number(measure_title(findings.measure), "value"),
        number("Folds", "n_folds", count),
        number("Weight", "weight", lambda weight: f"{weight:.3f}" if weight else ""),
        number("Score (µs/doc)", "microseconds", significant),
        yes("on the front", "is_on_front", no=""),
        number("All its fits (s)", "seconds", significant),
        number("Done at (s)", "at", significant),
        text("Out because", "reason"),
    ]
    return make_table("trials", "Everything that was tried", columns, findings.trials.to_dicts())
