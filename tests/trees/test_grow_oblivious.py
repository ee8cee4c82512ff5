import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pomona._jit import threads
from pomona.errors import InputError
from pomona.trees.binning import Bins
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grow_oblivious import ObliviousGrower
from pomona.trees.grower import GrowthRules
from reference.tree import Data, Rules


def documents(n=400, n_features=4, seed=0, nan=0.1):
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, n_features)) * 3).astype(np.float32)
    # Integers are not rounded by packing, so a slow twin on floats must find the very same tree.
    gradient = np.round(300 * np.tanh(X[:, 0]) - 20 * X[:, 1] + 100 * random.normal(size=n))
    X[random.random(X.shape) < nan] = np.nan
    return X, gradient.astype(np.float32), random.integers(1, 30, n).astype(np.float32)


def grown(X, gradient, hessian, rules, rows=None, seed=0, kind=ObliviousGrower):
    bins = Bins.of(X)
    return kind(bins, bins.codes(X), rules).grow(gradient, hessian, rows, np.random.default_rng(seed))


def as_bytes(tree):
    return tuple(array.tobytes() for array in vars(tree).values() if array is not None)


@settings(max_examples=40)
@given(
    st.integers(1, 90),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 5.0]),
    st.integers(1, 12),
    st.integers(0, 4),
    st.sampled_from([None, (1, -1, 0, 1)]),
)
@example(84, 1, 0.0, 1, 4, (1, -1, 0, 1))  # a cell that its bounds let gain nothing, but for rounding
def test_the_tree_is_the_slow_twin_s(n, seed, l2, min_docs, depth, monotone):
    X, gradient, hessian = documents(n, 4, seed)
    rules = GrowthRules(max_depth=depth, l2=l2, min_docs=min_docs, min_hessian=20, monotone=monotone)
    bins = Bins.of(X, 8)
    codes = bins.codes(X)
    ours = ObliviousGrower(bins, codes, rules).grow(gradient, hessian, None, np.random.default_rng(seed))
    slow = Rules(l2=l2, min_docs=min_docs, min_hessian=20, monotone=monotone or ())
    twin = Data(codes.columns.T, bins.n_bins, bins.has_nan, gradient, hessian, slow).oblivious(
        np.arange(n), depth
    )
    assume(not twin.is_close)
    assert list(zip(ours.feature, ours.nan_left, ours.left, ours.right, strict=True)) == [
        (feature, nan_left, left, right) for feature, _, nan_left, _, left, right in twin.nodes
    ]
    assert ours.threshold.tolist() == [bins.threshold(node[0], node[1]) for node in twin.nodes]
    assert ours.gain == pytest.approx([node[3] for node in twin.nodes], rel=1e-4, abs=1e-3)
    assert ours.value == pytest.approx(twin.value, rel=1e-9, abs=1e-12)
    for leaf, cell in enumerate(twin.cells):
        assert np.array_equal(np.flatnonzero(ours.leaf_of_row == leaf), cell.rows)


def test_the_leaf_s_number_has_one_bit_a_level():
    X, gradient, hessian = documents(2000, nan=0.0)
    tree = grown(X, gradient, hessian, GrowthRules(max_depth=4))
    assert len(tree.value) == 2**4
    bits = np.zeros(2000, int)
    for level in range(4):
        same_level = slice(2**level - 1, 2 ** (level + 1) - 1)
        assert len(set(tree.feature[same_level])) == len(set(tree.threshold[same_level])) == 1
        right = X[:, tree.feature[2**level - 1]] > tree.threshold[2**level - 1]
        bits += 2**level * right
    assert np.array_equal(tree.leaf_of_row, bits)


def test_depth_one_is_the_leafwise_stump():
    X, gradient, hessian = documents(300)
    stump = grown(X, gradient, hessian, GrowthRules(n_leaves=2), kind=LeafwiseGrower)
    assert as_bytes(grown(X, gradient, hessian, GrowthRules(max_depth=1))) == as_bytes(stump)


def test_empty_cells_have_value_0():
    # After x > 1.5, dividing by x > 0.5 leaves the cell "x > 1.5 but not x > 0.5" empty.
    x = np.repeat(np.arange(4, dtype=np.float32), 25)
    gradient = np.repeat(np.array([-8, -4, 5, 6], np.float32), 25)
    tree = grown(x[:, None], gradient, np.ones(100, np.float32), GrowthRules(max_depth=2))
    counts = np.bincount(tree.leaf_of_row, minlength=4)
    assert counts.tolist() == [25, 0, 25, 50]
    assert tree.value.tolist() == [8, 0, 4, -5.5]


def test_a_cell_too_small_takes_the_value_of_the_one_around_it():
    X = np.array([[0, 0]] * 30 + [[0, 1]] * 30 + [[1, 0]] * 5 + [[1, 1]] * 40, np.float32)
    gradient = np.repeat(np.array([-20, 4, -7, 10], np.float32), [30, 30, 5, 40])
    tree = grown(X, gradient, np.ones(105, np.float32), GrowthRules(max_depth=2, min_docs=20))
    assert tree.feature.tolist() == [1, 0, 0]
    # Leaf 2 has the 5 documents of feature 1 = 0, feature 0 = 1: it keeps the mean of feature 1 = 0.
    assert tree.value == pytest.approx([20, -4, (20 * 30 + 7 * 5) / 35, -10])


def test_growth_stops_where_nothing_gains():
    x = np.repeat(np.arange(2, dtype=np.float32), 50)
    tree = grown(
        x[:, None], np.where(x > 0, 2, -1).astype(np.float32), np.ones(100, np.float32), GrowthRules()
    )
    assert tree.value.tolist() == [1, -2]
    alone = grown(x[:, None], np.ones(100, np.float32), np.ones(100, np.float32), GrowthRules())
    assert alone.value.tolist() == [-1]
    assert alone.leaf_of_row.tolist() == [0] * 100


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


def test_rows_left_out_fall_into_cells_too():
    X, gradient, hessian = documents(600, nan=0.0)
    rows = np.arange(0, 600, 3, dtype=np.int32)
    tree = grown(X, gradient, hessian, GrowthRules(max_depth=3), rows)
    bits = sum(2**h * (X[:, tree.feature[2**h - 1]] > tree.threshold[2**h - 1]) for h in range(3))
    assert np.array_equal(tree.leaf_of_row, bits)


def test_monotone_constraints_hold():
    random = np.random.default_rng(8)
    X = random.random((3000, 3)).astype(np.float32)
    target = X[:, 0] + np.sin(20 * X[:, 0]) + X[:, 1] * random.normal(size=3000)
    gradient, hessian = -target.astype(np.float32), np.ones(3000, np.float32)
    scan = np.repeat(random.random((20, 3)).astype(np.float32), 50, axis=0)
    scan[:, 0] = np.tile(np.linspace(0, 1, 50, dtype=np.float32), 20)
    rises = {}
    for monotone in (None, (1, 0, 0)):
        tree = grown(X, gradient, hessian, GrowthRules(min_docs=5, monotone=monotone))
        depth = int(np.log2(len(tree.value)))
        bits = sum(2**h * (scan[:, tree.feature[2**h - 1]] > tree.threshold[2**h - 1]) for h in range(depth))
        rises[monotone] = np.diff(tree.value[bits].reshape(20, 50), axis=1)
    assert rises[None].min() < 0
    assert rises[1, 0, 0].min() >= 0
    assert rises[1, 0, 0].max() > 0


def test_deeper_than_memory_allows_is_refused():
    with pytest.raises(InputError, match="at most 12"):
        grown(*documents(10), GrowthRules(max_depth=13))
