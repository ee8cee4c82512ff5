import numpy as np
import pytest

from pomona.trees.coded import CodedForest
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
    assert found.node_code.tolist() == [2, 0, 2, 1]
    assert found.cuts.tolist() == [np.inf, 2.0, -1.0, 5.0], "a search tree, the root at 1"


def test_zero_has_no_sign():
    assert coded(stumps([0.0, -0.0], [True] * 2)).node_code.tolist() == [0, 0]


def test_directions_of_nan_have_planes_of_their_own():
    found = coded(stumps([1.0, 1.0], [False, True]))
    assert found.plane_nan.tolist() == [255, 0]
    assert found.node_plane.tolist() == [0, 64]


@pytest.mark.parametrize(("n_thresholds", "n_planes"), [(255, 1), (256, 2), (510, 2), (511, 3)])
def test_many_thresholds_need_several_planes(n_thresholds, n_planes):
    found = coded(stumps(np.arange(n_thresholds), [True] * n_thresholds))
    assert found.n_planes == n_planes
    assert found.node_code.tolist() == [i % 255 for i in range(n_thresholds)]
    assert np.isfinite(found.cuts).sum() == n_thresholds


def test_nodes_and_leaves_are_put_in_level_order():
    # 0 → (1 → (2, leaf 3), leaf 1), 2 → (leaf 0, leaf 2): slots 0..2 are nodes, 3..6 leaves by level
    tree = {"feature": [0, 1, 2], "threshold": [1.0] * 3, "nan_left": [True] * 3}
    found = coded([{**tree, "left": [1, 2, ~0], "right": [~1, ~3, ~2]}])
    assert found.left.tolist() == [1, 2, 5]
    assert found.right.tolist() == [3, 4, 6]


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
    assert coded([*trees, other, chain]).n_levels.tolist() == [0, 1, 2, 3, 4, 5, -1, -1]


def test_a_forest_without_trees():
    found = coded([])
    assert (found.n_trees, found.n_planes) == (0, 0)
