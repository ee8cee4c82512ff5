import numpy as np
import pytest

from pomona._jit import kernel
from pomona.trees.below import n_below


@kernel
def _below(values, offset, limit):
    return n_below(values, offset, limit)


@pytest.mark.parametrize("offset", [0, 3, 48])
@pytest.mark.parametrize("limit", [-np.inf, -1.0, 0.0, 0.3, np.inf, np.nan])
def test_sixteen_numbers_are_compared_at_once(offset, limit):
    values = np.random.default_rng(1).normal(size=64).astype(np.float32)
    values[[0, 5, 50, 60]] = 0.0, np.nan, np.inf, -0.0
    expected = int((values[offset : offset + 16] < np.float32(limit)).sum())
    assert _below(values, np.uint64(offset), np.float32(limit)) == expected
