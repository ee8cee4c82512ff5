import numpy as np

from pomona.trees.walk import leaves_of


def arrays(feature, threshold, nan_left, left, right):
    return (
        np.array(feature, np.int32),
        np.array(threshold, np.float32),
        np.array(nan_left, bool),
        np.array(left, np.int32),
        np.array(right, np.int32),
    )


def test_by_hand():
    # x0 <= 1 ? leaf 0 : (x1 <= 2 ? leaf 1 : leaf 2), NaN right then left
    tree = arrays([0, 1], [1, 2], [False, True], [~0, ~1], [1, ~2])
    X = np.array([[1, 9], [2, 2], [2, 3], [np.nan, np.nan], [np.inf, -np.inf]], np.float32)
    assert leaves_of(X, *tree).tolist() == [0, 1, 2, 1, 1]


def test_a_tree_without_a_split():
    assert leaves_of(np.zeros((3, 1), np.float32), *arrays([], [], [], [], [])).tolist() == [0, 0, 0]
