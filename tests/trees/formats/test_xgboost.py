import json

import numpy as np
import pytest
import xgboost

import pomona as pm
from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.formats.xgboost import XGBoost, below
from pomona.trees.readers.xgboost_json import XGBoostJson


def read(text):
    booster = xgboost.Booster()
    booster.load_model(bytearray(text.encode()))
    return booster


def test_xgboost_gives_the_same_scores(forest, names, rows):
    booster = read(XGBoost().write(forest, names))
    found = booster.predict(xgboost.DMatrix(rows, feature_names=names), output_margin=True)
    np.testing.assert_allclose(found, forest.score(rows), rtol=0, atol=1e-5)


def test_treelite_gives_the_same_scores(forest, names, rows, tmp_path):
    treelite = pytest.importorskip("treelite")
    (tmp_path / "m.json").write_text(XGBoost().write(forest, names))
    model = treelite.frontend.load_xgboost_model(tmp_path / "m.json")
    found = treelite.gtil.predict(model, rows.astype(np.float32), nthread=1, pred_margin=True)
    np.testing.assert_allclose(found.ravel(), forest.score(rows), rtol=0, atol=1e-5)


def test_infinite_values_go_where_they_went(forest, names, infinite_rows, tmp_path):
    """XGBoost itself takes none; Treelite does."""
    treelite = pytest.importorskip("treelite")
    (tmp_path / "m.json").write_text(XGBoost().write(forest, names))
    model = treelite.frontend.load_xgboost_model(tmp_path / "m.json")
    found = treelite.gtil.predict(model, infinite_rows, nthread=1, pred_margin=True)
    np.testing.assert_allclose(found.ravel(), forest.score(infinite_rows), rtol=0, atol=1e-5)


def test_what_float32_cannot_hold_is_refused(forests, names):
    with pytest.raises(InputError, match="too large for float32"):
        XGBoost().write(forests["lambdamart"].scaled(1e300), names)


def test_names_that_xgboost_cannot_read_are_left_out(forests, rows):
    booster = read(XGBoost().write(forests["lambdamart"], ["a b", "a b", "[c]", "d=1", "é", ""]))
    found = booster.predict(xgboost.DMatrix(rows), output_margin=True)
    np.testing.assert_allclose(found, forests["lambdamart"].score(rows), rtol=0, atol=1e-5)


def test_below_the_next_number_is_not_above_this_one():
    split = [0], [0.1], [True], [~0], [~1], [1.0]
    stump = below(Forest(*split, node_ptr=[0, 1], value=[1.0, 2.0], leaf_ptr=[0, 2], n_features=1))
    assert stump.threshold[0] > np.float32(0.1)
    assert np.nextafter(stump.threshold[0], np.float32(0)) == np.float32(0.1)


def test_shap_values_on_an_export_are_those_of_the_model():
    random = np.random.default_rng(3)
    X = random.random((400, 5)).astype(np.float32)
    rows = xgboost.DMatrix(X, X[:, 0] + X[:, 2] ** 2)
    booster = xgboost.train(
        {"objective": "binary:logitraw", "max_depth": 4}, xgboost.DMatrix(X, X[:, 0] > 0.4), 10
    )
    trained = XGBoostJson().read(json.loads(booster.save_raw("json"))).model
    again = xgboost.Booster(model_file=bytearray(XGBoost().write(trained, []).encode()))
    expected = booster.predict(rows, pred_contribs=True)
    np.testing.assert_allclose(again.predict(rows, pred_contribs=True), expected, atol=1e-5)


@pytest.mark.filterwarnings("ignore:scores are float32")
def test_covers_are_sums_of_second_derivatives():
    data = pm.simulate(30, docs_per_query=20, n_features=6, seed=3)
    ranker = pm.LambdaMART(n_trees=8, n_leaves=7).fit(data)
    booster = xgboost.Booster(model_file=bytearray(ranker.exported("xgboost").encode()))
    rows = xgboost.DMatrix(data.X, feature_names=booster.feature_names)
    shares = booster.predict(rows, pred_contribs=True)
    np.testing.assert_allclose(shares.sum(axis=1), ranker.predict(data), atol=1e-5)
    trees, forest = booster.trees_to_dataframe(), ranker.model_
    roots = trees[trees["Node"] == 0]["Cover"]
    np.testing.assert_allclose(roots, np.add.reduceat(forest.leaf_weight, forest.leaf_ptr[:-1]), rtol=1e-5)
