import math

import numpy as np
import pytest

from pomona._jit import threads
from pomona.errors import InputError
from pomona.trees import histogram
from pomona.trees.binning import Bins
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grow_oblivious import ObliviousGrower
from pomona.trees.grower import GrowthRules, Workspace, newton_steps


def workspace(n=50, rules=None, n_features=3, n_leaves=4):
    X = np.random.default_rng(0).normal(size=(n, n_features)).astype(np.float32)
    bins = Bins.of(X)
    return Workspace(bins, bins.codes(X), rules or GrowthRules(), n_leaves)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"n_leaves": 0}, "n_leaves must be at least 1"),
        ({"l2": -1.0}, "l2 must be at least 0"),
        ({"min_docs": -1}, "min_docs"),
        ({"min_hessian": float("nan")}, "min_hessian"),
        ({"min_gain": -0.1}, "min_gain"),
        ({"max_depth": -1}, "max_depth"),
        *(({name: math.inf}, name) for name in ("min_hessian", "l2", "min_gain", "smoothing", "min_docs")),
        ({"feature_fraction": 0.0}, "feature_fraction"),
        ({"monotone": (0, 2)}, "monotone"),
    ],
)
def test_impossible_rules_are_refused(rules, message):
    with pytest.raises(InputError, match=message):
        GrowthRules(**rules)


def test_rules_and_codes_must_fit_the_bins():
    with pytest.raises(InputError, match="2 monotone constraints for 3 features"):
        workspace(rules=GrowthRules(monotone=(0, 1)))
    X = np.zeros((4, 2), np.float32)
    with pytest.raises(InputError, match="codes of 1 features, expected 2"):
        Workspace(Bins.of(X), Bins.of(X[:, :1]).codes(X[:, :1]), GrowthRules(), 2)


def test_gradients_must_fit_the_documents():
    ones = np.ones(50, np.float32)
    with pytest.raises(InputError, match="50 documents"):
        workspace().start(ones[:-1], ones, None, np.random.default_rng(0))
    with pytest.raises(InputError, match="no documents"):
        workspace().start(ones, ones, np.empty(0, np.int32), np.random.default_rng(0))


def test_newton_steps_without_anything_to_divide_by():
    assert newton_steps(np.array([[4.0, 2.0], [4.0, 0.0]]), 0.0).tolist() == [-2.0, 0.0]
    assert newton_steps(np.array([[4.0, 0.0]]), 2.0).tolist() == [-2.0]


def test_leaf_sums_are_exact_and_the_same_for_any_threads(monkeypatch):
    monkeypatch.setattr(histogram, "_DOCS", 7)
    random = np.random.default_rng(2)
    gradient, hessian = random.normal(size=50).astype(np.float32), random.random(50).astype(np.float32)
    found = []
    for count in (1, 4):
        with threads(count):
            ours = workspace()
            ours.start(gradient, hessian, None, np.random.default_rng(0))
            leaves = ours.table.leaves
            leaves["begin"], leaves["end"] = [0, 20, 20, 45], [20, 20, 45, 50]
            sums, leaf_of_row = ours.leaf_sums(leaves)
            found.append(sums.tobytes())
    assert leaf_of_row.tolist() == [0] * 20 + [2] * 25 + [3] * 5
    assert sums[1].tolist() == [0, 0]
    assert sums[2] == pytest.approx([gradient[20:45].sum(), hessian[20:45].sum()], rel=1e-6)
    assert found[0] == found[1]


def test_leaf_sums_do_not_depend_on_the_order_of_documents():
    random = np.random.default_rng(3)
    n = 5000
    gradient = (random.normal(size=n) * 10.0 ** random.integers(-6, 6, n)).astype(np.float32)
    hessian = (random.random(n) * 10.0 ** random.integers(-6, 6, n)).astype(np.float32)
    found = []
    for order in (np.arange(n), random.permutation(n)):
        ours = workspace(n=n)
        ours.start(gradient[order], hessian[order], None, np.random.default_rng(0))
        leaves = ours.table.leaves[:1]
        leaves["begin"], leaves["end"] = 0, n
        found.append(ours.leaf_sums(leaves)[0])
    assert found[0].tobytes() == found[1].tobytes()
    exact = [math.fsum(gradient.tolist()), math.fsum(hessian.tolist())]
    assert found[0][0] == pytest.approx(exact, rel=1e-12)


def test_features_are_drawn_for_every_tree():
    ours = workspace(rules=GrowthRules(feature_fraction=0.5), n_features=40)
    ones = np.ones(50, np.float32)
    rng, drawn = np.random.default_rng(0), []
    for _ in range(3):
        ours.start(ones, ones, None, rng)
        drawn.append(tuple(np.flatnonzero(ours.features["allowed"])))
    assert [len(features) for features in drawn] == [20, 20, 20]
    assert len(set(drawn)) == 3


@pytest.mark.parametrize("kind", [LeafwiseGrower, ObliviousGrower])
def test_gradient_splits_take_hessians_to_be_equal_and_leaf_values_do_not(kind):
    random = np.random.default_rng(5)
    X = random.normal(size=(300, 4)).astype(np.float32)
    gradient = np.round(100 * X[:, 0] + 100 * random.normal(size=300)).astype(np.float32)
    hessian = np.where(X[:, 1] > 0, 6, 2).astype(np.float32)
    equal = np.full_like(hessian, hessian.mean())
    rules = {"n_leaves": 6, "max_depth": 3, "min_docs": 10, "l2": 3.0}
    bins = Bins.of(X)

    def grown(hessian, **more):
        grower = kind(bins, bins.codes(X), GrowthRules(**rules, **more))
        return grower.grow(gradient, hessian, None, np.random.default_rng(0))

    tree, twin, other = grown(hessian, newton_splits=False), grown(equal), grown(hessian)
    for name in ("feature", "threshold", "left", "right", "gain", "leaf_of_row"):
        assert getattr(tree, name).tolist() == getattr(twin, name).tolist()
    assert tree.threshold.tolist() != other.threshold.tolist()
    sums = [np.bincount(tree.leaf_of_row, weights) for weights in (gradient, hessian)]
    assert tree.value == pytest.approx(-sums[0] / (sums[1] + 3.0))


def test_gradient_splits_make_no_endless_leaf_values():
    X = np.repeat([[0.0], [1.0]], 20, axis=0).astype(np.float32)
    gradient = np.repeat([1.0, -1.0], 20).astype(np.float32)
    hessian = np.repeat([1.0, 1e-30], 20).astype(np.float32)
    bins = Bins.of(X)
    rules = GrowthRules(min_docs=1, min_hessian=0.5, newton_splits=False)
    tree = LeafwiseGrower(bins, bins.codes(X), rules).grow(gradient, hessian, None, np.random.default_rng(0))
    assert tree.value.tolist() == [-1.0, 40.0]


@pytest.mark.parametrize("kind", [LeafwiseGrower, ObliviousGrower])
@pytest.mark.parametrize(
    ("more", "scale", "splits"),
    [
        ({}, 1.0, True),
        ({}, 1e-18, False),
        ({}, 1e-37, False),
        ({"min_hessian": 0.0}, 1e-18, True),
        ({"min_hessian": 1e13}, 1.0, False),
        ({"min_hessian": 1e308}, 1e-30, False),
        ({"min_docs": 10**20}, 1.0, False),
        ({"max_depth": 40}, 1.0, True),
    ],
    ids=str,
)
def test_hessians_too_small_for_a_split_give_none(kind, more, scale, splits):
    """100 documents of hessian 0.25: a side has 25 at most, and 2.5e-17 where all weigh 1e-18."""
    random = np.random.default_rng(3)
    X = random.normal(size=(100, 2)).astype(np.float32)
    if kind is ObliviousGrower:
        more = {name: value for name, value in more.items() if name != "max_depth"}
    bins, rules = Bins.of(X), GrowthRules(**{"min_docs": 5, **more})
    grower = kind(bins, bins.codes(X), rules)
    gradient = (np.where(X[:, 0] > 0, 1, -1) * scale).astype(np.float32)
    tree = grower.grow(gradient, np.full(100, 0.25 * scale, np.float32), None, random)
    assert (len(tree.feature) > 0) == splits
    assert np.isfinite(tree.value).all()


@pytest.mark.parametrize("n_leaves", [10**9, 10**20])
def test_leaves_that_no_memory_holds_are_refused(n_leaves):
    with pytest.raises(InputError, match="fewer n_leaves"):
        workspace(rules=GrowthRules(n_leaves=n_leaves), n_leaves=n_leaves)


def test_histograms_that_take_much_memory_are_told():
    """10,001 of 100 · 255 bins of 8 bytes are 2.0 GB; 400 documents cannot have so many leaves."""
    X = np.random.default_rng(0).normal(size=(400, 100)).astype(np.float32)
    bins = Bins.of(X)
    codes = bins.codes(X)
    Workspace(bins, codes, GrowthRules(min_docs=1), 10_000)
    many = codes.zeros(12_000, bins.n_bins)
    with pytest.warns(UserWarning, match=r"10000 leaves take 2\.0 GB"):
        Workspace(bins, many, GrowthRules(min_docs=1), 10_000)
