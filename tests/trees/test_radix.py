import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from pomona.trees.radix import RadixSort


def by_radix(values):
    values = np.array(values, np.float32)
    RadixSort(len(values) + 3).sort(values)
    return values


@given(st_numpy.arrays(np.float32, st.integers(1, 60), elements=st.floats(width=32)))
def test_sorts_as_numpy_does(values):
    found = by_radix(values)
    assert np.array_equal(found, np.sort(values), equal_nan=True)


@pytest.mark.parametrize("values", [[np.nan, -np.inf, np.inf, 1], [3.0, -np.nan, 2.0], [0.5] * 5, []])
def test_what_is_no_number_comes_last(values):
    assert np.array_equal(by_radix(values), np.sort(np.array(values, np.float32)), equal_nan=True)


def test_negative_nan_is_nan():
    values = np.array([1, -np.nan, -5], np.float32)
    assert np.signbit(values[1])
    assert by_radix(values)[:2].tolist() == [-5, 1]


def test_zeros_are_one_value():
    assert not np.signbit(by_radix([-0.0, 0.0, -0.0])).any()


def test_many_of_few_values_and_many_of_many():
    random = np.random.default_rng(0)
    for values in (
        random.integers(0, 4, 70_000),
        random.normal(size=70_000) * 10.0 ** random.integers(-9, 9, 70_000),
    ):
        values = values.astype(np.float32)
        assert np.array_equal(by_radix(values), np.sort(values))
