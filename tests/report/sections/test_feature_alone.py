import numpy as np
import polars as pl
import pytest

import pomona as pm
from pomona.experiments.analysis.features import examine_features
from pomona.report.sections.feature_alone import FeatureAloneSection, alone_bars, feature_table
from report.drawn import spec_of


@pytest.fixture(scope="module")
def found():
    data = pm.simulate(20, docs_per_query=10, n_features=6, seed=4)
    X = data.X.copy()
    X[:, 0] *= -1
    return examine_features(data.replace(X=X), top=4, stages=("alone", "information"))


def test_bars_of_the_best_with_their_directions(found):
    _, (bars, whiskers, at_random) = spec_of(alone_bars(found))
    assert [bar["feature"] for bar in bars] == found.features["feature"].head(4).to_list()
    assert {bar["label"].endswith("↓") for bar in bars if bar["way"] == "down"} == {True}
    assert bars == whiskers
    assert at_random[0]["random"] == pytest.approx(found.random, rel=1e-5)
    assert all(bar["low"] <= bar["alone"] <= bar["high"] for bar in bars)


def test_a_single_query_has_no_whisker():
    data = pm.simulate(1, docs_per_query=10, n_features=3, seed=4)
    _, (bars, *_) = spec_of(alone_bars(examine_features(data, stages=("alone",))))
    assert all(bar["low"] == bar["alone"] == bar["high"] for bar in bars)


def test_the_table_has_what_is_known(found):
    table = feature_table(found)
    titles = [column.title for column in table.columns]
    assert titles[0] == "Feature"
    assert "A" in titles
    assert "Gain share" not in titles
    assert len(table.rows) == 6


def test_before_anything_is_known():
    data = pm.Dataset(np.ones((3, 1)), [0, 1, 0], [1, 1, 2])
    nothing = examine_features(data, stages=())
    introduction, figure, _ = FeatureAloneSection().of_dataset({"d": nothing}, "d")
    assert "2 queries" in introduction.text
    assert figure.chart is None
    assert isinstance(nothing.features, pl.DataFrame)
