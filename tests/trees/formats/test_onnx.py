from dataclasses import replace

import numpy as np
import pytest

import pomona as pm
from pomona.trees.forest import Forest, rounded_down
from pomona.trees.formats.format import ExportOptions
from pomona.trees.formats.onnx import Onnx
from pomona.trees.formats.weighted_sum import WeightedSum
from pomona.trees.readers.lightgbm_text import LightGBMText
from reference.foreign import documents, lightgbm_text, random_trees

runtime = pytest.importorskip("onnxruntime")


def run(content, X):
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    (scores,) = runtime.InferenceSession(content, options).run(None, {"X": np.asarray(X, np.float64)})
    return scores[:, 0]


def test_the_same_bits(forest, names, rows):
    assert np.array_equal(run(Onnx().content(forest, names), rows), forest.score(rows))


def test_infinite_values_go_where_they_went(forest, names, infinite_rows):
    for version in (None, "3"):
        found = run(Onnx(ExportOptions(engine_version=version)).content(forest, names), infinite_rows)
        np.testing.assert_allclose(found, forest.score(infinite_rows), rtol=0, atol=1e-5 if version else 0)


def test_onnx_own_figures():
    """`test_ai_onnx_ml_tree_ensemble_single_tree`: 1.2, −0.12 → (5.23, 0) and 4.14 → (0, 12.12).

    Its leaves 5.23 and −12.23 add to one score, 12.12 and 7.21 to another: here a forest each.
    """
    nodes = {"feature": [0, 0, 0], "threshold": rounded_down([3.14, 1.2, 4.2]), "nan_left": [False] * 3}
    nodes |= {"left": [1, ~0, ~1], "right": [2, ~2, ~3], "gain": [0, 0, 0], "node_ptr": [0, 3]}
    X = [[1.2, 3.4], [-0.12, 1.66], [4.14, 1.77]]
    for value, expected in (([5.23, 0, -12.23, 0], [5.23, 5.23, 0]), ([0, 12.12, 0, 7.21], [0, 0, 12.12])):
        forest = Forest(
            **nodes,
            value=value,
            leaf_ptr=[0, 4],
            n_features=2,
            double_threshold=[3.14, 1.2, 4.2],
        )
        assert run(Onnx().content(forest, ["a", "b"]), X).tolist() == expected
        assert forest.score(np.array(X)).tolist() == expected


def test_an_older_operator(forest, names, rows):
    found = run(Onnx(ExportOptions(engine_version="3")).content(forest, names), rows)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, forest.score(rows), rtol=0, atol=1e-5)


def test_float64_thresholds():
    random = np.random.default_rng(5)
    trees = random_trees(random, 5)
    forest = replace(LightGBMText().read(lightgbm_text(random, trees)).model, zero_missing=None)
    X = documents(random, forest.double_threshold)
    assert np.array_equal(run(Onnx().content(forest, list("abcd")), X), forest.score(X))


def test_weighted_sums(rows, names):
    model = WeightedSum(np.array([2, 0]), np.array([0.5, -1.0]), 6, start=3.0)
    np.testing.assert_allclose(run(Onnx().content(model, names), rows), model.score(rows), rtol=1e-14)


@pytest.mark.parametrize(
    "parameters", [{}, {"log_features": False, "hidden": (8, 4), "activation": "tanh"}], ids=str
)
def test_networks(parameters):
    data = pm.simulate(20, docs_per_query=8, n_features=5, seed=1)
    X = data.X.copy()
    X[::5, 2] = np.nan
    ranker = pm.RankNet(n_epochs=2, **parameters).fit(data)
    np.testing.assert_allclose(run(ranker.exported("onnx"), X), ranker.predict(X), rtol=0, atol=1e-5)
