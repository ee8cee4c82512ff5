import numpy as np
import pytest

from pomona.trees.forest import Forest, rounded_down
from pomona.trees.linked import FEW, LinkedForest
from pomona.trees.walk import ZERO
from reference import forest as plain


def test_by_hand():
    # x0 <= 1 ? leaf 0 : (x1 <= 2 ? leaf 1 : leaf 2), NaN right then left; and a tree of one leaf
    nodes = {"feature": [0, 1], "threshold": [1, 2], "nan_left": [False, True], "gain": [0, 0]}
    links = {"left": [~0, ~1], "right": [1, ~2], "node_ptr": [0, 2, 2], "leaf_ptr": [0, 3, 4]}
    forest = LinkedForest.of(Forest(**nodes, **links, value=[1.0, 2.0, 4.0, 10.0], n_features=2))
    X = np.array([[1, 9], [2, 2], [2, 3], [np.nan, np.nan], [np.inf, -np.inf], [-np.inf, 0]], np.float32)
    assert forest.score(X).tolist() == [11, 12, 14, 12, 12, 11]
    assert forest.n_steps == 2  # (1 + 2 + 2 + 0) / 4, rounded up


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
