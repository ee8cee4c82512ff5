"""How does quality grow while a ranker learns?"""

from __future__ import annotations

import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.curve import Axis
from pomona.report.curve import curves as drawn
from pomona.report.encoding import Chart, Rows, thinned
from pomona.report.names import rankers_of
from pomona.report.section import Figure, Html, Parts, Section

N_POINTS = 80
"""Of a learning curve: what a panel can show."""


_PARTS = {
    "valid": "validation queries",
    "train": "training queries",
    "test": "test queries",
    "train_valid_measure": "training, validation’s measure",
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
    parts = [part for part in _PARTS if part in set(curves["part"])]
    rows: Rows = []
    # A single run has no interval: its band has no height.
    ends = [pl.col(end).fill_null(pl.col("mean")) for end in ("low", "high")]
    for (_, part), curve in curves.group_by("ranker", "part", maintain_order=True):
        named = curve.select("ranker", "iteration", "mean", *ends, series=pl.lit(_PARTS[str(part)]))
        rows += thinned(named.to_dicts(), N_POINTS)
    return drawn(
        rows,
        Axis("iteration", "iteration", "~s", is_free=True),
        [_PARTS[part] for part in parts],
        ("its training measure", ".4f"),
        f"Learning curves on {dataset} of {', '.join(learners)}: the training measure by iteration on "
        f"{' and on '.join(_PARTS[part] for part in parts)}, with the range over folds and seeds.",
        by="ranker",
        panel_order=learners,
        columns=4,
        has_points=False,
        about={"ranker": "ranker"},
    )
