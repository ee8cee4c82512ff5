"""What made the scores of the whole list?"""

from __future__ import annotations

import altair as alt
import polars as pl

from pomona.experiments.analysis.explain import ExplainedQuery
from pomona.report.digits import count, fixed, signed
from pomona.report.encoding import Chart, Rows, data_of, names_across, names_down, sized, tips
from pomona.report.section import Figure, Numbers, Parts, Section
from pomona.report.sections.explain_pair import in_words
from pomona.report.table import Table, make_table, number, text

MOST_DOCUMENTS = 20
MOST_FEATURES = 12


class ExplainListSection(Section):
    """The documents of the list, and what the most important features add to each."""

    name = "explain-list"
    title = "The whole list"
    order = 20
    report = "explain"

    def overall(self, findings: ExplainedQuery) -> Parts:
        yield Figure(
            "list",
            contribution_grid(findings),
            f"What each feature adds to the score of a document ({fixed(findings.expected)} is expected of "
            "any). Up: it adds, down: it takes; the larger, the more.",
        )
        yield Numbers(document_table(findings), "The documents", is_open=True)


def contribution_grid(findings: ExplainedQuery) -> Chart | None:
    """A row a document, by rank; a column a feature; triangles of the size of what it adds."""
    chosen = findings.documents.head(MOST_DOCUMENTS)
    inside = findings.contributions.filter(pl.col("document").is_in(chosen["document"].to_list()))
    total = inside.group_by("feature").agg(pl.col("contribution").abs().sum().alias("total"))
    features = (
        total.sort("total", "feature", descending=[True, False])["feature"].head(MOST_FEATURES).to_list()
    )
    if not features:
        return None
    names = {row["document"]: f"{row['rank']}. {row['document']}" for row in chosen.to_dicts()}
    rows: Rows = [
        {
            "name": names[row["document"]],
            "feature": row["feature"],
            "value": in_words(row["value"], 6),
            "contribution": row["contribution"],
            "size": abs(row["contribution"]),
        }
        for row in inside.filter(pl.col("feature").is_in(features)).to_dicts()
    ]
    size = alt.Size("size:Q", scale=alt.Scale(range=[0, 260]), legend=None)
    base = alt.Chart(data_of(rows)).encode(
        x=names_across("feature", features, 120, grid=False),
        y=names_down("name", list(names.values()), 220, grid=True),
        size=size,
        tooltip=tips(name="document", feature="feature", value="value", contribution=("adds", "+.4f")),
    )
    chart = alt.layer(
        base.transform_filter("datum.contribution > 0").mark_point(
            style="better", shape="triangle-up", filled=True, opacity=0.9
        ),
        base.transform_filter("datum.contribution < 0").mark_point(
            style="worse", shape="triangle-down", filled=True, opacity=0.9
        ),
    )
    left = len(findings.documents) - len(chosen)
    return sized(
        chart,
        f"What the features add to the scores of the documents of query {findings.query}.",
        height=26 * len(names),
        note=f"{left} documents further down are not shown" if left else "",
    )


def document_table(findings: ExplainedQuery) -> Table:
    """Every document with its score, and what added and took most."""
    rows = []
    for row in findings.documents.to_dicts():
        own = findings.contributions.filter(document=row["document"]).sort("contribution", descending=True)
        ends = own.rows(named=True)[:1], own.rows(named=True)[-1:]
        rows.append(
            {
                **row,
                "adds": next((_part(one) for one in ends[0] if one["contribution"] > 0), None),
                "takes": next((_part(one) for one in ends[1] if one["contribution"] < 0), None),
            }
        )
    columns = [
        text("Document", "document"),
        number("Rank", "rank", count),
        number("Label", "label", lambda label: f"{label:g}"),
        number("Score", "score"),
        text("Adds most", "adds"),
        text("Takes most", "takes"),
        *([number("Not explained", "gap", signed)] if findings.method == "gradient" else []),
    ]
    return make_table("documents", f"The documents of query {findings.query}", columns, rows)


def _part(row: dict[str, object]) -> str:
    return f"{row['feature']} {signed(float(str(row['contribution'])))}"
