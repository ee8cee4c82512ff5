"""Where does the variance of a measure come from: queries, folds, seeds, or none of these?"""

from __future__ import annotations

import altair as alt

from pomona.experiments.findings import Findings
from pomona.report.encoding import Chart, data_of, names_down, sized, tips
from pomona.report.names import measure_title, rankers_of
from pomona.report.section import Figure, Numbers, Parts, Section
from pomona.report.table import Table, make_table, measured, rounded, text

_SOURCES = ("queries", "folds", "seeds", "residual")


class VarianceSection(Section):
    """Shares of the variance by their source."""

    name = "variance"
    title = "Variance"
    order = 80

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        yield Figure(
            "variance",
            variance_shares(findings, dataset),
            f"Where the variance of {measure_title(findings.main)} comes from. A large share of folds or "
            "seeds asks for more of them.",
        )
        yield Numbers(variance_table(findings, dataset), "The shares, of every measure")


def variance_shares(findings: Findings, dataset: str) -> Chart | None:
    """Where the spread of the main measure comes from: queries, folds, seeds, or none of these."""
    order = rankers_of(findings, dataset)
    rows = [
        {"ranker": row["ranker"], "source": source, "order": i, "share": row[source]}
        for row in findings.variance.filter(dataset=dataset, measure=findings.main).iter_rows(named=True)
        for i, source in enumerate(_SOURCES)
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
            y=names_down("ranker", order),
            color=alt.Color(
                "source:N",
                scale=alt.Scale(domain=list(_SOURCES), range="ordinal"),
                legend=alt.Legend(title=None, orient="top"),
            ),
            order="order:Q",
            tooltip=tips(ranker="ranker", source="source", share=("share", ".1%")),
        )
    )
    best = ", ".join(f"{row['source']} {row['share']:.0%}" for row in rows if row["ranker"] == order[0])
    return sized(
        chart,
        f"Shares of the variance of {measure_title(findings.main)} on {dataset} by ranker. "
        f"{order[0]}: {best}.",
        height=max(60, 22 * len(order)),
    )


def variance_table(findings: Findings, dataset: str) -> Table:
    """Shares of the variance of every measure by its source."""
    columns = [
        text("Ranker", "ranker"),
        measured(),
        *(rounded(source, source, 3) for source in _SOURCES),
    ]
    rows = findings.variance.filter(dataset=dataset).to_dicts()
    return make_table("variance", f"Shares of the variance on {dataset}", columns, rows)
