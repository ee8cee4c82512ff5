import pytest

from pomona.measures.parse import measure
from pomona.measures.position import PositionMeasure


def test_swap_of_an_empty_query_is_zero():
    assert not measure("ndcg@3").swap_deltas([0, 0, 0]).any()


def test_t3():
    # The standard three-document query: labels 2, 1, 0 ranked upside down.
    deltas = abs(measure("ndcg").swap_deltas([0, 1, 2]))
    assert measure("ndcg").of_query([0, 1, 2]) == pytest.approx(0.586883, abs=1e-6)
    assert deltas[2, 1] == pytest.approx(0.072119, abs=1e-6)
    assert deltas[2, 0] == pytest.approx(0.413117, abs=1e-6)
    assert deltas[1, 0] == pytest.approx(0.101646, abs=1e-6)


def test_a_family_is_not_a_measure():
    with pytest.raises(NotImplementedError):
        PositionMeasure().of_query([1])
