import pomona as pm
from pomona.experiments.analysis.features import examine_features
from pomona.report.sections.feature_correlation import FeatureCorrelationSection, correlation_tiles
from report.drawn import spec_of


def test_a_square_of_tiles():
    data = pm.simulate(10, docs_per_query=10, n_features=6, seed=4)
    found = examine_features(data, top=4, stages=("alone", "correlation"))
    _, (tiles,) = spec_of(correlation_tiles(found))
    assert len(tiles) == 16
    assert {tile["first"] for tile in tiles} == set(found.features["feature"].head(4))
    (figure,) = FeatureCorrelationSection().of_dataset({"d": found}, "d")
    assert figure.chart is not None


def test_one_feature_has_nothing_to_correlate_with():
    found = examine_features(pm.Dataset([[1.0], [2.0]], [0, 1], [1, 1]), stages=("alone", "correlation"))
    assert correlation_tiles(found) is None
