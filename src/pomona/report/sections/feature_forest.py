"""What does a forest use the features for, and which of them together?"""

from __future__ import annotations

from collections.abc import Mapping

from pomona.experiments.analysis.features import FeatureFindings
from pomona.report.digits import count, fixed, signed, significant
from pomona.report.section import Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text

_INTRODUCTION = """
<p>LambdaMART of {{ found.n_trees }} trees on {{ found.n_folds }}
{{ "fold" if found.n_folds == 1 else "folds" }} has {{ found.measure }} {{ value }} on the test queries. A
drop is how much of that is lost when the values of a feature are shuffled: <em>within</em> queries it loses
the order, <em>across</em> all queries also what it told of the query. Features that say the same share gain,
and each can be shuffled at little loss.</p>
"""


class FeatureForestSection(Section):
    """Gain, splits, drops and interactions."""

    name = "feature-forest"
    title = "In a forest"
    order = 30
    report = "features"

    def of_dataset(self, findings: Mapping[str, FeatureFindings], dataset: str) -> Parts:
        found = findings[dataset]
        if found.forest_value is None:
            return
        yield Html(_INTRODUCTION, found=found, value=fixed(found.forest_value))
        yield Numbers(
            forest_table(found),
            f"The {min(found.top, len(found.features))} with the largest drop within",
            is_open=True,
        )
        yield Numbers(interaction_table(found), "Pairs: splits on one feature below a split on another")


def forest_table(found: FeatureFindings) -> Table:
    """The features that a forest loses most by."""
    columns = [
        text("Feature", "feature"),
        number("Drop within", "drop_within", signed),
        number("Drop across", "drop_across", signed),
        number("Gain share", "gain_share"),
        number("Splits", "splits", count),
    ]
    rows = found.features.sort("drop_within", "number", descending=[True, False]).head(found.top).to_dicts()
    return make_table("features-in-forest", "Features in a forest", columns, rows)


def interaction_table(found: FeatureFindings) -> Table:
    """The pairs with the largest summed gain."""
    columns = [text("Above", "above"), text("Below", "below"), number("Summed gain", "gain", significant)]
    return make_table("feature-interactions", "Pairs of features", columns, found.interactions.to_dicts())
