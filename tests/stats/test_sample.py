import numpy as np
import pytest

from pomona.errors import InputError
from pomona.stats.sample import differences, sample_of


def test_equal_but_for_rounding_is_equal():
    third = (0.1 + 0.2) / 3, 0.3 / 3
    assert third[0] != third[1]
    assert differences([third[0]], [third[1]]).tolist() == [0.0]


def test_small_differences_stay():
    assert differences([1e-9], [0.0]).tolist() == [1e-9]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "found no query"),
        (0.5, "found no query"),
        ([0.1, np.nan, 0.2], "the value of query number 2 is nan, expected a finite number"),
        ([[0.1, 0.2], [0.1, np.inf]], "the value of query number 2 is inf"),
        (["a"], "expected numbers"),
        ([[1, 2], [3]], "expected numbers"),
    ],
)
def test_refused(values, message):
    with pytest.raises(InputError, match=message):
        sample_of(values)


def test_other_numbers_of_queries_are_refused():
    with pytest.raises(InputError, match="found 2 and 3 values, expected the same queries for both"):
        differences([0.1, 0.2], [0.1, 0.2, 0.3])
