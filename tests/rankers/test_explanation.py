import copy
from dataclasses import replace

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError, UnknownNameError
from pomona.rankers.explanation import counts_training


@pytest.fixture(scope="module")
def data():
    return pm.simulate(30, docs_per_query=10, n_features=4, seed=2)


@pytest.mark.parametrize("method", ["path", "interventional"])
def test_a_forest_adds_up(data, method):
    ranker = pm.LambdaMART(n_trees=5, n_leaves=7, min_docs=3).fit(data)
    found = ranker.explain(data, method=method)
    assert found.method == method
    assert np.abs(found.gap).max() < 1e-12
    assert found.expected == pytest.approx(
        found.scores.mean(), abs=0.05 if method == "interventional" else 1e-9
    )


def test_without_a_background_the_training_documents_count(data):
    ranker = pm.LambdaMART(n_trees=5, n_leaves=7, min_docs=3).fit(data)
    some = data.take([1])
    alone, beside = ranker.explain(some), ranker.explain(some, background=data)
    np.testing.assert_allclose(alone.values, beside.values, atol=1e-12)
    assert alone.expected == pytest.approx(beside.expected)
    forgetful = copy.deepcopy(ranker)
    forgetful.models_ = [replace(ranker.model_, leaf_count=None, leaf_weight=None)]
    own = forgetful.explain(some)
    np.testing.assert_allclose(own.values, ranker.explain(some, background=some).values, atol=1e-12)
    assert own.expected == pytest.approx(own.scores.mean())
    assert (counts_training(ranker, None), counts_training(forgetful, None)) == (True, False)
    assert not counts_training(ranker, "interventional")


def test_imported_forests_are_explained_as_their_libraries_do(data):
    """A few documents, none of which any library needs to see the others of."""
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    catboost = pytest.importorskip("catboost")
    X, some = data.X.astype(float), data.take([0])
    of_lightgbm = lightgbm.LGBMRanker(n_estimators=20, num_leaves=9, min_child_samples=5, verbose=-1)
    of_lightgbm.fit(X, data.y, group=np.diff(data.query_ptr))
    of_xgboost = xgboost.train({"objective": "rank:ndcg"}, xgboost.DMatrix(X, data.y, qid=data.qid), 9)
    of_catboost = catboost.CatBoost({"iterations": 9, "depth": 3, "verbose": 0, "allow_writing_files": False})
    of_catboost.fit(X, data.y)
    for model, expected, tolerance in (
        (of_lightgbm, of_lightgbm.predict(some.X.astype(float), pred_contrib=True), 1e-9),
        (of_xgboost, of_xgboost.predict(xgboost.DMatrix(some.X), pred_contribs=True), 1e-5),
        (of_catboost, of_catboost.get_feature_importance(catboost.Pool(some.X), "ShapValues"), 1e-5),
    ):
        found = pm.from_model(model).explain(some)
        assert np.abs(found.values).max() > 0.01
        np.testing.assert_allclose(found.values, expected[:, :-1], rtol=0, atol=tolerance)
        np.testing.assert_allclose(found.expected, expected[0, -1], rtol=0, atol=tolerance)


def test_a_sum_is_its_weights(data):
    ranker = pm.LinearRegression(normalize=None).fit(data)
    found = ranker.explain(data)
    X = data.X.astype(float)
    assert found.values == pytest.approx((X - X.mean(axis=0)) * ranker.coef_, abs=1e-6)
    assert np.abs(found.gap).max() < 1e-9
    assert np.abs(pm.LinearRegression().fit(data).explain(data).gap).max() < 1e-9


def test_rows_in_any_order(data):
    ranker = pm.LambdaMART(n_trees=5, n_leaves=7, min_docs=3).fit(data)
    order = np.random.default_rng(0).permutation(data.n_docs)
    rows = [data.to_input_order(array)[order] for array in (data.X, data.y, data.qid)]
    moved = ranker.explain(pm.Dataset(*rows), background=data)
    plain = ranker.explain(data)
    assert moved.values == pytest.approx(plain.values[order], abs=1e-12)
    assert moved.scores == pytest.approx(plain.scores[order], abs=0)


def test_a_background_of_its_own(data):
    ranker = pm.LambdaMART(n_trees=5, n_leaves=7, min_docs=3).fit(data)
    some = data.take(range(5))
    found = ranker.explain(data, background=some, method="interventional")
    assert found.expected == pytest.approx(ranker.predict(some).mean())


def test_reordered_columns(data):
    named = data.replace(feature_names=list("abcd"))
    ranker = pm.LambdaMART(n_trees=3, min_docs=3).fit(named)
    turned = pm.Dataset(
        *(named.to_input_order(array) for array in (named.X[:, ::-1], named.y, named.qid)),
        feature_names=list("dcba"),
    )
    assert ranker.explain(turned).values == pytest.approx(ranker.explain(named).values)


def test_a_network_near_each_document(data):
    pytest.importorskip("torch")
    ranker = pm.RankNet(hidden=(6,), n_epochs=3).fit(data)
    found = ranker.explain(data)
    assert found.method == "gradient"
    layers, step = ranker.portable(), 1e-5
    X = data.X[:5].astype(np.float64)
    h, gradient, _ = layers.gradient(X)
    plain = layers.__class__(layers.weights, layers.biases, layers.activations)
    for j in range(4):
        up, down = h.copy(), h.copy()
        up[:, j] += step
        down[:, j] -= step
        slope = (plain._forward(up)[-1] - plain._forward(down)[-1])[:, 0] / (2 * step)
        assert gradient[:, j] == pytest.approx(slope, abs=1e-6)
    straight = pm.RankNet(hidden=0, n_epochs=3).fit(data).explain(data)
    assert np.abs(straight.gap).max() < 1e-4  # scores are float32


def test_refused(data):
    forest = pm.LambdaMART(n_trees=3).fit(data)
    with pytest.raises(UnknownNameError, match="unknown method for this model 'linear'"):
        forest.explain(data, method="linear")
    with pytest.raises(UnknownNameError, match="unknown method for this model 5"):
        forest.explain(data, method=5)
    with pytest.raises(InputError, match="BestFeature cannot be explained"):
        pm.BestFeature().fit(data).explain(data)
    with pytest.raises(InputError, match="no background document"):
        forest.explain(data, background=data.take([]))
