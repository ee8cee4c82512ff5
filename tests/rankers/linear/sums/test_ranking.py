from itertools import pairwise

import numpy as np
import pytest

from pomona._jit import threads
from pomona.rankers.linear.sums.ranking import Ranking

QUERY_PTR = np.array([0, 1, 4, 150, 400])


def test_each_query_by_descending_score_whatever_was_ranked_before():
    random = np.random.default_rng(0)
    ranking = Ranking(QUERY_PTR)
    for _ in range(5):
        scores = random.integers(0, 40, 400).astype(float)
        expected = np.concatenate(
            [a + np.argsort(-scores[a:b], kind="stable") for a, b in pairwise(QUERY_PTR)]
        )
        assert (ranking.by(scores) == expected).all()


@pytest.mark.parametrize("count", [1, 3])
def test_equal_scores_stand_in_random_order(count):
    with threads(count):
        rows = Ranking(QUERY_PTR, np.random.default_rng(7)).by(np.zeros(400))
    for a, b in pairwise(QUERY_PTR):
        assert sorted(rows[a:b]) == list(range(a, b))
    assert (rows != np.arange(400)).sum() > 350
    assert (rows == Ranking(QUERY_PTR, np.random.default_rng(7)).by(np.zeros(400))).all()
