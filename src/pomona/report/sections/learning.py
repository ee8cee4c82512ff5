"""How does quality grow while a ranker learns?"""

from __future__ import annotations

import json

import altair as alt
import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.encoding import Chart, Rows, panels, tips
from pomona.report.names import rankers_of
from pomona.report.section import Figure, Html, Parts, Section
from pomona.report.theme import DASHES, SLOTS

N_POINTS = 80
"""Of a learning curve: what a panel can show."""


_PARTS = {
    "valid": "validation queries",
    "train": "training queries",
    "test": "test queries",
    "train_valid_measure": "training queries, by the measure of validation",
}


class LearningSection(Section):
    """Learning curves on training and on validation queries."""

    name = "learning"
    title = "Learning"
    order = 60

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        chart = learning_curves(findings, dataset)
        yield Figure(
            "learning-curves",
            chart,
            "Mean over folds and seeds, with its interval, of the measure that each ranker was trained for.",
        )
        if chart is None:
            yield Html("<p>No ranker here learns in iterations.</p>")


def learning_curves(findings: Findings, dataset: str) -> Chart | None:
    """How quality grows while a ranker learns, on training and on validation queries, a panel a ranker."""
    curves = findings.learning.filter(dataset=dataset)
    learners = [ranker for ranker in rankers_of(findings, dataset) if ranker in set(curves["ranker"])]
    if not learners:
        return None
    rows: Rows = []
    # A single run has no interval: its band has no height.
    ends = [pl.col(end).fill_null(pl.col("mean")) for end in ("low", "high")]
    for _, curve in curves.group_by("ranker", "part", maintain_order=True):
        rows += _thinned(curve.select("ranker", "part", "iteration", "mean", *ends).to_dicts())
    legend = alt.Legend(
        title=None,
        orient="top",
        values=[part for part in _PARTS if part in set(curves["part"])],
        labelExpr=f"{json.dumps(_PARTS)}[datum.label]",
        symbolType="stroke",
        symbolOpacity=1,
    )
    # Training is grey: it takes the place of "other" among the colours.
    others = ["test", "train_valid_measure"]
    parts = alt.Scale(domain=["valid", *others, *SLOTS[3:-1], "train"], range="category")
    values = {"mean": ("mean", ".4f"), "low": ("from", ".4f"), "high": ("to", ".4f")}
    base = alt.Chart().encode(
        x=alt.X("iteration:Q", title="iteration", axis=alt.Axis(tickCount=3, format="~s")),
        color=alt.Color("part:N", scale=parts, legend=legend),
        tooltip=tips(ranker="ranker", part="part", iteration=("iteration", "d"), **values),
    )
    title, free = "its training measure", alt.Scale(zero=False)
    dashes = alt.Scale(domain=["valid", "train", *others], range=[*DASHES[:2], DASHES[0], DASHES[2]])
    layers = alt.layer(
        base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", title=title, scale=free), y2="high:Q"),
        base.mark_line(strokeWidth=1.8).encode(
            y=alt.Y("mean:Q", title=title, scale=free),
            strokeDash=alt.StrokeDash("part:N", scale=dashes, legend=None),
        ),
    )
    return panels(
        layers,
        rows,
        "ranker",
        learners,
        f"Learning curves on {dataset} of {', '.join(learners)}: the training measure by iteration on "
        f"{' and on '.join(_PARTS[part] for part in _PARTS if part in set(curves['part']))}, with the range "
        "over folds and seeds.",
        columns=4,
        is_apart=True,
    )


def _thinned(curve: Rows) -> Rows:
    """At most `N_POINTS` of a curve, evenly, with its first and last."""
    n = len(curve)
    if n <= N_POINTS:
        return curve
    return [curve[round(i * (n - 1) / (N_POINTS - 1))] for i in range(N_POINTS)]
