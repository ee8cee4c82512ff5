import numpy as np
import pytest

from pomona.trees.coded import DEEP, LARGE, OBLIVIOUS, SMALL, CodedForest
from pomona.trees.forest import Forest
from reference import forest as plain


def coded(trees, n_features=3):
    random = np.random.default_rng(0)
    return CodedForest.of(Forest(**plain.plant(random, trees, [1.0, 2.0]), n_features=n_features))


def stumps(thresholds, nan_left):
    n = len(thresholds)
    return [
        {"feature": [2], "threshold": [thresholds[i]], "nan_left": [nan_left[i]], "left": [~0], "right": [~1]}
        for i in range(n)
    ]


def test_a_node_becomes_the_rank_of_its_threshold():
    found = coded(stumps([5.0, -1.0, 5.0, 2.0], [True] * 4))
    assert found.plane_feature.tolist() == [2]
    assert found.plane_nan.tolist() == [0]
    assert found.nodes["code"].tolist() == [2, 0, 2, 1]
    assert found.cuts.tolist() == [np.inf] * 16 + [-1.0, 2.0, 5.0] + [np.inf] * 13


def test_zero_has_no_sign():
    assert coded(stumps([0.0, -0.0], [True] * 2)).nodes["code"].tolist() == [0, 0]


def test_directions_of_nan_have_planes_of_their_own():
    found = coded(stumps([1.0, 1.0], [False, True]))
    assert found.plane_nan.tolist() == [255, 0]
    assert found.nodes["plane"].tolist() == [0, 64]


@pytest.mark.parametrize(("n_thresholds", "n_planes"), [(255, 1), (256, 2), (510, 2), (511, 3)])
def test_many_thresholds_need_several_planes(n_thresholds, n_planes):
    found = coded(stumps(np.arange(n_thresholds), [True] * n_thresholds))
    assert found.n_planes == n_planes
    assert found.nodes["code"].tolist() == [i % 255 for i in range(n_thresholds)]


def test_the_last_of_every_sixteen_cuts_but_the_last_stands_before_them():
    cuts = coded(stumps(np.arange(40.0), [True] * 40)).cuts
    assert cuts[:16].tolist() == [15.0, 31.0] + [np.inf] * 14
    assert cuts[16:].tolist() == [*range(40)] + [np.inf] * 8
    assert coded(stumps(np.arange(32.0), [True] * 32)).cuts[:2].tolist() == [15.0, np.inf]


def test_nodes_are_put_in_level_order_and_leaves_from_left_to_right():
    # 0 → (1 → (3 → (leaf 0, leaf 2), leaf 3), 2 → (leaf 1, leaf 4)), its nodes written depth first
    tree = {"feature": [0, 1, 2, 0], "threshold": [1.0] * 4, "nan_left": [True] * 4}
    found = coded([{**tree, "left": [1, 2, ~0, ~1], "right": [3, ~3, ~2, ~4]}])
    assert found.child.tolist() == [[1, 2], [3, ~2], [~3, ~4], [~0, ~1]]
    assert found.nodes["leaf"].tolist() == [0, 0, 3, 0]
    assert found.nodes["right"].tolist() == [3, 2, 4, 1]
    assert found.leaf_order.tolist() == [0, 2, 3, 1, 4]


def test_oblivious_trees_are_recognized():
    random = np.random.default_rng(0)
    trees = [plain.oblivious_tree(random, n_levels, 3, np.arange(9.0)) for n_levels in range(6)]
    other = {name: array.copy() for name, array in trees[3].items()}
    other["threshold"][5] += 1
    chain = {
        "feature": [0, 0],
        "threshold": [1.0, 1.0],
        "nan_left": [True, True],
        "left": [1, ~0],
        "right": [~1, ~2],
    }
    found = coded([*trees, other, chain])
    assert found.n_levels.tolist() == [0, 1, 2, 3, 4, 5, -1, -1]
    assert found.runs == [(OBLIVIOUS, 0, 1), (SMALL, 1, 3), (OBLIVIOUS, 3, 6), (SMALL, 6, 8)]


def test_trees_go_by_how_many_leaves_they_have():
    random = np.random.default_rng(0)
    trees = [plain.random_tree(random, n_leaves, 3, np.arange(900.0)) for n_leaves in (256, 257)]
    trees += [plain.oblivious_tree(random, n_levels, 3, np.arange(9.0)) for n_levels in (8, 9)]
    assert [kind for kind, *_ in coded(trees).runs] == [SMALL, LARGE, OBLIVIOUS, DEEP]


def test_a_forest_without_trees():
    found = coded([])
    assert (found.n_trees, found.n_planes) == (0, 0)
