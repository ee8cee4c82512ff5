from math import log, log2

import pytest

from pomona.errors import InputError
from pomona.measures.dcg import DCG


def test_by_hand():
    assert DCG().of_query([2, 0, 1]) == 3 + 1 / 2
    assert DCG(k=2, gain="linear").of_query([2, 1, 5]) == pytest.approx(2 + 1 / log2(3))
    assert DCG(discount="letor").of_query([1, 1, 1, 1]) == pytest.approx(1 + 1 + 1 / log2(3) + 1 / 2)
    assert DCG(discount="ln").of_query([1]) == pytest.approx(1 / log(2))


def test_swap_by_hand():
    assert DCG().swap_deltas([0, 2])[0, 1] == pytest.approx(3 * (1 - 1 / log2(3)))


def test_refusals():
    for wrong in ({"gain": "cubic"}, {"discount": "none"}):
        with pytest.raises(InputError):
            DCG(**wrong).of_query([1])
