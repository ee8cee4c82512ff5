"""Which features tell of the labels, and which only tell queries apart?"""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from pomona.experiments.analysis.features import FeatureFindings
from pomona.report.digits import fixed
from pomona.report.encoding import FRONT_HEIGHT, Chart, labelled_points, scale_of, sized, tips
from pomona.report.section import Figure, Html, Parts, Section

N_LABELLED = 10

_INTRODUCTION = """
<p>The labels hold {{ entropy }} bits a document. A is the mean over the {{ found.pair_queries }} queries with
two different labels. A feature high up but near 0.5 tells which <em>queries</em> have relevant documents, and
ranks nothing; one below 0.5 ranks when it is reversed.</p>
"""


class FeatureInformationSection(Section):
    """Information gain against order inside queries."""

    name = "feature-information"
    title = "Information"
    order = 20
    report = "features"

    def of_dataset(self, findings: Mapping[str, FeatureFindings], dataset: str) -> Parts:
        found = findings[dataset]
        chart = information_points(found)
        if chart is None:
            return
        yield Html(_INTRODUCTION, found=found, entropy=fixed(found.label_entropy))
        yield Figure(
            "feature-information",
            chart,
            "Across: A, how often the better of two documents of a query has the higher value (0.5 is "
            "useless). Up: information gain over all documents, less what chance gives (Miller & Madow).",
        )


def information_points(found: FeatureFindings) -> Chart | None:
    """Information gain against A, a point a feature, the most telling of them named."""
    if "a" not in found.features.columns:
        return None
    known = [row for row in found.features.to_dicts() if row["a"] is not None]
    if not known:
        return None
    known.sort(key=lambda row: (-row["corrected_gain"], row["number"]))
    # Only the first have a name; the others tell theirs when they are pointed at.
    rows = [
        {
            **{name: row[name] for name in ("feature", "a", "corrected_gain", "constant")},
            "ranker": row["feature"] if place < N_LABELLED else "",
            "slot": "1" if place < N_LABELLED else "other",
        }
        for place, row in enumerate(known)
    ]
    numbers = {
        "a": ("A", ".4f"),
        "corrected_gain": ("bits", ".4f"),
        "constant": ("constant in queries", ".0%"),
    }
    chart = labelled_points(
        rows,
        [],
        alt.X("a:Q", title="A, order inside queries", scale=scale_of([0.5, *(row["a"] for row in rows)])),
        alt.Y(
            "corrected_gain:Q",
            title="information gain, bits",
            scale=scale_of([row["corrected_gain"] for row in rows]),
        ),
        tips(feature="feature", **numbers),
        "linear",
    )
    return sized(
        chart,
        f"Information gain against order inside queries of {len(rows)} features. The most telling is "
        f"{rows[0]['feature']} with {fixed(rows[0]['corrected_gain'])} bits and A {fixed(rows[0]['a'])}.",
        height=FRONT_HEIGHT,
    )
