import numpy as np

from pomona._jit import kernel
from pomona.trees.prefetch import prefetch


@kernel
def _sum_ahead(values, ahead):
    total = np.int64(0)
    for i in range(values.size):
        prefetch(values, np.uint64(i + ahead))
        total += values[i]
    return total


def test_asking_ahead_changes_nothing_even_beyond_the_end():
    values = np.arange(1000)
    assert _sum_ahead(values, 16) == _sum_ahead(values, 10**9) == values.sum()
    assert values.tolist() == list(range(1000))
