import pytest

import pomona as pm
from pomona.experiments.analysis.features import examine_features
from pomona.report.sections.feature_forest import FeatureForestSection, forest_table, interaction_table


@pytest.fixture(scope="module")
def found():
    data = pm.simulate(20, docs_per_query=10, n_features=6, seed=4)
    return examine_features(data, n_trees=4, n_shuffles=1, stages=("alone", "forest"))


def test_the_largest_drop_comes_first(found):
    drops = [row.cells[1].value for row in forest_table(found).rows]
    assert drops == sorted(drops, reverse=True)
    assert len(interaction_table(found).rows) == len(found.interactions)


def test_a_word_on_the_forest_and_nothing_without_one(found):
    introduction, *_ = FeatureForestSection().of_dataset({"d": found}, "d")
    assert "4 trees on 5\nfolds" in introduction.text
    found.forest_value = None
    assert list(FeatureForestSection().of_dataset({"d": found}, "d")) == []
