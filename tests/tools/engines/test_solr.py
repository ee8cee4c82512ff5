import json

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.tools.engines.engine import engine_named
from reference.engine import as_rows, solr_score


def leaf(value):
    return {"value": str(value)}


def split(feature, threshold, left, right, **more):
    return {"feature": feature, "threshold": str(threshold), "left": left, "right": right, **more}


def model(trees, **parameters):
    features = [{"name": "m"}, {"name": "c"}, {"name": "d"}]
    return json.dumps(
        {
            "class": "x.MultipleAdditiveTreesModel",
            "features": features,
            "params": {"trees": trees, **parameters},
        }
    )


def test_solrs_own_figures():
    """`multipleadditivetreesmodel.json`: m = 0 gives −120, m = 1 gives 30, with c = 1."""
    first = split("m", 0.5, leaf(-100), split("c", 10, leaf(50), leaf(75)))
    text = model([{"weight": "1", "root": first}, {"weight": "2", "root": leaf(-10)}])
    served = engine_named("solr-9.1").read(text, ["m", "c", "d"])
    assert served.score(np.array([[0, 1, 0], [1, 1, 0]], np.float32)).tolist() == [-120.0, 30.0]


def test_solrs_own_missing_branch():
    """`multipleadditivetreesmodel_with_missing_branch.json`: a third feature that is undefined gives 30."""
    third = split("d", "0f", leaf(50), leaf(65), missing="left")
    second = split("c", "10.0f", third, leaf(75), missing="left")
    first = split("m", "0.5f", leaf(-100), second, missing="right")
    trees = [{"weight": "1f", "root": first}, {"weight": "2f", "root": leaf(-10)}]
    X = np.array([[1, 1, np.nan], [1, 1, 1]], np.float32)
    for parameters in ({}, {"isNullSameAsZero": False}):
        served = engine_named("solr").read(model(trees, **parameters), ["m", "c", "d"])
        assert served.score(X).tolist() == [30.0, 45.0]
    del third["missing"]
    with pytest.raises(InputError, match="'d' is undefined: a split does not say `missing`"):
        engine_named("solr").read(model(trees, isNullSameAsZero=False), ["m", "c", "d"])


def test_solrs_own_network():
    """`TestNeuralNetworkModel`: zeros give 735, ones 2093."""
    layers = [
        {
            "matrix": np.arange(1.0, 13).reshape(3, 4).tolist(),
            "bias": [13.0, 14.0, 15.0],
            "activation": "relu",
        },
        {"matrix": [[16.0, 17.0, 18.0]], "bias": [19.0], "activation": "relu"},
    ]
    features = [{"name": name} for name in "abcd"]
    text = {"class": "x.NeuralNetworkModel", "features": features, "params": {"layers": layers}}
    served = engine_named("solr").read(json.dumps(text), list("abcd"))
    assert served.score(np.array([[0] * 4, [1] * 4], np.float32)).tolist() == [735.0, 2093.0]


def test_solrs_own_normalizers():
    """MinMax 0 to 50: −5 → −0.1, 55 → 1.1; Standard 42, 6: 39 → −0.5."""
    norms = [
        ("MinMax", {"min": "0", "max": "50.0f"}),
        ("Standard", {"avg": "42", "std": "6"}),
        ("Identity", {}),
    ]
    features = [
        {"name": name, "norm": {"class": f"org.apache.solr.ltr.norm.{kind}Normalizer", "params": parameters}}
        for name, (kind, parameters) in zip("abc", norms, strict=True)
    ]
    X = np.array([[-5, 39, 7], [55, 39, 7]], np.float32)
    for j, expected in enumerate(([-0.1, 1.1], [-0.5, -0.5], [7, 7])):
        weights = {name: float(place == j) for place, name in enumerate("abc")}
        text = {"class": "x.LinearModel", "features": features, "params": {"weights": weights}}
        found = engine_named("solr").read(json.dumps(text), list("abc")).score(X)
        assert found.tolist() == [float(np.float32(one)) for one in expected]
    features[0]["norm"]["class"] = "x.LogNormalizer"
    with pytest.raises(InputError, match="no normalizer 'LogNormalizer'"):
        engine_named("solr").read(json.dumps(text), list("abc"))


def test_the_slack_and_undefined_values():
    text = model(
        [{"weight": "1", "root": split("m", 0.0, leaf(1), leaf(2), missing="right")}], isNullSameAsZero=False
    )
    served = engine_named("solr").read(text, ["m", "c", "d"])
    assert served.score(np.array([[9e-7, 0, 0], [2e-6, 0, 0], [np.nan, 0, 0]], np.float32)).tolist() == [
        1.0,
        2.0,
        2.0,
    ]
    with pytest.raises(InputError, match=r"before 9\.2"):
        engine_named("solr-9.1").read(text, ["m", "c", "d"])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_as_the_plain_reader():
    data = pm.simulate(20, docs_per_query=8, n_features=5, seed=1)
    for ranker, tolerance in (
        (pm.LambdaMART(n_trees=20, min_docs=3), 0),
        (pm.LinearRegression(normalize=None), 0),
        (pm.LinearRegression(normalize="global-standard"), 0),
        (pm.RankNet(n_epochs=1, log_features=False, hidden=4), 1e-6),
    ):
        text = ranker.fit(data).exported("solr")
        found = engine_named("solr").read(text, ranker.feature_names_).score(data.X)
        rows = as_rows(data.X, ranker.feature_names_)
        expected = solr_score(text, rows, undefined=isinstance(ranker, pm.LambdaMART))
        np.testing.assert_allclose(found, expected, rtol=tolerance)
