import numpy as np
import pytest

from pomona._jit import threads
from pomona.trees.binning import Bins
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grow_oblivious import ObliviousGrower
from pomona.trees.grow_shared import SharedLeafwiseGrower, SharedObliviousGrower
from pomona.trees.grower import GrowthRules
from trees.fake_peers import run_peers

GROWERS = {
    "leafwise": (LeafwiseGrower, SharedLeafwiseGrower),
    "oblivious": (ObliviousGrower, SharedObliviousGrower),
}
RULES = {
    "plain": {},
    "few features": {"feature_fraction": 0.4},
    "monotone": {"monotone": (1, -1, 0, 0, 0, 0, 0), "l2": 2.0},
    "shallow": {"max_depth": 2},
    "small sides": {"min_docs": 150, "min_hessian": 30.0},
}


def documents(n=3000):
    random = np.random.default_rng(5)
    X = random.normal(size=(n, 7)).astype(np.float32)
    X[:, 1] = np.rint(X[:, 1])
    X[:, 2] = X[:, 2] > 0
    X[random.random(n) < 0.2, 3] = np.nan
    X[:, 4] = 1.0
    gradient = (X[:, 0] - np.nan_to_num(X[:, 3]) ** 2 + random.normal(size=n)).astype(np.float32)
    return X, gradient, random.random(n).astype(np.float32)


def bits(tree):
    names = ("feature", "threshold", "nan_left", "left", "right", "gain", "value")
    return [getattr(tree, name).tobytes() for name in names]


@pytest.mark.parametrize("bagged", [False, True])
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("growth", GROWERS)
def test_peers_grow_the_tree_of_one_machine(growth, rules, bagged):
    alone, shared = GROWERS[growth]
    X, gradient, hessian = documents()
    bins, limits = Bins.of(X), GrowthRules(n_leaves=13, **{"max_depth": 4, **RULES[rules]})
    rows = np.flatnonzero(np.random.default_rng(2).random(len(X)) < 0.7).astype(np.int32)
    expected_grower, random = alone(bins, bins.codes(X), limits), np.random.default_rng(1)
    expected = [expected_grower.grow(gradient, hessian, rows if bagged else None, random) for _ in range(2)]
    assert len(expected[0].feature) > 1
    owner = np.random.default_rng(3).choice(5, len(X), p=[0.6, 0.2, 0.1, 0.1, 0.0])
    for count in (1, 2, 5):  # of five, the last has no document at all

        def work(peers, count=count):
            mine = np.flatnonzero(owner % count == peers.rank)
            own_rows = np.flatnonzero(np.isin(mine, rows)).astype(np.int32) if bagged else None
            grower = shared(bins, bins.codes(X[mine]), limits, peers, mine)
            random = np.random.default_rng(1)
            trees = [grower.grow(gradient[mine], hessian[mine], own_rows, random) for _ in range(2)]
            for tree, of_all in zip(trees, expected, strict=True):
                assert tree.leaf_of_row.tolist() == of_all.leaf_of_row[mine].tolist()
            return [bits(tree) for tree in trees]

        with threads(1):
            for trees in run_peers(count, work):
                assert trees == [bits(tree) for tree in expected]


def test_threads_of_a_peer_do_not_matter():
    X, gradient, hessian = documents(60_000)
    bins, limits = Bins.of(X), GrowthRules(n_leaves=9)
    expected = LeafwiseGrower(bins, bins.codes(X), limits).grow(
        gradient, hessian, None, np.random.default_rng(0)
    )

    def work(peers):
        grower = SharedLeafwiseGrower(bins, bins.codes(X), limits, peers, np.arange(len(X)))
        return bits(grower.grow(gradient, hessian, None, np.random.default_rng(0)))

    with threads(3):
        assert run_peers(1, work) == [bits(expected)]


def test_without_a_feature_to_split_on_there_is_one_leaf():
    X, ones = np.ones((6, 1), np.float32), np.ones(6, np.float32)
    bins = Bins.of(X)

    def work(peers):
        mine = np.arange(peers.rank, 6, 2)
        grower = SharedLeafwiseGrower(bins, bins.codes(X[mine]), GrowthRules(), peers, mine)
        return grower.grow(ones[mine], ones[mine], None, np.random.default_rng(0)).value.tolist()

    with threads(1):
        assert run_peers(2, work) == [[-1.0], [-1.0]]
