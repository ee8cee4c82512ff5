"""trec_eval's gain family, by hand."""

import math

import numpy as np
import pytest

from pomona.tools.trec_eval import ndcg
from pomona.tools.trec_eval.ranking import Options, Ranking


def ranking(labels, levels, **options):
    return Ranking(np.array(labels, np.int64), np.array(levels), sum(levels[1:]), Options(**options))


LOG3 = math.log2(3)
# Ranked 0, 2, 1, as in the conventions' worked example, all judged documents retrieved.
WORKED = ranking([0, 2, 1], [1, 1, 1])
DCG, BEST = 2 / LOG3 + 1 / 2, 2 + 1 / LOG3


def test_dcg():
    assert ndcg.dcg(WORKED, ()) == DCG
    assert ndcg.ideal_dcg(WORKED, ()) == BEST
    assert ndcg.ndcg(WORKED, ()) == DCG / BEST
    assert ndcg.ndcg(WORKED, ((1, 1.0), (2, 3.0))) == (3 / LOG3 + 1 / 2) / (3 + 1 / LOG3)
    assert ndcg.ndcg(ranking([0], [1]), ()) == 0.0


def test_ndcg_at():
    assert ndcg.ndcg_at(WORKED, (1, 2, 3, 10)) == [0.0, 2 / LOG3 / BEST, DCG / BEST, DCG / BEST]
    assert ndcg.ndcg_at(ranking([], [1, 2]), (5,)) == [0.0]
    assert ndcg.ndcg_at(ranking([0], [1]), (5,)) == [0.0]


def test_ndcg_rel():
    # At rank 2 over the best two, at rank 3 over the best two again, for there are no more.
    assert ndcg.ndcg_rel(WORKED, ()) == (2 / LOG3 / BEST + DCG / BEST) / 2
    # One of two relevant documents not retrieved: it counts with the last DCG.
    assert ndcg.ndcg_rel(ranking([1], [0, 2]), ()) == pytest.approx(
        (1 / 1 + 1 / (1 + 1 / LOG3)) / 2, rel=1e-15
    )


def test_r_ndcg():
    # The best list is 2, 1: its gain changes after rank 1 and after rank 2, and the run ends at rank 3.
    assert ndcg.r_ndcg(WORKED, ()) == (0 / 2 + (2 / LOG3) / BEST) / 2
    # With a fourth document the end of the run counts too.
    assert ndcg.r_ndcg(ranking([0, 2, 1, 0], [2, 1, 1]), ()) == (0 / 2 + (2 / LOG3) / BEST + DCG / BEST) / 3
    assert ndcg.r_ndcg(ranking([0], [1]), ()) == 0.0


def test_r_ndcg_of_nothing_but_zeros_is_not_a_number():
    # With -l 0 every judged document is relevant, and the best list has no gain.
    with np.errstate(invalid="ignore"):
        assert math.isnan(ndcg.r_ndcg(Ranking(np.array([0]), np.array([1]), 1, Options(level=0)), ()))


def test_g():
    # The best list costs 2, 1 and then 1 a document: 4 behind at rank 2 less 2 gained, and so on.
    assert ndcg.g(WORKED, ()) == (2 / math.log2(2 + 3 - 2) + 1 / math.log2(2 + 4 - 3)) / 3
    assert ndcg.g(ranking([0], [1]), ()) == 0.0


def test_g_of_a_run_that_gains_more_than_the_best_list():
    # A document without a judgment given a gain: log2(2 + 1 - 4) and log2(2 + 1 - 3) in C.
    with np.errstate(divide="ignore", invalid="ignore"):
        assert math.isnan(ndcg.g(ranking([-1], [0, 1]), ((-1, 4.0),)))
        assert ndcg.g(ranking([-1], [0, 1]), ((-1, 3.0),)) == 0.0


def test_rbp():
    p = 0.9
    assert ndcg.rbp(ranking([1, 0, 1], [1, 2]), ()) == pytest.approx((1 - p) * (1 + p**2), rel=1e-15)
    # Gains above 1 are divided by the greatest.
    assert ndcg.rbp(WORKED, (("p", 0.5),)) == (1 - 0.5) * (2 / 2 * 0.5 + 1 / 2 * 0.25)
    assert ndcg.rbp(WORKED, (("p", 0.5), ("2", 4.0))) == (1 - 0.5) * (4 / 4 * 0.5 + 1 / 4 * 0.25)


def test_rbp_residual():
    assert ndcg.rbp_residual(ranking([1, -1, -2], [0, 1]), (("p", 0.5),)) == 0.5**3 + (1 - 0.5) * (0.5 + 0.25)
    assert ndcg.rbp_residual(WORKED, ()) == 0.0
