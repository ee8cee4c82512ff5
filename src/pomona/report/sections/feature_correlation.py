"""Which of the best features say the same?"""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from pomona.experiments.analysis.features import FeatureFindings
from pomona.report.encoding import Chart, data_of, names_across, names_down, sized, tips
from pomona.report.section import Figure, Parts, Section


class FeatureCorrelationSection(Section):
    """|Spearman| of every two of the best features."""

    name = "feature-correlation"
    title = "What says the same"
    order = 40
    report = "features"

    def of_dataset(self, findings: Mapping[str, FeatureFindings], dataset: str) -> Parts:
        yield Figure(
            "feature-correlation",
            correlation_tiles(findings[dataset]),
            "Size of Spearman's correlation over all documents of every two of the best features; the "
            "stronger the colour, the more they say the same. In the order of average-linkage clustering.",
        )


def correlation_tiles(found: FeatureFindings) -> Chart | None:
    """A square of correlations, like features beside each other."""
    rows = found.correlation.to_dicts()
    order = list(dict.fromkeys(row["first"] for row in rows))
    if len(order) < 2:
        return None
    base = alt.Chart(data_of(rows)).encode(
        x=names_across("second", order, labelAngle=-90, domain=False, ticks=False),
        y=names_down("first", order, 140, grid=False),
    )
    strength = alt.Opacity("correlation:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None)
    tiles = base.mark_rect(style=["tile", "better"]).encode(
        opacity=strength,
        tooltip=tips(first="feature", second="and", correlation=("|Spearman|", ".3f")),
    )
    pairs = [row for row in rows if row["first"] != row["second"]]
    most = max(pairs, key=lambda row: float(row["correlation"]))
    return sized(
        tiles,
        f"Size of Spearman's correlation of every two of {len(order)} features. The largest is "
        f"{most['correlation']:.3f}, of {most['first']} and {most['second']}.",
        height=max(120, 19 * len(order)),
    )
