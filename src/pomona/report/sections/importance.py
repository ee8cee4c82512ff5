"""What do the models look at?"""

from __future__ import annotations

import altair as alt
import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.encoding import (
    Chart,
    color,
    data_of,
    legend_of,
    names_down,
    paint_order,
    shape,
    sized,
    tips,
    with_slots,
)
from pomona.report.names import rankers_of
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text

N_SHOWN = 15
"""Features in the chart."""

_INTRODUCTION = """
<p>The share of each feature in what a model does: of forests and stumps the gain of its splits, of weighted
sums its weight times its standard deviation. It tells what models use, not what they would lose: of two
features that say the same, one may have the share of both. What a ranking loses without a feature,
<code>pomona features</code> measures.</p>
"""


class ImportanceSection(Section):
    """The shares of features, ranker by ranker."""

    name = "importance"
    title = "What models look at"
    order = 62

    def overall(self, findings: Findings) -> Parts:
        if not findings.importance.is_empty():
            yield Html(_INTRODUCTION)

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        shown = leading(findings, dataset)
        n_features = findings.importance.filter(dataset=dataset)["feature"].n_unique()
        yield Figure(
            "importance",
            importance_chart(findings, dataset, shown[:N_SHOWN]),
            f"The {min(N_SHOWN, n_features)} features of {n_features} that have the largest shares, means "
            "over folds and seeds; lines go from the least to the largest.",
        )
        yield Numbers(importance_table(findings, dataset, shown), "The shares of all features")


def leading(findings: Findings, dataset: str) -> list[str]:
    """Every feature, the one with the largest mean share over rankers first."""
    shares = findings.importance.filter(dataset=dataset)
    total = shares.group_by("feature", maintain_order=True).agg(pl.col("share").sum())
    return [str(one) for one in total.sort("share", descending=True, maintain_order=True)["feature"]]


def importance_chart(findings: Findings, dataset: str, features: list[str]) -> Chart | None:
    """A point a ranker and feature."""
    shares = findings.importance.filter(pl.col("feature").is_in(features), dataset=dataset)
    told = set(shares["ranker"])
    rankers = [ranker for ranker in rankers_of(findings, dataset) if ranker in told]
    rows = paint_order(with_slots(findings, shares.filter(pl.col("ranker").is_in(rankers)).to_dicts()))
    if not rows:
        return None
    x = alt.X("share:Q", title="share", axis=alt.Axis(format="%", tickCount=6), scale=alt.Scale(domainMin=0))
    base = alt.Chart(data_of(rows)).encode(
        y=names_down("feature", features, grid=True),
        tooltip=tips(
            ranker="ranker",
            feature="feature",
            share=("share", ".1%"),
            low=("from", ".1%"),
            high=("to", ".1%"),
        ),
    )
    legend = legend_of(findings, rankers)
    chart = alt.layer(
        base.mark_rule(opacity=0.45).encode(x=alt.X("low:Q", title=""), x2="high:Q", color=color(legend)),
        base.mark_point(filled=True, size=55, opacity=0.9).encode(
            x=x, color=color(legend), shape=shape(legend)
        ),
    )
    first = max(rows, key=lambda row: float(row["share"]))
    return sized(
        chart,
        f"Shares of {len(features)} features in the models of {len(rankers)} rankers on {dataset}. Largest: "
        f"{first['feature']} in {first['ranker']}, {first['share']:.0%}.",
        height=max(60, 22 * len(features)),
    )


def importance_table(findings: Findings, dataset: str, features: list[str]) -> Table:
    """A row a feature, a column a ranker."""
    shares = findings.importance.filter(dataset=dataset)
    by_ranker = {
        str(ranker): dict(part.select("feature", "share").rows())
        for (ranker,), part in shares.group_by("ranker", maintain_order=True)
    }
    rankers = [ranker for ranker in rankers_of(findings, dataset) if ranker in by_ranker]
    rows = [
        {"feature": feature, **{f"share {one}": by_ranker[one].get(feature, 0.0) for one in rankers}}
        for feature in features
    ]
    columns = [
        text("Feature", "feature"),
        *(number(one, f"share {one}", lambda share: f"{100 * share:.1f} %") for one in rankers),
    ]
    return make_table("importance", f"Shares of the features on {dataset}", columns, rows)
