import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pomona._jit import threads
from pomona.trees.binning import Bins
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grower import GrowthRules
from reference.tree import Data, Rules


def documents(n=400, n_features=5, seed=0, nan=0.1):
    """Few-valued and many-valued features, some undefined, and gradients that depend on them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, n_features)).astype(np.float32)
    X[:, ::2] = np.round(X[:, ::2] * 2)
    # Integers are not rounded by packing, so a slow twin on floats must find the very same tree.
    gradient = np.round(300 * np.tanh(X[:, 0]) - 200 * (X[:, 1] > 0) + 100 * random.normal(size=n))
    X[random.random(X.shape) < nan] = np.nan
    hessian = random.integers(1, 30, n)
    return X, gradient.astype(np.float32), hessian.astype(np.float32)


def grown(X, gradient, hessian, rules, rows=None, seed=0, max_bins=255):
    bins = Bins.of(X, max_bins)
    return LeafwiseGrower(bins, bins.codes(X), rules).grow(
        gradient, hessian, rows, np.random.default_rng(seed)
    )


def walked(tree, X):
    """The leaf of every document, by thresholds."""
    leaves = []
    for x in X:
        node = 0 if len(tree.feature) else ~0
        while node >= 0:
            value = x[tree.feature[node]]
            left = tree.nan_left[node] if np.isnan(value) else value <= tree.threshold[node]
            node = tree.left[node] if left else tree.right[node]
        leaves.append(~node)
    return np.array(leaves)


def as_bytes(tree):
    return tuple(array.tobytes() for array in vars(tree).values() if array is not None)


@settings(max_examples=40)
@given(
    st.integers(1, 90),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 5.0]),
    st.integers(1, 12),
    st.sampled_from([None, 0, 1, 3]),
    st.sampled_from([None, (1, -1, 0, 1)]),
)
def test_the_tree_is_the_slow_twin_s(n, seed, l2, min_docs, max_depth, monotone):
    X, gradient, hessian = documents(n, 4, seed)
    rules = GrowthRules(
        n_leaves=9, max_depth=max_depth, l2=l2, min_docs=min_docs, min_hessian=20, monotone=monotone
    )
    bins = Bins.of(X, 12)
    codes = bins.codes(X)
    ours = LeafwiseGrower(bins, codes, rules).grow(gradient, hessian, None, np.random.default_rng(seed))
    depth = np.inf if max_depth is None else max_depth
    slow = Rules(9, depth, l2, min_docs, 20, 0.0, monotone or ())
    data = Data(codes.columns.T, bins.n_bins, bins.has_nan, gradient, hessian, slow)
    twin = data.leafwise(np.arange(n))
    assert list(zip(ours.feature, ours.nan_left, ours.left, ours.right, strict=True)) == [
        (feature, nan_left, left, right) for feature, _, nan_left, _, left, right in twin.nodes
    ]
    assert ours.threshold.tolist() == [bins.threshold(node[0], node[1]) for node in twin.nodes]
    assert ours.gain == pytest.approx([node[3] for node in twin.nodes], rel=1e-5)
    assert ours.value == pytest.approx(twin.value, rel=1e-9, abs=1e-12)
    for leaf, cell in enumerate(twin.cells):
        assert np.array_equal(np.flatnonzero(ours.leaf_of_row == leaf), cell.rows)


def test_lightgbm_grows_the_same_tree():
    lightgbm = pytest.importorskip("lightgbm")
    random = np.random.default_rng(3)
    # Whole numbers, each often enough to be a bin of its own in both.
    X = random.integers(0, 20, (2000, 4)).astype(np.float32)
    gradient = np.round(50 * np.sin(X[:, 0]) + 10 * X[:, 1] * (X[:, 2] > 9) + 9 * random.normal(size=2000))
    gradient, hessian = gradient.astype(np.float32), random.integers(1, 9, 2000).astype(np.float32)
    parameters = {
        "objective": "none",
        "num_leaves": 15,
        "min_data_in_leaf": 20,
        "min_sum_hessian_in_leaf": 1.0,
        "lambda_l2": 2.0,
        "learning_rate": 1.0,
        "verbose": -1,
        "num_threads": 1,
        "boost_from_average": False,
    }
    booster = lightgbm.Booster(parameters, lightgbm.Dataset(X, np.zeros(2000), params={"verbose": -1}))
    booster.update(fobj=lambda scores, data: (gradient, hessian))
    tree = grown(X, gradient, hessian, GrowthRules(n_leaves=15, min_docs=20, min_hessian=1.0, l2=2.0))
    assert len(tree.value) == 15
    assert tree.value[tree.leaf_of_row] == pytest.approx(booster.predict(X), rel=1e-5)
    nodes = []

    def collect(node):
        if "split_feature" in node:
            nodes.append((node["split_index"], node["split_feature"], node["split_gain"]))
            collect(node["left_child"])
            collect(node["right_child"])

    collect(booster.dump_model()["tree_info"][0]["tree_structure"])
    nodes.sort()
    assert tree.feature.tolist() == [feature for _, feature, _ in nodes]
    assert tree.gain == pytest.approx([gain for *_, gain in nodes], rel=1e-3)


@pytest.mark.parametrize("bagged", [False, True])
def test_threads_change_nothing(bagged):
    random = np.random.default_rng(4)
    n = 30_000  # large enough for every step to be shared
    X, _, _ = documents(n, 70, seed=4)
    gradient, hessian = random.normal(size=n).astype(np.float32), random.random(n).astype(np.float32)
    rows = np.sort(random.choice(n, 20_000, replace=False)).astype(np.int32) if bagged else None
    found = []
    for count in (1, 2, 4):
        with threads(count):
            found.append(as_bytes(grown(X, gradient, hessian, GrowthRules(), rows)))
    assert found[0] == found[1] == found[2]


def test_same_seed_same_bits_and_a_grower_has_no_memory():
    X, _, _ = documents(500, 6)
    random = np.random.default_rng(0)
    gradient, hessian = random.normal(size=500).astype(np.float32), random.random(500).astype(np.float32)
    bins = Bins.of(X)
    again = LeafwiseGrower(bins, bins.codes(X), GrowthRules(feature_fraction=0.5))
    again.grow(-gradient, hessian, np.arange(100, dtype=np.int32), random)
    ours = as_bytes(again.grow(gradient, hessian, None, np.random.default_rng(7)))
    assert ours == as_bytes(grown(X, gradient, hessian, GrowthRules(feature_fraction=0.5), seed=7))


def test_rows_left_out_walk_the_tree_too():
    X, gradient, hessian = documents(600)
    rows = np.arange(0, 600, 3, dtype=np.int32)
    tree = grown(X, gradient, hessian, GrowthRules(n_leaves=8), rows)
    assert np.array_equal(tree.leaf_of_row, walked(tree, X))
    for leaf, value in enumerate(tree.value):
        own = rows[tree.leaf_of_row[rows] == leaf]
        assert len(own) >= 20
        assert value == pytest.approx(-gradient[own].sum(dtype=float) / hessian[own].sum(dtype=float))


def test_rows_drawn_twice_count_twice():
    X, gradient, hessian = documents(60)
    twice = np.repeat(np.arange(60, dtype=np.int32), 2)
    doubled = grown(X, gradient, hessian, GrowthRules(min_docs=10), twice)
    weighted = grown(X, 2 * gradient, 2 * hessian, GrowthRules(min_docs=5))
    assert doubled.feature.tolist() == weighted.feature.tolist()
    assert doubled.value.tolist() == weighted.value.tolist()


def test_a_bag_without_a_split_has_one_leaf_for_all():
    X, gradient, hessian = documents(60)
    tree = grown(X, gradient, hessian, GrowthRules(), np.arange(10, dtype=np.int32))
    assert tree.leaf_of_row.tolist() == [0] * 60


def test_too_few_documents_give_a_single_leaf():
    X, gradient, hessian = documents(39)
    tree = grown(X, gradient, hessian, GrowthRules(min_docs=20))
    assert len(tree.feature) == 0
    assert tree.value == pytest.approx([-gradient.sum(dtype=float) / hessian.sum(dtype=float)])
    assert tree.leaf_of_row.tolist() == [0] * 39


def test_one_leaf_and_one_document():
    X, gradient, hessian = documents(50)
    assert len(grown(X, gradient, hessian, GrowthRules(n_leaves=1)).value) == 1
    assert len(grown(X[:1], gradient[:1], hessian[:1], GrowthRules(min_docs=1)).value) == 1


def test_max_depth_limits_every_path():
    X, gradient, hessian = documents(2000)
    tree = grown(X, gradient, hessian, GrowthRules(max_depth=3))
    depth = np.zeros(len(tree.feature), int)
    for node in range(len(tree.feature)):
        for child in (tree.left[node], tree.right[node]):
            if child >= 0:
                depth[child] = depth[node] + 1
    assert depth.max() == 2
    assert len(tree.value) <= 8


def test_feature_fraction_limits_the_features_of_a_tree():
    X, gradient, hessian = documents(2000, 10)
    rules = GrowthRules(feature_fraction=0.2, min_docs=1)
    used = [set(grown(X, gradient, hessian, rules, seed=seed).feature.tolist()) for seed in range(6)]
    assert all(len(features) <= 2 for features in used)
    assert len(set.union(*used)) > 2


def test_constant_and_duplicate_features_are_not_used():
    X, gradient, hessian = documents(500, 2, nan=0.0)
    wide = np.stack([np.full(500, 3.0), X[:, 0], X[:, 1], X[:, 0], np.full(500, np.nan)], axis=1)
    tree = grown(wide.astype(np.float32), gradient, hessian, GrowthRules())
    assert set(tree.feature.tolist()) == {1, 2}


def test_constant_features_only_give_a_single_leaf():
    tree = grown(np.ones((50, 2), np.float32), *documents(50)[1:], GrowthRules(feature_fraction=0.5))
    assert len(tree.value) == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_constraints_hold(sign):
    random = np.random.default_rng(8)
    X = random.random((3000, 3)).astype(np.float32)
    # The target waves around a trend, which a free tree follows and a constrained one must not.
    target = sign * X[:, 0] + np.sin(20 * X[:, 0]) + X[:, 1] * random.normal(size=3000)
    gradient, hessian = -target.astype(np.float32), np.ones(3000, np.float32)
    scan = np.repeat(random.random((20, 3)).astype(np.float32), 50, axis=0)
    scan[:, 0] = np.tile(np.linspace(0, 1, 50, dtype=np.float32), 20)
    rises = {}
    for monotone in (None, (sign, 0, 0)):
        tree = grown(X, gradient, hessian, GrowthRules(min_docs=5, monotone=monotone))
        rises[monotone] = sign * np.diff(tree.value[walked(tree, scan)].reshape(20, 50), axis=1)
    assert rises[None].min() < 0
    assert rises[sign, 0, 0].min() >= 0
    assert rises[sign, 0, 0].max() > 0


def test_quantized_gradients_lose_next_to_nothing():
    X, _, _ = documents(5000, 10, nan=0.0)
    random = np.random.default_rng(0)
    gradient = (np.tanh(X[:, 1]) + X[:, 3] + random.normal(size=5000)).astype(np.float32)
    gradient[0] = 1e4  # an outlier makes the step coarse
    hessian = random.random(5000).astype(np.float32)
    tree = grown(X, gradient, hessian, GrowthRules(n_leaves=4), seed=1)
    other = grown(X, gradient, hessian, GrowthRules(n_leaves=4), seed=2)
    assert tree.gain[0] == pytest.approx(other.gain[0], rel=1e-3)
