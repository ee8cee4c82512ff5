"""Which features rank well by themselves?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from pomona.experiments.analysis.features import FeatureFindings
from pomona.report.digits import count, fixed, signed
from pomona.report.encoding import Chart, Rows, data_of, names_down, sized, tips
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text
from pomona.report.theme import SLOTS

DIRECTIONS = {"up": "highest value first", "down": "lowest value first"}

_INTRODUCTION = """
<p>{{ found.n_queries }} queries, {{ found.n_docs }} documents, {{ found.features | length }} features.
{% if found.random is not none %}A random order has {{ found.measure }} {{ random }}.{% endif %}</p>
{% for note in found.notes %}<p>{{ note[0] | upper }}{{ note[1:] }}.</p>{% endfor %}
"""


class FeatureAloneSection(Section):
    """Bars of the best features, and the table of all."""

    name = "feature-alone"
    title = "Alone"
    order = 10
    report = "features"

    def of_dataset(self, findings: Mapping[str, FeatureFindings], dataset: str) -> Parts:
        found = findings[dataset]
        yield Html(_INTRODUCTION, found=found, random=fixed(found.random))
        yield Figure(
            "features-alone",
            alone_bars(found),
            f"Mean {found.measure} when documents are ranked by one feature, in the better of both "
            "directions; whiskers: 95 % bootstrap interval over queries. Dashed: a random order. Ties are "
            "judged by their expectation.",
        )
        yield Numbers(feature_table(found), "Every number of every feature")


def alone_bars(found: FeatureFindings) -> Chart | None:
    """The best features with their intervals, beside a random order."""
    if "alone" not in found.features.columns:
        return None
    rows: Rows = []
    for row in found.features.head(found.top).to_dicts():
        # A single query has no interval: its whisker has no length.
        low, high = (row["alone"] if row[end] is None else row[end] for end in ("low", "high"))
        turned = "" if row["direction"] == "up" else " ↓"
        rows.append(
            {**row, "label": row["feature"] + turned, "way": row["direction"], "low": low, "high": high}
        )
    order = list(dict.fromkeys(row["label"] for row in rows))
    ways = [way for way in DIRECTIONS if any(row["way"] == way for row in rows)]
    legend = alt.Legend(
        title=None,
        orient="top",
        values=ways,
        labelExpr="datum.label == 'up' ? 'highest value first' : 'lowest value first (↓)'",
    )
    scale = alt.Scale(domain=["up", "down", *SLOTS[2:]], range="category")
    numbers = {
        name: (title, ".4f") for name, title in (("alone", found.measure), ("low", "from"), ("high", "to"))
    }
    base = alt.Chart(data_of(rows)).encode(
        y=names_down("label", order, 200, grid=False),
        tooltip=tips(feature="feature", direction="direction", **numbers),
    )
    at_random = alt.Chart(data_of([{"random": found.random}]))
    chart = alt.layer(
        base.mark_bar(height={"band": 0.7}, opacity=0.6).encode(
            x=alt.X("alone:Q", title=found.measure, scale=alt.Scale(zero=True)),
            color=alt.Color("way:N", scale=scale, legend=legend),
        ),
        base.mark_rule(style="zero").encode(x="low:Q", x2="high:Q"),
        at_random.mark_rule(style="front").encode(x="random:Q"),
    )
    best = rows[0]
    return sized(
        chart,
        f"Mean {found.measure} of each of the {len(rows)} best features alone, with its interval. The best "
        f"is {best['feature']} with {fixed(best['alone'])}; a random order has {fixed(found.random)}.",
        height=max(60, 19 * len(order)),
    )


def feature_table(found: FeatureFindings) -> Table:
    """All that is known of every feature."""
    shown: dict[str, Any] = {
        "number": ("No.", count),
        "alone": ("Alone", fixed),
        "low": ("from", fixed),
        "high": ("to", fixed),
        "up": ("Up", fixed),
        "down": ("Down", fixed),
        "information_gain": ("IG (bits)", fixed),
        "corrected_gain": ("IG corrected", fixed),
        "gain_ratio": ("Gain ratio", fixed),
        "symmetric_uncertainty": ("Symm. uncertainty", fixed),
        "a": ("A", fixed),
        "gain_share": ("Gain share", fixed),
        "splits": ("Splits", count),
        "drop_within": ("Drop within", signed),
        "drop_across": ("Drop across", signed),
        "distinct": ("Distinct", count),
        "undefined": ("Undefined", fixed),
        "constant": ("Constant", fixed),
    }
    columns = [text("Feature", "feature")]
    columns += [
        number(title, key, form) for key, (title, form) in shown.items() if key in found.features.columns
    ]
    return make_table("features", "Every feature, the best alone first", columns, found.features.to_dicts())
