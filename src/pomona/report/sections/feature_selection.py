"""How few features are enough?"""

from __future__ import annotations

from collections.abc import Mapping

from pomona.experiments.analysis.features import FeatureFindings
from pomona.report.curve import Axis, curves
from pomona.report.digits import count, fixed
from pomona.report.encoding import Chart
from pomona.report.section import Figure, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text

PARTS = {"valid": "validation queries", "test": "test queries"}


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
        {"n_features": step["n_features"], "feature": step["feature"], "series": name, "mean": step[part]}
        for step in steps
        for part, name in PARTS.items()
    ]
    best = max(steps, key=lambda step: float(step["test"]))
    return curves(
        rows,
        Axis("n_features", "number of features", "d"),
        list(PARTS.values()),
        (found.measure, ".4f"),
        f"{found.measure} of linear regression by the number of features chosen, on validation and on test "
        f"queries. On test queries {best['n_features']} features are best, with {fixed(best['test'])}.",
        about={"feature": "added"},
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
