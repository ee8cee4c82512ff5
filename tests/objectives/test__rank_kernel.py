import numpy as np
import pytest

from pomona.objectives._rank_kernel import rank, rank_all, rank_head


def ranked(scores, shuffle, last, m):
    n = len(scores)
    place = np.empty(n, np.int32)
    place[shuffle] = np.arange(n, dtype=np.int32)
    rows, keys = last[:m].astype(np.int32), np.empty(m)
    if m < n:
        rank_head(scores, shuffle, rows, keys, np.empty(n + 1, np.int32))
    else:
        rank_all(scores, place, rows, keys, np.empty(n), np.empty(n, np.int32))
    assert np.array_equal(keys, scores[rows])
    again, its_keys = last[:m].astype(np.int32), np.empty(m)
    rank(scores, shuffle, place, again, its_keys, np.empty(n + 16), np.empty(n + 16, np.int32))
    assert np.array_equal(again, rows)
    assert np.array_equal(its_keys, keys)
    return rows


@pytest.mark.parametrize(
    ("n", "m"),
    [(1, 1), (2, 1), (2, 2), (63, 63), (64, 20), (65, 65), (128, 128), (129, 129), (500, 100), (700, 700)],
)
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_any_last_ranking_leads_to_the_same(n, m, digits):
    random = np.random.default_rng(n + digits)
    scores = random.standard_normal(n).round(digits)  # few digits: many ties
    shuffle = random.permutation(n).astype(np.int32)
    expected = shuffle[np.argsort(-scores[shuffle], kind="stable")]
    for last in (shuffle, expected, expected[::-1], random.permutation(n)):
        assert np.array_equal(ranked(scores, shuffle, last, m), expected[:m])


def test_equal_scores_keep_the_shuffled_order():
    shuffle = np.random.default_rng(0).permutation(200).astype(np.int32)
    for m in (10, 200):
        assert np.array_equal(ranked(np.zeros(200), shuffle, np.arange(200), m), shuffle[:m])
