import numpy as np
import pytest

from pomona.errors import InputError
from pomona.trees.formats.weighted_sum import WeightedSum


def test_terms_are_added_in_their_order():
    model = WeightedSum(np.array([1, 0, 1]), np.array([1e16, 1.0, -1e16]), n_features=2, start=0.0)
    assert model.score([[1.0, 1.0]]).tolist() == [(1e16 + 1.0) - 1e16]
    assert model.coef.tolist() == [1.0, 0.0]
    assert model.importance().tolist() == [1.0, 0.0]


def test_float32_sums():
    model = WeightedSum(np.array([0, 1]), np.array([0.1, 0.2]), n_features=2, start=0.3, single=True)
    a, b, c = np.float32([0.3, 0.1, 0.2])
    assert model.score([[3.0, 7.0]]).tolist() == [float((a + b * np.float32(3)) + c * np.float32(7))]


def test_arrays_and_back():
    model = WeightedSum(np.array([1]), np.array([2.0]), 3, 1.0)
    twin = WeightedSum.of_arrays(model.arrays(), 3, 1.0, single=False)
    assert twin.score([[1, 2, 3]]).tolist() == [5.0]
    with pytest.raises(InputError, match="outside"):
        WeightedSum(np.array([3]), np.array([2.0]), 3)
    with pytest.raises(InputError, match="not finite"):
        WeightedSum(np.array([0]), np.array([np.nan]), 3)
    with pytest.raises(InputError, match="other types"):
        WeightedSum.of_arrays({"feature": np.zeros(1), "weight": np.zeros(1)}, 3, 0.0, single=False)
