import pytest

from golden import thesis
from pomona.errors import InputError
from pomona.measures.nerr import NERR
from pomona.measures.parse import measure


def test_by_hand():
    # R of labels 0, 1, 2 is 0, 1/16, 3/16.
    ideal = 3 / 16 + (13 / 16) * (1 / 16) / 2
    assert NERR().of_query([0, 2, 1]) == pytest.approx(((3 / 16) / 2 + (13 / 16) * (1 / 16) / 3) / ideal)
    assert NERR(k=1).of_query([1, 2]) == pytest.approx(1 / 3)


def test_queries_that_nothing_satisfies():
    assert NERR().of_query([0, 0]) == 0.0
    assert measure("nerr(empty=1)@10").of_query([0, 0]) == 1.0
    assert not NERR(empty=1.0).swap_deltas([0, 0]).any()


def test_lists_in_their_best_order_are_worth_one():
    # Table 3.5: ERR prefers π6, in its worst order, to π8, in its best.
    values = [NERR().of_query(labels) for labels, _, _ in thesis.LONG]
    for best in (0, 1, 3, 7):
        assert values[best] == pytest.approx(1.0)
    err = measure("err")
    assert err.of_query(thesis.LONG[5][0]) > err.of_query(thesis.LONG[7][0])
    assert values[5] < 0.61


def test_labels_above_the_highest_grade():
    with pytest.raises(InputError, match="above max_grade=4"):
        NERR().of_query([5])
