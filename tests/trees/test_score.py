import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona._jit import threads
from pomona.trees import score
from pomona.trees.forest import Forest
from reference import forest as plain
from reference import lightgbm_model

SPECIAL = np.array([-np.inf, -1.5, -0.0, 0.0, 1e-40, 0.5, 1.0, 3e38, np.inf], np.float32)
VALUES = [0.0, 1e-300, -1e-9, 0.1, -0.3, 7.0, 1e9, -1e300]
N_FEATURES = 4


@st.composite
def forests(draw):
    """Trees of any shape, with thresholds that repeat and that documents hit exactly."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    thresholds = SPECIAL if draw(st.booleans()) else random.integers(-300, 300, 1000) / np.float32(8)
    trees = []
    for _ in range(draw(st.integers(0, 6))):
        if draw(st.booleans()):
            n_leaves = draw(st.one_of(st.integers(1, 9), st.sampled_from([31, 64, 65, 256, 257, 300])))
            trees.append(plain.random_tree(random, n_leaves, N_FEATURES, thresholds))
        else:
            trees.append(plain.oblivious_tree(random, draw(st.integers(0, 9)), N_FEATURES, thresholds))
    return plain.plant(random, trees, VALUES), random, thresholds


def documents(random, n, thresholds):
    choices = np.concatenate([thresholds, SPECIAL, [np.nan], random.standard_normal(20) * 20])
    return random.choice(choices, (n, N_FEATURES)).astype(np.float32)


@given(forests(), st.integers(0, 140), st.sampled_from([0.0, 0.7]))
def test_scores_and_leaves_are_those_of_walking(planted, n_docs, base):
    arrays, random, thresholds = planted
    X = documents(random, n_docs, thresholds)
    forest = Forest(**arrays, n_features=N_FEATURES, base=base)
    assert np.array_equal(forest.leaf_of(X), plain.leaves_of(X, arrays))
    expected = plain.score(X, arrays, base)
    assert np.array_equal(forest.score(X), expected), "the same sums in the same order: the same bits"
    stages = list(forest.staged_scores(X))
    assert len(stages) == forest.n_trees
    for n_trees, scores in enumerate(stages, start=1):
        assert np.array_equal(scores, forest.head(n_trees).score(X))


@pytest.mark.parametrize("n_leaves", [2000, 5000])
def test_trees_of_thousands_of_leaves(n_leaves):
    random = np.random.default_rng(n_leaves)
    thresholds = random.standard_normal(20_000).astype(np.float32)
    trees = [plain.random_tree(random, n_leaves, N_FEATURES, thresholds) for _ in range(2)]
    arrays = plain.plant(random, trees, random.standard_normal(1000))
    X = np.concatenate([random.standard_normal((90, N_FEATURES)), documents(random, 50, thresholds)])
    assert np.array_equal(Forest(**arrays, n_features=N_FEATURES).score(X), plain.score(X, arrays))


def test_a_tree_that_is_one_long_branch():
    n = 700
    chain = {
        "feature": np.zeros(n, int),
        "threshold": np.arange(n)[::-1],
        "nan_left": np.arange(n) % 2 == 0,
        "left": np.append(np.arange(1, n), ~n),
        "right": ~np.arange(n),
    }
    arrays = plain.plant(np.random.default_rng(0), [chain], np.arange(5000))
    X = np.append(np.arange(-2, n + 2, 7), np.nan)[:, None]
    assert np.array_equal(Forest(**arrays, n_features=1).score(X), plain.score(X, arrays))


def test_threads_and_batches_do_not_change_a_bit(monkeypatch):
    random = np.random.default_rng(5)
    thresholds = random.standard_normal(400).astype(np.float32)
    trees = [plain.random_tree(random, 40, N_FEATURES, thresholds) for _ in range(30)]
    forest = Forest(**plain.plant(random, trees, random.standard_normal(99)), n_features=N_FEATURES)
    X = random.standard_normal((4321, N_FEATURES)).astype(np.float32)
    found = []
    for count in (1, 2, 4):
        with threads(count):
            found.append((forest.score(X), forest.leaf_of(X), *forest.staged_scores(X, 11)))
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))
    assert np.array_equal(found[0][0][:70], plain.score(X[:70], vars(forest)))
    monkeypatch.setattr(score, "_BATCH_BYTES", 3 * 64 * forest.n_features)
    assert np.array_equal(found[0][0], forest.score(X))


@pytest.mark.parametrize("n_trees", [1, 2, 3, 4, 5])
def test_even_the_sign_of_a_zero_is_kept(n_trees):
    stump = {"feature": [0], "threshold": [0.0], "nan_left": [True], "left": [~0], "right": [~1]}
    arrays = plain.plant(np.random.default_rng(0), [stump] * n_trees, [-0.0])
    scores = Forest(**arrays, n_features=1, base=-0.0).score(np.arange(-9.0, 9.0)[:, None])
    assert np.signbit(scores).all()


def test_stages():
    random = np.random.default_rng(1)
    trees = [plain.random_tree(random, 5, N_FEATURES, SPECIAL) for _ in range(7)]
    forest = Forest(**plain.plant(random, trees, VALUES), n_features=N_FEATURES, base=2.0)
    X = documents(random, 100, SPECIAL)
    stages = list(forest.staged_scores(X, every=3))
    for n_trees, scores in zip((3, 6, 7), stages, strict=True):
        assert np.array_equal(scores, forest.head(n_trees).score(X))
    assert list(Forest.empty(N_FEATURES).staged_scores(X)) == []


@pytest.mark.parametrize("missing", [False, True])
def test_a_model_of_lightgbm(missing):
    lightgbm = pytest.importorskip("lightgbm")
    random = np.random.default_rng(3)
    X = random.standard_normal((1500, 6)).astype(np.float32)
    X[:, 1] = np.floor(X[:, 1] * 2)
    if missing:
        X[random.random(X.shape) < 0.2] = np.nan
    y = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + np.isnan(X[:, 2])
    parameters = {"num_leaves": 40, "verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, y), 20)
    forest = Forest(**lightgbm_model.trees_of(booster.model_to_string()), n_features=6)
    assert forest.n_trees == 20
    assert forest.score(X) == pytest.approx(booster.predict(X), rel=1e-12, abs=1e-15)
    assert np.array_equal(forest.leaf_of(X), booster.predict(X, pred_leaf=True))
    assert np.array_equal(forest.importance("split"), booster.feature_importance("split"))
    assert forest.importance("gain") == pytest.approx(booster.feature_importance("gain"), rel=1e-4)


def test_kernels_compile_once_whatever_the_arrays_are():
    random = np.random.default_rng(2)
    arrays = plain.plant(random, [plain.random_tree(random, 5, N_FEATURES, SPECIAL)], VALUES)
    read_only = {name: array.copy() for name, array in arrays.items()}
    X = documents(random, 700, SPECIAL)
    fixed = X.copy()
    for array in (*read_only.values(), fixed):
        array.flags.writeable = False
    made = Forest(**arrays, n_features=N_FEATURES)
    made.score(X)
    kernels = score._encode, score._add_small
    compiled = [len(kernel.signatures) for kernel in kernels]  # by forests with float64 thresholds, too
    for forest in (made, Forest(**read_only, n_features=N_FEATURES), pickle.loads(pickle.dumps(made))):
        for rows in (X, fixed, X[5:], np.asfortranarray(X), X.astype(float)):
            forest.score(rows)
            forest.leaf_of(rows)
            list(forest.staged_scores(rows))
    assert [len(kernel.signatures) for kernel in kernels] == compiled
