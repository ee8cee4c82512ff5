from dataclasses import replace

import numpy as np
import pytest

import pomona as pm
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
