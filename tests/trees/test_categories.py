from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pomona._jit import threads
from pomona.rankers.forests.training.grown import forest_of
from pomona.trees.binning import Bins
from pomona.trees.categories import members_of_bins
from pomona.trees.forest import Forest
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grower import GrowthRules


def documents(n=3000, n_categories=30, seed=0, nan=0.1, n_numbers=2):
    """A feature of categories, some undefined, then features of numbers; integer gradients lose nothing."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 1 + n_numbers)).astype(np.float32)
    X[:, 0] = random.choice(1000, n_categories, replace=False)[random.integers(0, n_categories, n)]
    effect = random.normal(size=1000)
    gradient = np.round(300 * effect[X[:, 0].astype(int)] + 100 * X[:, -1] + 200 * random.normal(size=n))
    X[random.random(n) < nan, 0] = np.nan
    return X, gradient.astype(np.float32), random.integers(1, 30, n).astype(np.float32)


def grown(X, gradient, hessian, rows=None, categorical=(0,), max_bins=255, **rules):
    bins = Bins.of(X, max_bins, categorical=categorical)
    grower = LeafwiseGrower(bins, bins.codes(X), GrowthRules(**{"min_docs": 1, "min_hessian": 0.0, **rules}))
    return grower.grow(gradient, hessian, rows, np.random.default_rng(0))


def forest(tree, n_features):
    return forest_of([(tree, tree.value)], Forest.empty(n_features))


def best_set(x, gradient, hessian, l2, min_docs, most):
    """The highest gain over all sets of categories that may be on one side, by trying them all."""
    categories, best = np.unique(x[~np.isnan(x)]), 0.0
    sets = [s for size in range(1, len(categories) + 1) for s in combinations(categories, size)]
    sets = [s for s in sets if len(s) <= most or (len(s) == len(categories) and np.isnan(x).any())]
    for members in sets:
        left = np.isin(x, members)
        sides = [left, ~left]
        if min(side.sum() for side in sides) >= min_docs:
            scores = [gradient[side].sum() ** 2 / (hessian[side].sum() + l2) for side in sides]
            best = max(best, sum(scores) - gradient.sum() ** 2 / (hessian.sum() + l2))
    return best


@settings(max_examples=60)
@given(
    st.integers(5, 9), st.integers(0, 10**6), st.sampled_from([0.0, 3.0]), st.integers(1, 6), st.booleans()
)
def test_of_all_sets_the_best_is_found(n_categories, seed, l2, min_docs, has_nan):
    X, gradient, hessian = documents(60, n_categories, seed, nan=0.2 * has_nan, n_numbers=1)
    X = X[:, :1]
    found = len(np.unique(X[~np.isnan(X)]))
    tree = grown(X, gradient, hessian, n_leaves=2, l2=l2, min_docs=min_docs)
    gradient, hessian = gradient.astype(float), hessian.astype(float)
    expected = best_set(X[:, 0], gradient, hessian, l2, min_docs, most=1 if found <= 4 else found)
    assert (tree.gain[0] if len(tree.gain) else 0.0) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("has_nan", [False, True])
@pytest.mark.parametrize("n_categories", [2, 3, 4])
def test_few_categories_are_tried_one_by_one(n_categories, has_nan):
    for seed in range(20):
        X, gradient, hessian = documents(50, n_categories, seed, nan=0.2 * has_nan)
        tree = grown(X[:, :1], gradient, hessian, n_leaves=2, smoothing=1e9)
        expected = best_set(X[:, 0], gradient.astype(float), hessian.astype(float), 0.0, 1, most=1)
        assert tree.gain[0] == pytest.approx(expected, rel=1e-5)


def test_unknown_and_undefined_go_right_with_the_larger_side():
    x = np.repeat([3, 5, 7, 9, 11, 13], [10, 10, 10, 10, 10, 10]).astype(np.float32)
    gradient = np.where(np.isin(x, [5, 11]), -30.0, 10.0).astype(np.float32)
    tree = grown(x[:, None], gradient, np.ones(60, np.float32), n_leaves=2)
    assert tree.members[0].tolist() == [5, 11]
    leaves = forest(tree, 1).leaf_of([[5.0], [3.0], [np.nan], [4.0], [-1.0], [1e30], [np.inf], [-np.inf]])
    assert leaves[:, 0].tolist() == [0, 1, 1, 1, 1, 1, 1, 1]
    # Where some are undefined, they are on the right, however few.
    x[gradient < 0] = np.nan
    x[0] = 5
    tree = grown(x[:, None], gradient, np.ones(60, np.float32), n_leaves=2)
    assert tree.members[0].tolist() == [3, 5, 7, 9, 13]
    assert tree.leaf_of_row[np.isnan(x)].tolist() == [1] * np.isnan(x).sum()


def test_smoothing_weighs_rare_categories_less():
    """Of one hundred categories of two documents each no set can be told from chance."""
    X, _, hessian = documents(200, 100, nan=0.0)
    gradient = np.round(100 * np.random.default_rng(1).normal(size=200)).astype(np.float32)
    free = grown(X[:, :1], gradient, hessian, n_leaves=2)
    smooth = grown(X[:, :1], gradient, hessian, n_leaves=2, smoothing=1.0)
    assert 0 < smooth.gain[0] < free.gain[0]
    assert len(grown(X[:, :1], gradient, hessian, n_leaves=2, smoothing=10.0).feature) == 0


@pytest.mark.parametrize("is_bag", [False, True])
def test_rows_are_where_the_forest_has_them(is_bag):
    X, gradient, hessian = documents(4000, 60)
    rows = np.flatnonzero(np.arange(4000) % 3 > 0).astype(np.int32) if is_bag else None
    found = []
    for count in (1, 3):
        with threads(count):
            tree = grown(X, gradient, hessian, rows, n_leaves=40, smoothing=5.0)
            found.append(tree.leaf_of_row.tobytes() + tree.value.tobytes())
    assert found[0] == found[1]
    kinds = [len(members) > 0 for members in tree.members]
    assert any(kinds)
    assert not all(kinds)
    one = forest(tree, 3)
    assert np.array_equal(one.leaf_of(X)[:, 0], tree.leaf_of_row)
    for leaf in range(len(tree.value)):
        mine = tree.leaf_of_row == leaf
        mine &= True if rows is None else np.isin(np.arange(4000), rows)
        assert tree.value[leaf] == pytest.approx(-gradient[mine].sum() / hessian[mine].sum(), rel=1e-5)


def test_too_many_categories_leave_a_bin_to_the_most_frequent():
    x = np.concatenate([np.repeat(np.arange(5), 20), np.arange(5, 30)]).astype(np.float32)[:, None]
    bins = Bins.of(x, 6, categorical=[0])
    assert bins.categories[0].tolist() == [0, 1, 2, 3, 4]
    assert bins.n_bins.tolist() == [6]
    assert bins.codes(x).columns[0].tolist() == np.minimum(x[:, 0], 5).tolist()
    everything = Bins.of(x, 255, categorical=[0])
    assert everything.n_bins.tolist() == [30]
    assert not everything.has_nan[0]


def test_one_category_against_undefined_values():
    x = np.array([[7], [np.nan], [7], [np.nan]], np.float32)
    tree = grown(x, np.array([1, -1, 1, -1], np.float32), np.ones(4, np.float32))
    assert [members.tolist() for members in tree.members] == [[7]]
    assert tree.threshold.tolist() == [0.0]
    assert tree.leaf_of_row.tolist() == [0, 1, 0, 1]


def test_all_undefined_or_one_category_splits_nothing():
    gradient, hessian = np.array([1, -1, 1, -1], np.float32), np.ones(4, np.float32)
    for x in (np.full((4, 1), np.nan), np.full((4, 1), 7.0)):
        assert len(grown(x.astype(np.float32), gradient, hessian).feature) == 0


def test_numbers_beside_categories_are_split_as_ever():
    X, gradient, hessian = documents(2000, 5)
    X[:, 0] = 1.0  # constant: no split
    with_category = grown(X, gradient, hessian, n_leaves=20)
    plain = grown(X, gradient, hessian, n_leaves=20, categorical=())
    assert all(not len(members) for members in with_category.members)
    for name in ("feature", "threshold", "left", "right", "gain", "value", "leaf_of_row"):
        assert getattr(plain, name).tobytes() == getattr(with_category, name).tobytes()


def test_bits():
    bins = np.array([1, 0, 0, 1 << 63], np.uint64)
    assert members_of_bins(bins, np.arange(10, 266, dtype=np.float32)).tolist() == [10, 265]
