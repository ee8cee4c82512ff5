import numpy as np

from pomona.measures.parse import measure
from pomona.measures.reciprocal_rank import ReciprocalRank


def test_by_hand():
    assert ReciprocalRank().of_query([0, 0, 1]) == 1 / 3
    assert ReciprocalRank(k=2).of_query([0, 0, 1]) == 0
    assert measure("ranklib:rr@10").of_query([0, 0, 1]) == np.float32(1 / 3) == 0.3333333432674408
