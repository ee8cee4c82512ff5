"""Do tools that compute a measure differently agree on who is better?"""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from pomona.experiments.analysis.convention import plain
from pomona.experiments.findings import Findings
from pomona.report import encoding
from pomona.report.digits import MISSING, count, fixed, signed
from pomona.report.encoding import Chart, color, data_of, paint_order, panels, shape, sized, tips, with_slots
from pomona.report.names import measure_title, rankers_of
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, measured, number, text

_FEW = 7
"""So many curves with error bars can be told apart."""
_SEVERAL = """
<p>Tools disagree on what NDCG is: how an empty query counts, what a label gains, where the discount begins.
These are the same rankings under each tool’s rules.</p>
"""
_ONE = """
<p>All numbers follow one convention, {{ convention }}. To see the same models under other tools’ rules,
add them to the spec and run it again: <code>conventions = ["definition", "letor4", "yahoo"]</code>.
Nothing is trained anew.</p>
"""
_NO_CHANGE = "<p>No two rankers change their order between these conventions.</p>"


class ConventionsSection(Section):
    """The same rankings under each tool's rules."""

    name = "conventions"
    title = "By convention"
    order = 30

    def overall(self, findings: Findings) -> Parts:
        conventions = findings.results.spec.conventions
        yield Html(_SEVERAL) if len(conventions) > 1 else Html(_ONE, convention=conventions[0])

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        changes = change_table(findings, dataset)
        yield Figure(
            "convention-curves",
            convention_curves(findings, dataset),
            "The same models and the same test queries, judged by each tool’s rules on one scale. Bars, "
            "where rankers are few: a standard error of the mean over folds, to either side.",
        )
        yield Figure(
            "convention-ranks",
            convention_ranks(findings, dataset),
            f"Ranks by {measure_title(plain(findings.main))}: where lines cross, the tools disagree.",
            title="Where the order changes",
        )
        yield Numbers(changes, "The pairs that change their order", is_open=len(changes.rows) <= 12)
        if not changes.rows and len(findings.results.spec.conventions) > 1:
            yield Html(_NO_CHANGE)
        yield Figure(
            "trained-judged",
            trained_judged(findings, dataset),
            "The same method trained with one tool’s measure and judged by another’s. Bars: a standard error "
            "of the mean over folds, to either side.",
            title="Trained with one, judged by another",
        )
        yield Numbers(convention_table(findings, dataset), "Trained with × judged by, in numbers")


def convention_curves(findings: Findings, dataset: str) -> Chart | None:
    """The same models judged by each tool's NDCG, a panel a tool, one scale for all."""
    cutoffs = findings.cutoffs.filter(dataset=dataset)
    judges = cutoffs["convention"].unique(maintain_order=True).to_list()
    if len(judges) < 2:
        return None
    rows = paint_order(with_slots(findings, cutoffs.drop("dataset").iter_rows(named=True)))
    base = _small_curves(convention="judged by").encode(color=color(findings))
    layers = alt.layer(
        *([_errors(base)] if len(rankers_of(findings, dataset)) <= _FEW else []),
        base.mark_line(strokeWidth=1.8),
        base.mark_point(filled=True, size=20, opacity=1).encode(shape=shape(findings)),
    )
    spans = []
    for judge in judges:
        values = [row["mean"] for row in rows if row["convention"] == judge]
        spans.append(f"{judge}: {fixed(min(values), 2)} to {fixed(max(values), 2)}")
    return panels(
        layers,
        rows,
        "convention",
        judges,
        f"NDCG at cut-offs 1 to 10 on {dataset} of the same models, judged by the rules of {len(judges)} "
        f"tools, a panel each. Range of values by tool: {'; '.join(spans)}.",
    )


def trained_judged(findings: Findings, dataset: str) -> Chart | None:
    """Methods trained with the measures of several tools, judged by each (Busa-Fekete et al. 2012, Figure 1).

    A row of panels a method, a panel a judge, a curve a training convention.
    """
    kinds = dict(findings.results.runs.select("ranker", "kind").iter_rows())
    trained = dict(findings.conventions.select("ranker", "trained_with").drop_nulls().iter_rows())
    variants: dict[str, set[str]] = {}
    for ranker, tool in trained.items():
        variants.setdefault(kinds[ranker], set()).add(tool)
    several = [kind for kind, tools in variants.items() if len(tools) > 1]
    rows = [
        {
            **row,
            "trained": trained[row["ranker"]],
            "panel": f"{kinds[row['ranker']]} judged by {row['convention']}",
        }
        for row in findings.cutoffs.filter(dataset=dataset).drop("dataset").iter_rows(named=True)
        if row["ranker"] in trained and kinds[row["ranker"]] in several
    ]
    if not rows:
        return None
    judges = findings.results.spec.conventions
    tools = list(dict.fromkeys(row["trained"] for row in rows))
    legend = alt.Legend(title="trained with", orient="top", symbolType="stroke", symbolSize=300)
    look = encoding.series_of("trained", tools, legend)
    base = _small_curves(trained="trained with").encode(color=look.color)
    layers = alt.layer(
        _errors(base),
        base.mark_line(strokeWidth=1.8).encode(strokeDash=look.dash),
        base.mark_point(filled=True, size=16, opacity=1),
    )
    return panels(
        layers,
        rows,
        "panel",
        [f"{kind} judged by {judge}" for kind in several for judge in judges],
        f"NDCG at cut-offs 1 to 10 on {dataset} of {', '.join(several)}, each trained with the measures of "
        f"{', '.join(tools)} and judged by {', '.join(judges)}.",
        columns=len(judges),
        least=190,
    )


def convention_ranks(findings: Findings, dataset: str) -> Chart | None:
    """The rank of every ranker under each tool's rules: where lines cross, the tools disagree."""
    measure = plain(findings.main)
    ranked = findings.conventions.filter(pl.col("rank").is_not_null(), dataset=dataset, measure=measure)
    judges = ranked["judged_with"].unique(maintain_order=True).to_list()
    if len(judges) < 2:
        return None
    rows = paint_order(
        with_slots(findings, ranked.select("ranker", "judged_with", "mean", "rank").to_dicts())
    )
    n = max(row["rank"] for row in rows)
    x = alt.X(
        "judged_with:N",
        title="judged by",
        scale=alt.Scale(domain=judges, padding=0.1),
        axis=alt.Axis(labelAngle=0, labelOverlap=False),
    )
    y = alt.Y(
        "rank:Q",
        title="rank",
        scale=alt.Scale(domain=[1, n], reverse=True, nice=False),
        axis=alt.Axis(values=list(range(1, n + 1)), format="d", grid=False, labelOverlap=False),
    )
    mean = (measure_title(measure), ".4f")
    tooltip = tips(ranker="ranker", judged_with="judged by", rank=("rank", "d"), mean=mean)
    base = alt.Chart(data_of(rows)).encode(x=x, y=y, color=color(), detail="ranker:N", tooltip=tooltip)
    last = [row for row in rows if row["judged_with"] == judges[-1]]
    shared: dict[int, list[str]] = {}
    for row in sorted(last, key=lambda row: str(row["ranker"])):
        shared.setdefault(row["rank"], []).append(row["ranker"])
    ends = [{"judged_with": judges[-1], "rank": r, "names": ", ".join(tied)} for r, tied in shared.items()]
    names = alt.Chart(data_of(ends)).encode(x=x, y=y, text="names:N")
    chart = alt.layer(
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=70, opacity=1).encode(shape=shape()),
        names.mark_text(style="direct-label", dx=10, limit=190),
    )
    changes = findings.order_changes.filter(dataset=dataset, measure=measure).select("better", "worse")
    return sized(
        chart,
        f"Ranks of {len(last)} rankers on {dataset} by {measure_title(measure)} under the rules of "
        f"{', '.join(judges)}. {changes.unique().height} pairs of rankers change their order "
        "between two tools.",
        height=max(120, 22 * n),
    )


def _small_curves(**about: str) -> alt.Chart:
    """NDCG by cut-off in a panel; the tooltip also says what a curve is about."""
    ticks = alt.Axis(values=[1, 5, 10], format="d")
    return alt.Chart().encode(
        x=alt.X("k:Q", title="cut-off k", scale=alt.Scale(nice=False), axis=ticks),
        y=alt.Y("mean:Q", title="NDCG@k", scale=alt.Scale(zero=False)),
        detail="ranker:N",
        tooltip=tips(
            ranker="ranker", **about, k=("k", "d"), mean=("NDCG@k", ".4f"), error=("standard error", ".4f")
        ),
    )


def _errors(curves: alt.Chart) -> alt.Chart:
    """A bar of a standard error to either side of every point."""
    bars: alt.Chart = curves.mark_errorbar(ticks=False, thickness=1, opacity=0.5).encode(yError="error:Q")
    return bars


def convention_table(findings: Findings, dataset: str) -> Table:
    """What a ranker was trained with × what it is judged by: the mean, and the rank under that judge."""
    judged = findings.conventions.filter(dataset=dataset)
    judges = judged["judged_with"].unique(maintain_order=True).to_list()
    rows: dict[tuple[str, str], dict[str, Any]] = {
        (measure, ranker): {"ranker": ranker, "measure": measure}
        for measure in judged["measure"].unique(maintain_order=True)
        for ranker in rankers_of(findings, dataset)
    }
    for row in judged.iter_rows(named=True):
        means = {row["judged_with"]: row["mean"], f"rank ({row['judged_with']})": row["rank"]}
        rows[row["measure"], row["ranker"]] |= {"trained_with": row["trained_with"], **means}
    columns = [
        text("Ranker", "ranker"),
        text("Trained with", lambda row: row.get("trained_with") or MISSING),
        measured(),
    ]
    for judge in judges:
        columns += [number(judge, judge), number(f"rank ({judge})", f"rank ({judge})", count)]
    return make_table("conventions", f"Trained with × judged by, on {dataset}", columns, rows.values())


def change_table(findings: Findings, dataset: str) -> Table:
    """Pairs of rankers that two conventions put in opposite orders."""
    columns = [
        text("Ranker", "better"),
        text("against", "worse"),
        measured(),
        text("ahead by", "convention_1"),
        number("difference", "difference_1", signed),
        text("behind by", "convention_2"),
        number("difference there", "difference_2", signed),
    ]
    rows = findings.order_changes.filter(dataset=dataset).to_dicts()
    return make_table("order-changes", f"Where two conventions disagree on {dataset}", columns, rows)
