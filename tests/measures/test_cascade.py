import numpy as np
import pytest

from pomona.measures.cascade import CascadeMeasure
from pomona.measures.lists import ScoredQueries
from pomona.measures.parse import measure


def test_a_certain_stop_needs_no_division():
    assert measure("rr").swap_deltas([1, 0, 1]).tolist() == pytest.approx(
        np.array([[0, -1 / 2, 0], [-1 / 2, 0, 0], [0, 0, 0]])
    )


def test_a_large_tied_block_does_not_overflow():
    n = 2000
    judged = ScoredQueries(np.tile([0.0, 4.0], n // 2), np.zeros(n), np.array([0, n]))
    value = measure("err").of_lists(judged.ranked("expected"))[0]
    assert 0.5 < value < 1


def test_a_family_is_not_a_measure():
    with pytest.raises(NotImplementedError):
        CascadeMeasure().of_query([1])
