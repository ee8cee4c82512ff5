from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pomona._exact import exact_sum, float_ratio

ONE = exact_sum(np.array([1.0]))
floats = st.floats(-1e300, 1e300, allow_nan=False)


@given(st.lists(floats, max_size=30))
def test_a_sum_is_that_of_fractions(values):
    expected = float(sum(map(Fraction, values), Fraction(0)))
    assert float_ratio(exact_sum(np.array(values, np.float64)), ONE) == expected


@given(st.lists(floats, min_size=2, max_size=30), st.integers(1, 29))
def test_sums_of_parts_add_up(values, cut):
    array = np.array(values)
    parts = exact_sum(array[:cut]) + exact_sum(array[cut:])
    assert float_ratio(parts, ONE) == float_ratio(exact_sum(array[::-1].copy()), ONE)


def test_the_least_and_the_largest_floats():
    assert float_ratio(exact_sum(np.array([5e-324, 5e-324])), ONE) == 1e-323
    largest = np.finfo(np.float64).max
    assert float_ratio(exact_sum(np.full(4, largest)), exact_sum(np.array([4.0]))) == largest
    assert float_ratio(ONE, exact_sum(np.zeros(3))) == 0.0
