import pomona as pm
from pomona.experiments.analysis.features import examine_features
from pomona.report.sections.feature_selection import (
    FeatureSelectionSection,
    selection_curves,
    selection_table,
)
from report.drawn import spec_of


def test_two_curves_of_as_many_points_as_steps():
    data = pm.simulate(20, docs_per_query=10, n_features=4, seed=4)
    found = examine_features(data, stages=("selection",))
    _, (lines, points) = spec_of(selection_curves(found))
    assert lines == points
    assert [(row["n_features"], row["series"]) for row in lines[:3]] == [
        (1, "validation queries"),
        (1, "test queries"),
        (2, "validation queries"),
    ]
    assert len(selection_table(found).rows) == 4
    assert len(list(FeatureSelectionSection().of_dataset({"d": found}, "d"))) == 2


def test_no_curve_without_a_selection():
    found = examine_features(pm.Dataset([[1.0], [2.0]], [0, 1], [1, 1]), stages=("alone", "selection"))
    assert selection_curves(found) is None
