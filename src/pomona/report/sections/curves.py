"""How good is every ranker at each cut-off?"""

from __future__ import annotations

import altair as alt

from pomona.experiments.findings import Findings
from pomona.report import labels
from pomona.report.digits import fixed
from pomona.report.encoding import (
    Chart,
    color,
    data_of,
    paint_order,
    shape,
    sized,
    tips,
    with_room,
    with_slots,
)
from pomona.report.names import close_of, rankers_of
from pomona.report.section import Figure, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text


class CurvesSection(Section):
    """NDCG by cut-off under the first convention; the numbers under all."""

    name = "curves"
    title = "By cut-off"
    order = 20

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        yield Figure(
            "cutoff-curves",
            cutoff_curves(findings, dataset),
            f"NDCG by cut-off, judged by the {findings.results.spec.conventions[0]} convention; labels stand "
            "in the order of the last value.",
        )
        yield Numbers(cutoff_table(findings, dataset), "The numbers, under every convention")


def cutoff_curves(findings: Findings, dataset: str) -> Chart | None:
    """NDCG at every cut-off from 1 to 10, a curve a ranker (Busa-Fekete et al. 2012, Figure 2)."""
    convention = findings.results.spec.conventions[0]
    close, note = close_of(findings, dataset)
    cutoffs = findings.cutoffs.filter(dataset=dataset, convention=convention)
    curves = [row for row in cutoffs.drop("dataset").to_dicts() if row["ranker"] in close]
    if not curves:
        return None
    rows = paint_order(with_slots(findings, curves))
    last = max(row["k"] for row in rows)
    ends = [row for row in rows if row["k"] == last]
    height = max(300, int(labels.LINE_HEIGHT * (len(ends) + 2)))
    low, high = with_room([row["mean"] for row in rows])
    # Labels stand beside the last point, as near to it as their neighbours let them.
    pixel = (high - low) / height
    wishes = [row["mean"] / pixel for row in ends]
    places = labels.spread(wishes, labels.LINE_HEIGHT, low / pixel, high / pixel)
    tails = [{**row, "at": row["mean"]} for row in ends]
    tails += [{**row, "k": last + 0.35, "at": at * pixel} for row, at in zip(ends, places, strict=True)]
    ticks = alt.Axis(values=list(range(1, last + 1)), format="d", labelOverlap="greedy", labelSeparation=4)
    x = alt.X("k:Q", title="cut-off k", scale=alt.Scale(domain=[1, last], nice=False), axis=ticks)
    y_scale = alt.Scale(domain=[low, high], nice=False)
    base = alt.Chart(data_of(rows)).encode(
        x=x,
        y=alt.Y("mean:Q", title="NDCG@k", scale=y_scale),
        color=color(),
        detail="ranker:N",
        tooltip=tips(ranker="ranker", k=("k", "d"), mean=("NDCG@k", ".4f"), error=("standard error", ".4f")),
    )
    tail = alt.Chart(data_of(tails)).encode(x=x, y=alt.Y("at:Q", scale=y_scale), detail="ranker:N")
    names = tail.transform_filter(f"datum.k > {last}").encode(text="ranker:N")
    chart = alt.layer(
        tail.mark_line(style="leader"),
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=36, opacity=1).encode(shape=shape()),
        names.mark_text(style="direct-label", dx=4, limit=150),
    )
    best = max(ends, key=lambda row: float(row["mean"]))
    return sized(
        chart,
        f"NDCG at cut-offs 1 to {last} ({convention}) on {dataset}, a curve for each of {len(ends)} rankers. "
        f"At {last} the highest is {best['ranker']} with {fixed(best['mean'])}.",
        height=height,
        note=note,
    )


def cutoff_table(findings: Findings, dataset: str) -> Table:
    """NDCG at cut-offs 1 to 10 of every ranker under every convention."""
    cutoffs = findings.cutoffs.filter(dataset=dataset)
    rankers, ks = rankers_of(findings, dataset), sorted(set(cutoffs["k"]))
    parts = cutoffs.pivot("k", index=["convention", "ranker"], values="mean").partition_by(
        "convention", maintain_order=True
    )
    rows = [
        row for part in parts for row in sorted(part.to_dicts(), key=lambda row: rankers.index(row["ranker"]))
    ]
    columns = [
        text("Ranker", "ranker"),
        text("Judged by", "convention"),
        *(number(f"@{k}", f"{k}") for k in ks),
    ]
    return make_table("cutoffs", f"NDCG by cut-off on {dataset}", columns, rows)
