"""What do the features do in this model?"""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from pomona.experiments.analysis.feature_importance import FeatureImportance
from pomona.report.digits import count, fixed, signed
from pomona.report.encoding import Chart, Rows, data_of, names_down, sized, tips
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text, with_interval

N_SHOWN = 30


class FeatureImportanceSection(Section):
    """Bars of the features that the model loses most by, and the table of all."""

    name = "feature-importance"
    title = "Shuffled"
    order = 10
    report = "importance"

    def of_dataset(self, findings: Mapping[str, FeatureImportance], dataset: str) -> Parts:
        found = findings[dataset]
        yield Html(
            "<p>{{ n }} queries; with all features as they are, {{ measure }} is {{ value }}.</p>",
            n=found.n_queries,
            measure=found.measure,
            value=fixed(found.value),
        )
        yield Figure(
            "feature-importance",
            loss_bars(found),
            f"How much mean {found.measure} falls when a feature’s values are shuffled inside each query; "
            "whiskers: 95 % bootstrap interval over queries. Features that say the same cover for each "
            "other: a group of them loses more than its features one by one.",
        )
        yield Numbers(importance_table(found), "Every feature, shuffled inside queries and across all")


def loss_bars(found: FeatureImportance) -> Chart | None:
    """The features with the largest losses, with their intervals."""
    rows: Rows = [
        {**row, **{end: row[end if row[end] is not None else "within"] for end in ("low", "high")}}
        for row in found.table.head(N_SHOWN).to_dicts()  # a single query has no interval
    ]
    if not rows:
        return None
    order = [row["feature"] for row in rows]
    shown = {"within": "loss", "low": "from", "high": "to", "across": "across queries"}
    numbers = {name: (title, "+.4f") for name, title in shown.items()}
    base = alt.Chart(data_of(rows)).encode(
        y=names_down("feature", order, 200, grid=False), tooltip=tips(feature="feature", **numbers)
    )
    chart = alt.layer(
        base.mark_bar(height={"band": 0.7}, opacity=0.6).encode(
            x=alt.X("within:Q", title=f"loss of {found.measure}", scale=alt.Scale(zero=True))
        ),
        base.mark_rule(style="zero").encode(x="low:Q", x2="high:Q"),
    )
    best = rows[0]
    return sized(
        chart,
        f"Loss of {found.measure} by each of {len(rows)} features, with its interval. The largest is of "
        f"{best['feature']} with {fixed(best['within'])}.",
        height=max(60, 19 * len(order)),
    )


def importance_table(found: FeatureImportance) -> Table:
    """All that is known of every feature and group."""
    columns = [
        text("Feature", "feature"),
        number("Features", "n_features", count),
        with_interval("Within queries", "within", signed),
        number("Across queries", "across", signed),
        number("from", "across_low", signed),
        number("to", "across_high", signed),
        number("One by one", "separate", signed),
    ]
    return make_table("importance", "Loss by shuffling", columns, found.table.to_dicts())
