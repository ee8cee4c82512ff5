import numpy as np

from pomona.trees.forest import Forest
from pomona.trees.formats.format import finite, folded, without_base


def test_folding_counts_leaves(forests):
    forest = forests["lambdamart"]
    counts = folded(forest, lambda number, value: 1, lambda number, split, a, b: a + b)
    assert list(counts) == np.diff(forest.leaf_ptr).tolist()


def test_a_tree_may_be_deeper_than_python_can_call():
    n = np.arange(5000)
    children = {"left": np.append(n[1:], ~5000), "right": ~n}
    splits = {"feature": 0 * n, "nan_left": n < 0, "threshold": -n}
    offsets = {"node_ptr": [0, 5000], "leaf_ptr": [0, 5001], "value": np.ones(5001), "gain": n}
    forest = Forest(**children, **splits, **offsets, n_features=1)
    assert list(folded(forest, lambda number, value: value, lambda number, split, a, b: a + b)) == [5001]


def test_a_base_becomes_a_tree(forests, rows):
    forest = forests["mart, with a base"]
    assert forest.base != 0
    assert without_base(forest).base == 0
    assert np.array_equal(without_base(forest).score(rows), forest.score(rows))
    assert without_base(forests["lambdamart"]) is forests["lambdamart"]


def test_finite_thresholds_divide_finite_values_alike(forest, rows):
    assert np.isfinite(finite(forest).threshold).all()
    assert np.array_equal(finite(forest).score(rows), forest.score(rows))
