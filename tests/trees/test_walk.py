import numpy as np
import pytest

from pomona.trees.forest import Forest, rounded_down
from pomona.trees.walk import FEW, ZERO, leaves_of
from reference import forest as plain


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


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_few_documents_get_the_bits_of_many(single, dtype):
    random = np.random.default_rng(3)
    values = np.array([-np.inf, -1.0, -ZERO, -0.0, 0.0, ZERO / 2, ZERO, 0.1, 1.0, np.inf, np.nan])
    exact = np.array([-1.0, -ZERO, 0.0, 0.1, np.nextafter(0.1, 1), 1.0])
    trees = [plain.random_tree(random, n, 4, exact) for n in (1, 2, 9, 30) * 5]
    arrays = plain.plant(random, trees, random.standard_normal(500))
    double = random.choice(exact, len(arrays["feature"]))
    arrays |= {"threshold": rounded_down(double), "double_threshold": double}
    zeros = random.random(len(double)) < 0.5
    forest = Forest(**arrays, n_features=4, base=0.3, single=single, zero_missing=zeros)
    X = random.choice(values, (130, 4)).astype(dtype)
    together = forest.score(X)
    for n in (1, 2, FEW, FEW + 1):
        few = np.concatenate([forest.score(X[i : i + n]) for i in range(0, len(X), n)])
        assert few.tolist() == together.tolist()
    assert Forest.empty(4, base=0.3).score(X[:2]).tolist() == [0.3, 0.3]
