"""The charts, one function each: findings in, an Altair chart out, the same for the page and for papers.

Each carries a description, which is what a screen reader says. A function returns None when these findings
have nothing to draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from pomona.report import labels
from pomona.report.answer import is_significant
from pomona.report.digits import fixed, negative, p_value, signed
from pomona.report.encoding import (
    FRONT_HEIGHT,
    Chart,
    Rows,
    color,
    data_of,
    in_order,
    labelled_points,
    number_tip,
    panels,
    scale_of,
    shape,
    sized,
    slot_legend,
    text_tip,
    upside,
    with_room,
    with_slots,
)
from pomona.report.names import close_of, measure_title, rankers_of
from pomona.report.theme import DASHES, SLOTS

if TYPE_CHECKING:
    from pomona.experiments.findings import Findings

N_POINTS = 80
"""Of a learning curve: what a panel can show."""

MOST_WITH_NUMBERS = 12
"""Rankers of a significance matrix whose cells still have room for numbers."""


_ENDS = [number_tip("low", "from"), number_tip("high", "to")]


def intervals(findings: Findings, dataset: str) -> Chart:
    """Means of the main measure with their intervals, the best first; the dashed line is the baseline."""
    order, note = close_of(findings, dataset)
    found = findings.table.filter(dataset=dataset, measure=findings.main, is_bound=False)
    by_ranker = {row["ranker"]: row for row in found.select("ranker", "mean", "low", "high").to_dicts()}
    rows = with_slots(findings, [by_ranker[ranker] for ranker in order])
    title = measure_title(findings.main)
    ends = [row[end] for row in rows for end in ("low", "mean", "high") if row[end] is not None]
    x = alt.X("mean:Q", title=f"mean {title}", scale=scale_of(ends), axis=alt.Axis(tickCount=6))
    base = alt.Chart(data_of(rows)).encode(
        y=alt.Y("ranker:N", scale=in_order(order), title=None, axis=alt.Axis(labelLimit=170)),
        color=color(),
        tooltip=[text_tip("ranker"), number_tip("mean", title), *_ENDS],
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


def cutoff_curves(findings: Findings, dataset: str) -> Chart | None:
    """NDCG at every cut-off from 1 to 10, a curve a ranker (Busa-Fekete et al. 2012, Figure 2)."""
    convention = findings.results.spec.conventions[0]
    close, note = close_of(findings, dataset)
    curves = [
        r for r in _cutoffs(findings, dataset) if r["convention"] == convention and r["ranker"] in close
    ]
    if not curves:
        return None
    rows = upside(with_slots(findings, curves))
    last = max(row["k"] for row in rows)
    ends = [row for row in rows if row["k"] == last]
    height = max(300, int(labels.LINE_HEIGHT * (len(ends) + 2)))
    low, high = with_room([row["mean"] for row in rows])
    # Labels stand beside the last point, as near to it as their neighbours let them.
    pixel = (high - low) / height
    wishes = [row["mean"] / pixel for row in ends]
    places = labels.spread(wishes, labels.LINE_HEIGHT, low / pixel, high / pixel)
    tails: Rows = []
    for row, place in zip(ends, places, strict=True):
        tails.append({**row, "at": row["mean"]})
        tails.append({**row, "k": last + 0.35, "at": place * pixel})
    ticks = alt.Axis(values=list(range(1, last + 1)), format="d", labelOverlap="greedy", labelSeparation=4)
    x = alt.X("k:Q", title="cut-off k", scale=alt.Scale(domain=[1, last], nice=False), axis=ticks)
    y_scale = alt.Scale(domain=[low, high], nice=False)
    base = alt.Chart(data_of(rows)).encode(
        x=x,
        y=alt.Y("mean:Q", title="NDCG@k", scale=y_scale),
        color=color(),
        detail="ranker:N",
        tooltip=[text_tip("ranker"), number_tip("k", "k", "d"), number_tip("mean", "NDCG@k")],
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


def convention_curves(findings: Findings, dataset: str) -> Chart | None:
    """The same models judged by each tool's NDCG, a panel a tool, one scale for all."""
    rows = upside(with_slots(findings, _cutoffs(findings, dataset)))
    judges = findings.cutoffs.filter(dataset=dataset)["convention"].unique(maintain_order=True).to_list()
    if len(judges) < 2:
        return None
    base = _small_curves([text_tip("ranker"), text_tip("convention", "judged by")]).encode(
        color=color(slot_legend(findings))
    )
    layers = alt.layer(
        base.mark_line(strokeWidth=1.8),
        base.mark_point(filled=True, size=20, opacity=1).encode(shape=shape(slot_legend(findings))),
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
        for row in _cutoffs(findings, dataset)
        if row["ranker"] in trained and kinds[row["ranker"]] in several
    ]
    if not rows:
        return None
    judges = findings.results.spec.conventions
    tools = list(dict.fromkeys(row["trained"] for row in rows))
    legend = alt.Legend(title="trained with", orient="top", symbolType="stroke", symbolSize=300)
    base = _small_curves([text_tip("ranker"), text_tip("trained", "trained with")]).encode(
        color=alt.Color("trained:N", scale=alt.Scale(domain=tools, range="category"), legend=legend)
    )
    dash = alt.StrokeDash("trained:N", scale=alt.Scale(domain=tools, range=list(DASHES)), legend=legend)
    layers = alt.layer(
        base.mark_line(strokeWidth=1.8).encode(strokeDash=dash),
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
    plain = findings.main.rpartition(":")[2]
    found = findings.conventions.filter(pl.col("rank").is_not_null(), dataset=dataset, measure=plain)
    judges = found["judged_with"].unique(maintain_order=True).to_list()
    if len(judges) < 2:
        return None
    rows = upside(with_slots(findings, found.select("ranker", "judged_with", "mean", "rank").to_dicts()))
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
    tips = [text_tip("ranker"), text_tip("judged_with", "judged by"), number_tip("rank", "rank", "d")]
    tips.append(number_tip("mean", measure_title(plain)))
    base = alt.Chart(data_of(rows)).encode(x=x, y=y, color=color(), detail="ranker:N", tooltip=tips)
    last = [row for row in rows if row["judged_with"] == judges[-1]]
    shared: dict[int, list[str]] = {}
    for row in sorted(last, key=lambda row: str(row["ranker"])):
        shared.setdefault(row["rank"], []).append(row["ranker"])
    named = [{"judged_with": judges[-1], "rank": r, "names": ", ".join(of)} for r, of in shared.items()]
    names = alt.Chart(data_of(named)).encode(x=x, y=y, text="names:N")
    chart = alt.layer(
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=70, opacity=1).encode(shape=shape()),
        names.mark_text(style="direct-label", dx=10, limit=190),
    )
    changes = findings.order_changes.filter(dataset=dataset, measure=plain).select("better", "worse")
    return sized(
        chart,
        f"Ranks of {len(last)} rankers on {dataset} by {measure_title(plain)} under the rules of "
        f"{', '.join(judges)}. {changes.unique().height} pairs of rankers change their order "
        "between two tools.",
        height=max(120, 22 * n),
    )


def significance_matrix(findings: Findings, dataset: str, measure: str) -> Chart | None:
    """Every pair of rankers: is the row's better than the column's, and is that more than chance?"""
    order = rankers_of(findings, dataset)
    rows: Rows = []
    for pair in findings.pairs.filter(dataset=dataset, measure=measure).iter_rows(named=True):
        low, high = pair["low"], pair["high"]
        is_real = is_significant(pair, findings.alpha)
        rows.append(_compared(pair["a"], pair["b"], pair["difference"], low, high, pair["holm_p"], is_real))
        turned = (-pair["difference"], negative(high), negative(low))
        rows.append(_compared(pair["b"], pair["a"], *turned, pair["holm_p"], is_real))
    if not rows:
        return None
    is_small = len(order) <= MOST_WITH_NUMBERS
    top = alt.Axis(
        orient="top", labelAngle=-45 if is_small else -90, labelLimit=140, domain=False, ticks=False
    )
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("column:N", scale=in_order(order), title=None, axis=top),
        y=alt.Y("row:N", scale=in_order(order), title=None, axis=alt.Axis(labelLimit=130)),
    )
    legend = alt.Legend(
        title=None,
        orient="bottom",
        columns=1,
        symbolType="square",
        labelLimit=260,
        values=[verdict for verdict in _VERDICTS if any(row["verdict"] == verdict for row in rows)],
    )
    verdicts = alt.Scale(domain=list(_VERDICTS), range="diverging")
    tips = [text_tip("row"), text_tip("column"), text_tip("verdict", "the row is"), text_tip("difference")]
    cells = base.mark_rect(style="tile").encode(
        color=alt.Color("verdict:N", scale=verdicts, legend=legend),
        tooltip=[*tips, text_tip("interval"), text_tip("p", "p (Holm)")],
    )
    layers = [cells]
    if is_small:
        numbers = base.encode(text="points:N")
        seen = alt.expr(f"width >= {36 * len(order)} ? 1 : 0")
        layers.append(numbers.transform_filter("datum.is_real").mark_text(style="on-color", opacity=seen))
        layers.append(numbers.transform_filter("!datum.is_real").mark_text(style="on-paper", opacity=seen))
    n_real = sum(row["is_real"] for row in rows) // 2
    return sized(
        alt.layer(*layers),
        f"Differences in {measure_title(measure)} between every two of {len(order)} rankers on {dataset}. "
        f"{n_real} of {len(rows) // 2} pairs differ significantly.",
        height=max(90, (26 if is_small else 17) * len(order)),
    )


def training_front(findings: Findings, dataset: str) -> Chart | None:
    """Quality against training time; the dashed line joins the rankers that none beats in both."""
    return _front(findings, dataset, "train_seconds", "on_train_front", "training time, seconds a run")


def scoring_front(findings: Findings, dataset: str) -> Chart | None:
    """Quality against scoring time; the dashed line joins the rankers that none beats in both."""
    return _front(findings, dataset, "score_microseconds", "on_score_front", "scoring time, µs a document")


def learning_curves(findings: Findings, dataset: str) -> Chart | None:
    """How quality grows while a ranker learns, on training and on validation queries, a panel a ranker."""
    found = findings.learning.filter(dataset=dataset)
    learners = [ranker for ranker in rankers_of(findings, dataset) if ranker in set(found["ranker"])]
    if not learners:
        return None
    rows: Rows = []
    # A single run has no interval: its band has no height.
    ends = [pl.col(end).fill_null(pl.col("mean")) for end in ("low", "high")]
    for _, curve in found.group_by("ranker", "part", maintain_order=True):
        rows += _thinned(curve.select("ranker", "part", "iteration", "mean", *ends).to_dicts())
    legend = alt.Legend(
        title=None,
        orient="top",
        values=["valid", "train"],
        labelExpr="datum.label == 'valid' ? 'validation queries' : 'training queries'",
        symbolType="stroke",
        symbolOpacity=1,
    )
    # Training is grey: it takes the place of "other" among the colours.
    parts = alt.Scale(domain=["valid", *SLOTS[1:-1], "train"], range="category")
    tips = [text_tip("ranker"), text_tip("part"), number_tip("iteration", "iteration", "d")]
    base = alt.Chart().encode(
        x=alt.X("iteration:Q", title="iteration", axis=alt.Axis(tickCount=3, format="~s")),
        color=alt.Color("part:N", scale=parts, legend=legend),
        tooltip=[*tips, number_tip("mean", "mean"), *_ENDS],
    )
    title, free = "its training measure", alt.Scale(zero=False)
    dashes = alt.Scale(domain=["valid", "train"], range=list(DASHES[:2]))
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
        "training and on validation queries, with the range over folds and seeds.",
        columns=4,
        is_apart=True,
    )


def winning_numbers(findings: Findings) -> Chart | None:
    """Normalized against ideal winning number (Hiemstra et al. 2017, Figure 1): how good, and how surely."""
    found = findings.winning.filter(pl.col("normalized").is_not_null()).to_dicts()
    if not found:
        return None
    # Labels go to the fronts first, as in the paper, then to the baseline.
    found.sort(
        key=lambda row: (not row["is_pareto"], not row["is_rank2"], row["ranker"] != findings.baseline)
    )
    rows = with_slots(findings, found)
    for row in rows:
        row["front"] = "Pareto-optimal" if row["is_pareto"] else "rank 2" if row["is_rank2"] else "neither"
    front = sorted((row for row in rows if row["is_pareto"]), key=lambda row: float(row["ideal"]))
    tips = [
        text_tip("ranker"),
        number_tip("winning", "winning number", "d"),
        number_tip("ideal", "ideal", "d"),
    ]
    chart = labelled_points(
        rows,
        front,
        alt.X(
            "ideal:Q",
            title="ideal winning number: comparisons it took part in",
            scale=scale_of([row["ideal"] for row in rows]),
            axis=alt.Axis(format="d", tickMinStep=1, tickCount=6),
        ),
        alt.Y(
            "normalized:Q",
            title="normalized winning number",
            scale=scale_of([row["normalized"] for row in rows]),
        ),
        [*tips, number_tip("normalized", "normalized"), text_tip("front")],
        "linear",
    )
    best = ", ".join(row["ranker"] for row in front)
    return sized(
        chart,
        f"Normalized against ideal winning number of {len(rows)} rankers. Pareto-optimal: {best}.",
        height=FRONT_HEIGHT,
    )


def variance_shares(findings: Findings, dataset: str) -> Chart | None:
    """Where the spread of the main measure comes from: queries, folds, seeds, or none of these."""
    order = rankers_of(findings, dataset)
    sources = ["queries", "folds", "seeds", "residual"]
    rows = [
        {"ranker": row["ranker"], "source": source, "order": i, "share": row[source]}
        for row in findings.variance.filter(dataset=dataset, measure=findings.main).iter_rows(named=True)
        for i, source in enumerate(sources)
        if row[source] is not None
    ]
    if not rows:
        return None
    chart = (
        alt.Chart(data_of(rows))
        .mark_bar(height={"band": 0.7})
        .encode(
            x=alt.X(
                "share:Q",
                title="share of the variance",
                axis=alt.Axis(format="%", tickCount=5),
                scale=alt.Scale(domain=[0, 1]),
            ),
            y=alt.Y("ranker:N", scale=in_order(order), title=None, axis=alt.Axis(labelLimit=170)),
            color=alt.Color(
                "source:N",
                scale=alt.Scale(domain=sources, range="ordinal"),
                legend=alt.Legend(title=None, orient="top"),
            ),
            order="order:Q",
            tooltip=[text_tip("ranker"), text_tip("source"), number_tip("share", "share", ".1%")],
        )
    )
    best = ", ".join(f"{row['source']} {row['share']:.0%}" for row in rows if row["ranker"] == order[0])
    return sized(
        chart,
        f"Shares of the variance of {measure_title(findings.main)} on {dataset} by ranker. "
        f"{order[0]}: {best}.",
        height=max(60, 22 * len(order)),
    )


def query_differences(findings: Findings, dataset: str, a: str, b: str) -> Chart:
    """The main measure of one ranker minus that of another, query by query, the worst first."""
    found = findings.queries.filter(dataset=dataset)
    differences = (found[a] - found[b]).drop_nulls().sort().to_list()
    rows = [{"query": i, "difference": d} for i, d in enumerate(differences)]
    x = alt.X(
        "query:Q", title="queries, the worst first", scale=alt.Scale(nice=False), axis=alt.Axis(format="d")
    )
    y = alt.Y("part:Q", title=f"difference in {measure_title(findings.main)}")
    base = alt.Chart(data_of(rows)).encode(x=x, y=y)
    above = base.transform_calculate(part="max(0, datum.difference)")
    below = base.transform_calculate(part="min(0, datum.difference)")
    chart = alt.layer(
        above.mark_area(style="better", interpolate="step-after"),
        below.mark_area(style="worse", interpolate="step-after"),
        alt.Chart(data_of([{"zero": 0}])).mark_rule(style="zero").encode(y="zero:Q"),
    )
    better, worse = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    return sized(
        chart,
        f"Per-query difference in {measure_title(findings.main)} on {dataset}, {a} minus {b}, sorted: "
        f"{a} is better on {better} queries, {b} on {worse}, of {len(differences)}.",
        height=200,
    )


def _cutoffs(findings: Findings, dataset: str) -> Rows:
    rows: Rows = (
        findings.cutoffs.filter(dataset=dataset).select("ranker", "convention", "k", "mean").to_dicts()
    )
    return rows


def _small_curves(tips: list[alt.Tooltip]) -> alt.Chart:
    """NDCG by cut-off in a panel."""
    ticks = alt.Axis(values=[1, 5, 10], format="d")
    return alt.Chart().encode(
        x=alt.X("k:Q", title="cut-off k", scale=alt.Scale(nice=False), axis=ticks),
        y=alt.Y("mean:Q", title="NDCG@k", scale=alt.Scale(zero=False)),
        detail="ranker:N",
        tooltip=[*tips, number_tip("k", "k", "d"), number_tip("mean", "NDCG@k")],
    )


# In the order of the config's diverging colours.
_VERDICTS = (
    "significantly better",
    "better, within chance",
    "the same",
    "worse, within chance",
    "significantly worse",
)


def _compared(
    row: str,
    column: str,
    difference: float,
    low: float | None,
    high: float | None,
    p: float | None,
    is_real: bool,
) -> dict[str, object]:
    """A cell of the matrix."""
    side = "better" if difference > 0 else "worse"
    verdict = f"significantly {side}" if is_real else f"{side}, within chance"
    return {
        "row": row,
        "column": column,
        "verdict": verdict if difference else "the same",
        "points": signed(100 * difference, 1),
        "difference": signed(difference),
        "interval": f"{signed(low)} to {signed(high)}",
        "p": p_value(p),
        "is_real": is_real,
    }


def _front(findings: Findings, dataset: str, cost: str, is_on: str, title: str) -> Chart | None:
    close, note = close_of(findings, dataset)
    found = findings.fronts.filter(
        pl.col(cost) > 0, pl.col("ranker").is_in(close), dataset=dataset
    ).to_dicts()
    if not found:
        return None
    # Labels go to the best first, then to the baseline, then to the front.
    first = {findings.baseline: 1, rankers_of(findings, dataset)[0]: 0}
    found.sort(key=lambda row: (first.get(row["ranker"], 2), not row[is_on], -row["mean"]))
    rows = with_slots(findings, found)
    front = sorted((row for row in rows if row[is_on]), key=lambda row: float(row[cost]))
    measure = measure_title(findings.main)
    x = alt.X(
        f"{cost}:Q",
        title=title,
        scale=scale_of([row[cost] for row in rows], log=True),
        axis=alt.Axis(format="~g", labelOverlap=True),
    )
    y = alt.Y("mean:Q", title=measure, scale=scale_of([row["mean"] for row in rows]))
    tips = [text_tip("ranker"), number_tip("mean", measure), number_tip(cost, title, ".3~g")]
    best = ", ".join(row["ranker"] for row in front)
    return sized(
        labelled_points(rows, front, x, y, tips, "step-after"),
        f"{measure} against {title} on {dataset}. None is both better and faster than: {best}.",
        height=FRONT_HEIGHT,
        note=note,
    )


def _thinned(curve: Rows) -> Rows:
    """At most `N_POINTS` of a curve, evenly, with its first and last."""
    n = len(curve)
    if n <= N_POINTS:
        return curve
    return [curve[round(i * (n - 1) / (N_POINTS - 1))] for i in range(N_POINTS)]
