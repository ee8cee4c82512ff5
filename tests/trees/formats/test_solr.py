import json
import warnings

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.trees.formats.format import ExportOptions
from pomona.trees.formats.layers import InputScale, Layers
from pomona.trees.formats.solr import Solr, before_slack
from pomona.trees.formats.weighted_sum import WeightedSum
from reference.engine import as_rows, solr_score

LIMITS = ("limit inf", "limit -inf")


def test_solr_gives_the_same_scores(forest, shape, names, rows):
    found = solr_score(Solr().content(forest, names), as_rows(rows, names), undefined=True)
    np.testing.assert_allclose(found, forest.score(rows), rtol=0, atol=1e-5)


def test_infinite_values_go_where_they_went(forest, names, infinite_rows):
    found = solr_score(Solr().content(forest, names), as_rows(infinite_rows, names), undefined=True)
    np.testing.assert_allclose(found, forest.score(infinite_rows), rtol=0, atol=1e-5)
    assert not np.isnan(before_slack(forest.threshold)[1]).any()


def test_before_9_2_nothing_is_undefined(forest, names, defined_rows):
    text = Solr(ExportOptions(engine_version="9.1")).content(forest, names)
    np.testing.assert_allclose(
        solr_score(text, as_rows(defined_rows, names)), forest.score(defined_rows), rtol=0, atol=1e-5
    )
    assert "missing" not in text


def test_the_slack_is_taken_off():
    thresholds = np.array([0.0, 0.1, -0.5, 3.0, 20.0, 1e6, -1e30], np.float32)
    written, error = before_slack(thresholds)
    assert (written + np.float32(1e-6)).tolist() == thresholds.tolist()
    assert not error.any()
    assert before_slack(np.array([1e-20], np.float32))[1][0] < 6e-14


def test_what_moves_is_said(forests):
    assert any("1 thresholds move" in note for note in Solr().notes(forests["limit 1e-40"]))
    assert not any("move" in note for note in Solr().notes(forests["limit 0.1"]))


def test_names_and_stores(forests):
    names = ["a b", 'say "x"', "größe", "c", "d", "e"]
    options = ExportOptions(model_name="mine", store="shop")
    model = json.loads(Solr(options).content(forests["lambdamart"], names))
    assert (model["name"], model["store"]) == ("mine", "shop")
    assert [feature["name"] for feature in model["features"]] == names
    with pytest.raises(InputError, match="two features"):
        Solr().content(forests["lambdamart"], ["a"] * 6)


def test_weighted_sums_and_networks(names, defined_rows):
    model = WeightedSum(np.array([2, 0]), np.array([0.5, -1.0]), 6)
    found = solr_score(Solr().content(model, names), as_rows(defined_rows, names))
    np.testing.assert_allclose(found, model.score(defined_rows), rtol=0, atol=1e-5)
    random = np.random.default_rng(0)
    scale = InputScale(random.normal(size=6), np.array([1.0, 2.0, 0.0, 0.5, 1.0, 1.0]), False, 1e9)
    parts = (random.normal(size=(6, 3)), random.normal(size=(3, 1))), (random.normal(size=3), np.ones(1))
    for kinds in (("relu", "identity"), ("tanh", "sigmoid")):
        network = Layers(*parts, kinds, scale)
        found = solr_score(Solr().content(network, names), as_rows(defined_rows, names))
        np.testing.assert_allclose(found, network.score(defined_rows), rtol=0, atol=1e-4)
    with pytest.raises(InputError, match="log_features=False"):
        Solr().content(Layers(*parts, kinds, InputScale(scale.mean, scale.inverse, True, 10.0)), names)


def test_solrs_own_network():
    """`TestNeuralNetworkModel`: zeros give 735, ones 2093."""
    layers = Layers(
        (np.arange(1.0, 13).reshape(3, 4).T, np.array([[16.0], [17.0], [18.0]])),
        (np.array([13.0, 14.0, 15.0]), np.array([19.0])),
        ("relu", "relu"),
    )
    names = list("abcd")
    text = Solr().content(layers, names)
    assert solr_score(text, [dict.fromkeys(names, 0.0), dict.fromkeys(names, 1.0)]) == [735.0, 2093.0]


def test_a_trained_network():
    data = pm.simulate(20, docs_per_query=8, n_features=5, seed=1)
    ranker = pm.RankNet(n_epochs=2, log_features=False, hidden=8).fit(data)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        text = ranker.exported("solr")
    assert any("deviations" in str(note.message) for note in notes)
    found = solr_score(text, as_rows(data.X, ranker.feature_names_))
    np.testing.assert_allclose(found, ranker.predict(data), rtol=0, atol=1e-3)
