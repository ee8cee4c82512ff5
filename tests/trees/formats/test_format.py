import numpy as np
import pytest

from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.formats.format import folded, java_float, without_base, without_infinite_limits


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


def test_without_infinite_limits_all_values_go_where_they_went(forest, infinite_rows):
    limited = without_infinite_limits(forest)
    assert (limited.threshold < np.inf).all()
    assert np.array_equal(limited.score(infinite_rows), forest.score(infinite_rows))


def test_many_splits_of_known_from_undefined_values_are_refused():
    """Without infinity the known side stands twice: 25 such splits below one another double it 25 times."""
    n = np.arange(25)
    children = {"left": np.append(n[1:], ~25), "right": ~n}
    splits = {"feature": n, "nan_left": n < 0, "threshold": np.full(25, np.inf), "gain": n}
    forest = Forest(
        **children, **splits, node_ptr=[0, 25], leaf_ptr=[0, 26], value=np.ones(26), n_features=25
    )
    with pytest.raises(InputError, match="infinite"):
        without_infinite_limits(forest)


def test_numbers_as_java_reads_them():
    assert [java_float(x) for x in (0.5, np.inf, -np.inf)] == ["0.5", "Infinity", "-Infinity"]
