"""How good is every ranker by every measure, and who differs from the baseline?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.digits import MISSING, fixed, significant
from pomona.report.encoding import Chart, color, data_of, names_down, scale_of, shape, sized, tips, with_slots
from pomona.report.names import close_of, measure_title, rankers_of, significance_rule
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Cell, Column, Getter, Table, in_units, make_table, number, text

_INTRODUCTION = """
<p>Means over test queries with their {{ level }} bootstrap intervals.
<span class="up">▲</span> significantly above the baseline, {{ baseline }},
<span class="down">▼</span> below it: {{ rule }}. Bold: the best of a column.
AVG_Norm: the mean over measures of where a ranker stands between the worst (0) and the ideal ranking (1).
Press a title to sort.</p>
"""


class ResultsSection(Section):
    """The table of all rankers, and the intervals of the main measure."""

    name = "results"
    title = "The table"
    order = 10

    def overall(self, findings: Findings) -> Parts:
        level, rule = f"{1 - findings.alpha:.0%}", significance_rule(findings.alpha)
        yield Html(_INTRODUCTION, level=level, baseline=findings.baseline, rule=rule)

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        yield Numbers(results_table(findings, dataset), style="results")
        yield Figure(
            "intervals",
            intervals(findings, dataset),
            f"Mean {measure_title(findings.main)} with its {1 - findings.alpha:.0%} bootstrap interval over "
            f"queries. The dashed line is the baseline, {findings.baseline}.",
        )


def intervals(findings: Findings, dataset: str) -> Chart | None:
    """Means of the main measure with their intervals, the best first; the dashed line is the baseline."""
    order, note = close_of(findings, dataset)
    if not order:
        return None
    quality = findings.quality.filter(dataset=dataset, measure=findings.main, is_bound=False)
    by_ranker = {row["ranker"]: row for row in quality.select("ranker", "mean", "low", "high").to_dicts()}
    rows = with_slots(findings, [by_ranker[ranker] for ranker in order])
    title = measure_title(findings.main)
    ends = [row[end] for row in rows for end in ("low", "mean", "high") if row[end] is not None]
    x = alt.X("mean:Q", title=f"mean {title}", scale=scale_of(ends), axis=alt.Axis(tickCount=6))
    base = alt.Chart(data_of(rows)).encode(
        y=names_down("ranker", order),
        color=color(),
        tooltip=tips(ranker="ranker", mean=(title, ".4f"), low=("from", ".4f"), high=("to", ".4f")),
    )
    baseline = [{"mean": row["mean"]} for row in rows if row["ranker"] == findings.baseline]
    chart = alt.layer(
        alt.Chart(data_of(baseline)).mark_rule(style="front").encode(x=x),
        base.mark_rule(style="interval").encode(x=alt.X("low:Q", scale=x["scale"], title=""), x2="high:Q"),
        base.mark_point(filled=True, size=90, opacity=1).encode(x=x, shape=shape()),
    )
    best, last = rows[0], rows[-1]
    return sized(
        chart,
        f"Mean {title} on {dataset} of {len(rows)} rankers with intervals over queries. "
        f"Highest: {best['ranker']}, {fixed(best['mean'])} ({fixed(best['low'])} to {fixed(best['high'])}); "
        f"lowest: {last['ranker']}, {fixed(last['mean'])}.",
        height=max(60, 24 * len(rows)),
        note=note,
    )


def results_table(findings: Findings, dataset: str) -> Table:
    """Rankers × measures, and what they cost: the best first, then the bounds, then those that failed."""
    quality = findings.quality.filter(dataset=dataset)
    cells = {(row["ranker"], row["measure"]): row for row in quality.iter_rows(named=True)}
    norms = {row["ranker"]: row["norm"] for row in cells.values()}
    performance = {row["ranker"]: row["norm_performance"] for row in cells.values()}
    bounds = quality.filter(is_bound=True)["ranker"].unique(maintain_order=True).to_list()
    spent = {row["ranker"]: row for row in findings.costs.filter(dataset=dataset).iter_rows(named=True)}
    ranked = findings.ranked.filter(dataset=dataset)
    best = dict(ranked.group_by("measure").agg(pl.col("mean").max()).iter_rows())

    def measured(measure: str) -> tuple[Column, Getter]:
        def cell(row: Mapping[str, Any]) -> Cell:
            value = cells.get((row["ranker"], measure))
            if value is None:
                return Cell(None, MISSING)
            mean, printed = value["mean"], fixed(value["mean"])
            if value["is_bound"]:
                return Cell(mean, printed)
            is_best = value["is_comparable"] and mean == best[measure]
            return Cell(mean, printed, value["low"], value["high"], value["mark"], is_best)

        return Column(measure_title(measure), has_interval=True), cell

    rows: list[dict[str, Any]] = []
    for ranker in rankers_of(findings, dataset):
        cost = spent.get(ranker, {})
        remarks = ["baseline"] if ranker == findings.baseline else []
        if cost.get("n_failed"):
            n_runs = cost["n_failed"] + cost["n_done"]
            remarks.append(f"{cost['n_failed']} of {n_runs} runs failed: {cost['reason']}")
        both = {"norm": norms[ranker], "norm_performance": performance[ranker]}
        rows.append({**cost, "ranker": ranker, **both, "remark": ", ".join(remarks)})
    rows += [{"ranker": bound, "norm": norms[bound], "kind": "bound"} for bound in bounds]
    rows += [
        {"ranker": ranker, "kind": "failed", "remark": f"failed: {cost['reason'] or 'no run finished'}"}
        for ranker, cost in spent.items()
        if ranker not in norms
    ]
    columns = [
        text("Ranker", "ranker"),
        *map(measured, findings.measures),
        number("AVG_Norm", "norm"),
        *([number("NormPerformance", "norm_performance")] * findings.results.spec.norm_performance),
        number("Train (s)", "train_seconds", significant),
        number("Score (µs/doc)", "score_microseconds", significant),
        number("Memory (MB)", in_units("peak_memory", 1e6), significant),
    ]
    return make_table("results", f"Results on {dataset}", columns, rows)
