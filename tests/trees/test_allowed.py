import numpy as np
import pytest

from pomona._jit import threads
from pomona.errors import InputError
from pomona.trees.allowed import group_bits
from pomona.trees.binning import Bins
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grow_oblivious import ObliviousGrower
from pomona.trees.grow_shared import SharedLeafwiseGrower, SharedObliviousGrower
from pomona.trees.grower import GrowthRules
from trees.fake_peers import run_peers

GROWERS = {"leafwise": LeafwiseGrower, "oblivious": ObliviousGrower}


def documents(n=3000, n_features=9, seed=0):
    random = np.random.default_rng(seed)
    X = random.integers(0, 12, (n, n_features)).astype(np.float32)
    gradient = np.round(
        50 * np.sin(X).sum(axis=1) + 20 * X[:, 0] * (X[:, 1] > 5) - 9 * X[:, 2] * (X[:, -1] > 3)
    )
    return X, gradient.astype(np.float32), np.ones(n, np.float32)


def grown(growth="leafwise", n_trees=1, seed=0, data=None, **rules):
    X, gradient, hessian = documents() if data is None else data
    bins = Bins.of(X)
    grower = GROWERS[growth](bins, bins.codes(X), GrowthRules(min_docs=1, **rules))
    random = np.random.default_rng(seed)
    return [grower.grow(gradient, hessian, None, random) for _ in range(n_trees)]


def paths(tree):
    """The features from the root to each leaf."""
    todo, found = [(0, ())] if len(tree.feature) else [], []
    while todo:
        node, above = todo.pop()
        if node < 0:
            found.append(above)
        else:
            todo += [
                (child, (*above, int(tree.feature[node]))) for child in (tree.left[node], tree.right[node])
            ]
    return found


def as_bytes(tree):
    return tuple(array.tobytes() for array in vars(tree).values() if array is not None)


@pytest.mark.parametrize("growth", GROWERS)
def test_all_features_of_a_path_are_of_one_group(growth):
    groups = ((0, 1), (2, 3, 4), (4, 5))  # 4 is in two, 6, 7 and 8 in none
    trees = grown(growth, 5, n_leaves=63, interactions=groups, feature_fraction=0.7)
    trees += grown(growth, 5, n_leaves=63, interactions=groups, feature_fraction_bynode=0.5)
    allowed = [set(group) for group in groups] + [{6}, {7}, {8}]
    kinds = {frozenset(path) for tree in trees for path in paths(tree)}
    assert all(any(kind <= group for group in allowed) for kind in kinds)
    assert len(kinds) > 2
    free = {frozenset(path) for tree in grown(growth, n_leaves=63) for path in paths(tree)}
    assert not all(any(kind <= group for group in allowed) for kind in free)


def test_every_split_is_the_best_of_those_allowed():
    """A plain twin: the tree without limits, of only the features that the rule leaves at each node."""
    X, gradient, hessian = documents(600, 5, seed=2)
    groups = ((0, 1), (1, 2, 3))
    (tree,) = grown(data=(X, gradient, hessian), n_leaves=8, interactions=groups)

    def best(rows, above):
        open_groups = [g for g in [{0, 1}, {1, 2, 3}, {4}] if set(above) <= g]
        gains = {}
        for f in set().union(*open_groups):
            for t in np.unique(X[rows, f])[:-1]:
                left = X[rows, f] <= t
                sides = [rows[left], rows[~left]]
                gain = sum(gradient[s].sum() ** 2 / len(s) for s in sides) - gradient[rows].sum() ** 2 / len(
                    rows
                )
                gains[-gain, f, t] = sides
        return min(gains.items())

    rows_of, above_of = {0: np.arange(600)}, {0: ()}
    for node in range(len(tree.feature)):
        (gain, f, t), sides = best(rows_of[node], above_of[node])
        assert tree.feature[node] == f
        assert t <= tree.threshold[node] < t + 1
        assert tree.gain[node] == pytest.approx(-gain, rel=1e-5)
        for child, side in zip((tree.left[node], tree.right[node]), sides, strict=True):
            rows_of[child], above_of[child] = side, (*above_of[node], f)


def test_lightgbm_keeps_to_the_same_interactions():
    lightgbm = pytest.importorskip("lightgbm")
    X, gradient, hessian = documents()
    groups = ((0, 1), (2, 3, 4), (4, 5), (6,), (7,), (8,))
    parameters = {
        "objective": "none", "num_leaves": 15, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0,
        "learning_rate": 1.0, "verbose": -1, "num_threads": 1, "boost_from_average": False,
        "interaction_constraints": [list(group) for group in groups],
    }  # fmt: skip
    booster = lightgbm.Booster(parameters, lightgbm.Dataset(X, np.zeros(len(X)), params={"verbose": -1}))
    booster.update(fobj=lambda scores, data: (gradient, hessian))
    (ours,) = grown(n_leaves=15, min_hessian=0.0, interactions=groups)
    assert ours.value[ours.leaf_of_row] == pytest.approx(booster.predict(X), rel=1e-5)


@pytest.mark.parametrize("growth", GROWERS)
def test_draws_by_level_and_node(growth):
    def level_features(tree):
        found = {}
        for path in paths(tree):
            for level, feature in enumerate(path):
                found.setdefault(level, set()).add(feature)
        return found

    trees = grown(growth, 20, n_leaves=31, feature_fraction_bylevel=0.12)  # one of nine
    assert all(len(features) == 1 for tree in trees for features in level_features(tree).values())
    assert len({tuple(tree.feature[:1]) for tree in trees}) > 3
    trees = grown(
        growth, 30, n_leaves=31, feature_fraction=0.34, feature_fraction_bynode=0.34
    )  # one of three
    used = [set(tree.feature.tolist()) for tree in trees]
    assert max(map(len, used)) == 3
    assert len(set().union(*used)) == 9
    if growth == "leafwise":
        assert any(len(features) > 1 for tree in trees for features in level_features(tree).values())


def test_a_draw_leaves_all_features_the_same_chance():
    n = 2000
    X = np.tile(np.arange(10, dtype=np.float32), n // 10)[:, None] + np.zeros((1, 9), np.float32)
    data = X, np.round(100 * np.sin(X[:, 0])).astype(np.float32), np.ones(n, np.float32)
    trees = grown(data=data, n_trees=900, n_leaves=2, feature_fraction_bynode=0.12)
    counts = np.bincount([tree.feature[0] for tree in trees], minlength=9)
    assert ((counts - 100) ** 2 / 100).sum() < 26  # chi square with 8 degrees of freedom, p = .001


@pytest.mark.parametrize("growth", GROWERS)
def test_neither_threads_nor_peers_change_anything(growth):
    X, gradient, hessian = data = documents(20_000)
    rules = {
        "n_leaves": 31, "feature_fraction_bylevel": 0.7, "feature_fraction_bynode": 0.5,
        "interactions": ((0, 1, 2), (2, 3, 4, 5), (5, 6, 7, 8)),
    }  # fmt: skip
    found = []
    for count in (1, 3):
        with threads(count):
            found.append([as_bytes(tree) for tree in grown(growth, 3, data=data, **rules)])
    assert found[0] == found[1]
    bins = Bins.of(X)
    shared = {"leafwise": SharedLeafwiseGrower, "oblivious": SharedObliviousGrower}[growth]

    def work(peers):
        mine = np.flatnonzero(np.arange(len(X)) % 2 == peers.rank)
        grower = shared(bins, bins.codes(X[mine]), GrowthRules(min_docs=1, **rules), peers, mine)
        random = np.random.default_rng(0)
        trees = [grower.grow(gradient[mine], hessian[mine], None, random) for _ in range(3)]
        return [(tree.feature.tolist(), tree.value.tolist()) for tree in trees]

    alone = [(tree.feature.tolist(), tree.value.tolist()) for tree in grown(growth, 3, data=data, **rules)]
    assert run_peers(2, work) == [alone] * 2


def test_more_groups_than_a_word_has_bits():
    bits = group_bits(tuple((f, f + 1) for f in range(99)), 101)
    assert bits.shape == (101, 2)  # the last feature is in none, so in the hundredth group
    assert bits[70].tolist() == [0, 3 << (69 - 64)]
    with pytest.raises(InputError, match="interactions of feature 3, expected 0 to 2"):
        group_bits(((0, 3),), 3)


@pytest.mark.parametrize("name", ["feature_fraction_bylevel", "feature_fraction_bynode"])
def test_impossible_shares_are_refused(name):
    with pytest.raises(InputError, match=name):
        GrowthRules(**{name: 0.0})
