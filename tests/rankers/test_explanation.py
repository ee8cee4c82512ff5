import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError, UnknownNameError


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
    with pytest.raises(InputError, match="BestFeature cannot be explained"):
        pm.BestFeature().fit(data).explain(data)
    with pytest.raises(InputError, match="no background document"):
        forest.explain(data, background=data.take([]))
