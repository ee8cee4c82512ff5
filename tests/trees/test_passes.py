import numpy as np
import pytest

from pomona._jit import threads
from pomona.trees.divide import LEAF
from pomona.trees.passes import Passes, share


def passes(n=300_000, **how):
    random = np.random.default_rng(0)
    gradient, hessian = random.normal(size=n).astype(np.float32), random.random(n).astype(np.float32)
    return Passes(np.arange(n, dtype=np.int32), gradient, hessian, np.empty(n, np.int64), **how)


def test_a_share_for_each_thread_that_is_worth_one():
    with threads(4):
        assert share(100, least=30) == 34
        assert share(100, least=10) == 25
        assert share(100, least=200) == 100


def test_extremes_are_of_the_hessians_that_splits_are_chosen_by():
    ours = passes(searched=np.full(300_000, 7, np.float32))
    facts = np.array(ours.extremes())
    assert facts[:, 0].max() == abs(ours.gradient).max()
    assert facts[:, 1:].tolist() == [[7.0, 7.0, 1.0]] * len(facts)


@pytest.mark.parametrize("is_bag", [False, True])
def test_sums_are_of_whole_units_in_any_parts(is_bag):
    found = []
    for count in (1, 3):
        with threads(count):
            found.append(np.sum(passes(is_bag=is_bag).sums((8.0, 4.0)), axis=0).tolist())
    ours = passes()
    units = np.rint(ours.gradient * 8.0)
    expected = [units[units > 0].sum(), -units[units < 0].sum(), np.rint(ours.hessian * 4.0).sum()]
    assert found == [expected, expected]


def test_leaves_are_summed_up_and_others_have_none():
    n = 10
    gradient, hessian = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    ours = Passes(np.array([7, 3, 5], np.int32), gradient, hessian, np.empty(n, np.int64))
    leaves = np.zeros(2, LEAF)
    leaves["begin"], leaves["end"] = [0, 1], [1, 3]
    assert ours.sum_leaves(leaves, (1.0, 2.0)).tolist() == [[7, 2], [8, 4]]
    assert ours.leaf_of_row.tolist() == [-1, -1, -1, 1, -1, 1, -1, 0, -1, -1]
