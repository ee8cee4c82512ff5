import pytest

import pomona as pm
from pomona.experiments.analysis.features import examine_features
from pomona.report.sections.feature_information import (
    N_LABELLED,
    FeatureInformationSection,
    information_points,
)
from report.drawn import spec_of


@pytest.fixture(scope="module")
def found():
    data = pm.simulate(20, docs_per_query=10, n_features=15, seed=4)
    return examine_features(data, stages=("alone", "information"))


def test_the_most_telling_are_named(found):
    _, (_, points, *_) = spec_of(information_points(found))
    assert len(points) == 15
    named = {point["ranker"] for point in points} - {""}
    best = found.features.sort("corrected_gain", descending=True)["feature"].head(N_LABELLED)
    assert named == set(best)


def test_without_pairs_nothing_is_drawn():
    data = pm.Dataset([[1.0], [2.0]], [1, 1], [1, 2])
    alike = examine_features(data, stages=("alone", "information"))
    assert information_points(alike) is None
    assert list(FeatureInformationSection().of_dataset({"d": alike}, "d")) == []
