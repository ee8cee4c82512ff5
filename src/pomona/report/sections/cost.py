"""What do rankers cost, and which of them does nobody beat in both quality and cost?"""

from __future__ import annotations

import altair as alt
import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.digits import count, significant
from pomona.report.encoding import FRONT_HEIGHT, Chart, labelled_points, scale_of, sized, tips, with_slots
from pomona.report.names import close_of, measure_title, rankers_of
from pomona.report.section import Figure, Numbers, Parts, Section, Side
from pomona.report.table import Table, in_units, make_table, number, text, yes

_COSTS = {
    "train_seconds": ("on_train_front", "training time, seconds a run"),
    "score_microseconds": ("on_score_front", "scoring time, µs a document"),
}
_FRONT = "No ranker is both better and faster than those on the dashed line."


class CostSection(Section):
    """Quality against the time of training and of scoring, and all costs."""

    name = "cost"
    title = "Quality and cost"
    order = 50

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        train, score = (front_chart(findings, dataset, cost) for cost in _COSTS)
        yield Side(
            Figure("training-front", train, f"Mean training time of a run. {_FRONT}", "Training"),
            Figure("scoring-front", score, f"Scoring time of a document. {_FRONT}", "Scoring"),
        )
        yield Numbers(cost_table(findings, dataset), "The costs in numbers")


def front_chart(findings: Findings, dataset: str, cost: str) -> Chart | None:
    """Quality against a cost; the dashed line joins the rankers that none beats in both."""
    is_on, title = _COSTS[cost]
    close, note = close_of(findings, dataset)
    shown = findings.fronts.filter(
        pl.col(cost) > 0, pl.col("ranker").is_in(close), dataset=dataset
    ).to_dicts()
    if not shown:
        return None
    # Labels go to the best first, then to the baseline, then to the front.
    first = {findings.baseline: 1, rankers_of(findings, dataset)[0]: 0}
    shown.sort(key=lambda row: (first.get(row["ranker"], 2), not row[is_on], -row["mean"]))
    rows = with_slots(findings, shown)
    front = sorted((row for row in rows if row[is_on]), key=lambda row: float(row[cost]))
    measure = measure_title(findings.main)
    x = alt.X(
        f"{cost}:Q",
        title=title,
        scale=scale_of([row[cost] for row in rows], log=True),
        axis=alt.Axis(format="~g", labelOverlap=True),
    )
    y = alt.Y("mean:Q", title=measure, scale=scale_of([row["mean"] for row in rows]))
    tooltip = tips(ranker="ranker", mean=(measure, ".4f"), **{cost: (title, ".3~g")})
    best = ", ".join(row["ranker"] for row in front)
    return sized(
        labelled_points(rows, front, x, y, tooltip, "step-after"),
        f"{measure} against {title} on {dataset}. None is both better and faster than: {best}.",
        height=FRONT_HEIGHT,
        note=note,
    )


def cost_table(findings: Findings, dataset: str) -> Table:
    """What each ranker needs, and whether it is on a Pareto front."""
    fronts = {row["ranker"]: row for row in findings.fronts.filter(dataset=dataset).iter_rows(named=True)}
    costs = {row["ranker"]: row for row in findings.costs.filter(dataset=dataset).iter_rows(named=True)}
    rows = [
        {**fronts.get(ranker, {}), **costs.get(ranker, {}), "ranker": ranker}
        for ranker in rankers_of(findings, dataset)
    ]
    columns = [
        text("Ranker", "ranker"),
        number(measure_title(findings.main), "mean"),
        number("Train (s)", "train_seconds", significant),
        yes("on the training front", "on_train_front", no=""),
        number("Score (µs/doc)", "score_microseconds", significant),
        yes("on the scoring front", "on_score_front", no=""),
        number("Memory (MB)", in_units("peak_memory", 1e6), significant),
        number("Model (kB)", in_units("model_bytes", 1e3), significant),
        number("Best iteration", "best_iteration", significant),
        number("Runs done", "n_done", count),
        number("failed", "n_failed", count),
    ]
    return make_table("costs", f"Costs on {dataset}", columns, rows)
