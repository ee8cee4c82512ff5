"""How few features are enough?"""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from pomona.experiments.analysis.features import FeatureFindings
from pomona.report.digits import count, fixed
from pomona.report.encoding import Chart, data_of, sized, tips
from pomona.report.section import Figure, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text
from pomona.report.theme import DASHES, SHAPES, SLOTS

PARTS = ("valid", "test")


class FeatureSelectionSection(Section):
    """Forward selection with linear regression."""

    name = "feature-selection"
    title = "Together"
    order = 50
    report = "features"

    def of_dataset(self, findings: Mapping[str, FeatureFindings], dataset: str) -> Parts:
        found = findings[dataset]
        yield Figure(
            "feature-selection",
            selection_curves(found),
            f"Mean {found.measure} over folds of linear regression on the features chosen so far. Each fold "
            "adds the feature that does best on its validation queries, so that their curve flatters; the "
            "test queries have no part in the choice.",
        )
        yield Numbers(selection_table(found), "What was chosen")


def selection_curves(found: FeatureFindings) -> Chart | None:
    """The measure by the number of features, on validation and on test queries."""
    steps = found.selection_means.to_dicts()
    if not steps:
        return None
    rows = [
        {"n_features": step["n_features"], "feature": step["feature"], "part": part, "value": step[part]}
        for step in steps
        for part in PARTS
    ]
    legend = alt.Legend(
        title=None,
        orient="top",
        labelExpr="datum.label == 'valid' ? 'validation queries' : 'test queries'",
        values=list(PARTS),
    )
    n = len(PARTS)
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("n_features:Q", title="number of features", axis=alt.Axis(format="d", tickMinStep=1)),
        y=alt.Y("value:Q", title=found.measure, scale=alt.Scale(zero=False)),
        color=alt.Color(
            "part:N", scale=alt.Scale(domain=[*PARTS, *SLOTS[n:]], range="category"), legend=legend
        ),
        tooltip=tips(
            n_features=("features", "d"), feature="added", part="part", value=(found.measure, ".4f")
        ),
    )
    dashes = alt.Scale(domain=list(PARTS), range=list(DASHES[:n]))
    shapes = alt.Scale(domain=list(PARTS), range=list(SHAPES[:n]))
    chart = alt.layer(
        base.mark_line(strokeWidth=2).encode(strokeDash=alt.StrokeDash("part:N", scale=dashes, legend=None)),
        base.mark_point(filled=True, size=46, opacity=1).encode(
            shape=alt.Shape("part:N", scale=shapes, legend=None)
        ),
    )
    best = max(steps, key=lambda step: float(step["test"]))
    return sized(
        chart,
        f"{found.measure} of linear regression by the number of features chosen, on validation and on test "
        f"queries. On test queries {best['n_features']} features are best, with {fixed(best['test'])}.",
        height=260,
    )


def selection_table(found: FeatureFindings) -> Table:
    """The steps, with the features that the folds chose."""
    columns = [
        number("Features", "n_features", count),
        text("Added (by folds)", "feature"),
        number("Validation", "valid"),
        number("Test", "test"),
    ]
    return make_table("feature-selection", "Forward selection", columns, found.selection_means.to_dicts())
