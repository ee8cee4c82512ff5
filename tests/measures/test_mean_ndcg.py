from math import log2

import pytest

from pomona.measures.mean_ndcg import MeanNDCG
from pomona.measures.parse import measure


def test_by_hand():
    third = (3 + 1 / log2(3)) / 4
    assert measure("letor4:meanndcg").of_query([0, 2, 1]) == pytest.approx((0 + 3 / 4 + third) / 3)
    assert MeanNDCG().of_query([1]) == 1
    assert MeanNDCG().of_query([0, 0]) == 0
    assert MeanNDCG(k=1).of_query([0, 1]) == 0
