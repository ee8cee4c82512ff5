"""trec_eval's precision family: by hand, and on random runs against the tool's own code."""

import math

import numpy as np
import pytest

from pomona.tools.trec_eval import precision
from pomona.tools.trec_eval.ranking import Options, Ranking


def ranking(labels, levels, **options):
    level = options.get("level", 1)
    return Ranking(np.array(labels, np.int64), np.array(levels), sum(levels[level:]), Options(**options))


# Relevant at ranks 1 and 4 of 6; the second has no judgment, the fifth is in the pool and not judged.
# In all, 3 relevant documents (one not retrieved) and 4 nonrelevant ones.
WORKED = ranking([1, -1, 0, 2, -2, 0], [4, 2, 1])
EMPTY = ranking([], [4, 2, 1])
NONE_RELEVANT = ranking([0, 0], [2])

BY_HAND = {
    "num_nonrel_judged_ret": 2,
    "set_precision": 2 / 6,
    "set_recall": 2 / 3,
    "set_relative_precision": 2 / 3,
    "set_map": (2 * 2) / (6 * 3),
    "average_precision": (1 / 1 + 2 / 4) / 3,
    "yaap": math.log((1 + 1.5) / (1 + 3 - 1.5)),
    "r_precision": 1 / 3,
    "reciprocal_rank": 1.0,
    # Nothing above the first; one of min(4, 3) above the second.
    "bpref": (1 + (1 - 1 / 3)) / 3,
    # The second: one relevant and one nonrelevant judged among the 3 above it, of which 2 are in the pool.
    "inferred_ap": (1 + (1 / 4 + 3 / 4 * (2 / 3) * ((1 + 1e-5) / (2 + 2e-5)))) / 3,
    "bin_g": (1 / math.log2(2) + 1 / math.log2(4)) / 3,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name):
    assert getattr(precision, name)(WORKED) == pytest.approx(BY_HAND[name], rel=1e-15)


@pytest.mark.parametrize("name", [name for name in BY_HAND if name != "yaap"])
@pytest.mark.parametrize("query", [EMPTY, NONE_RELEVANT])
def test_nothing_found(name, query):
    expected = 2 if (name, query) == ("num_nonrel_judged_ret", NONE_RELEVANT) else 0
    assert getattr(precision, name)(query) == expected


def test_at_cutoffs():
    assert [precision.precision_at(WORKED, k) for k in (1, 4, 10)] == [1.0, 2 / 4, 2 / 10]
    assert [precision.recall_at(WORKED, k) for k in (1, 4, 10)] == [1 / 3, 2 / 3, 2 / 3]
    assert [precision.relative_precision_at(WORKED, k) for k in (1, 2, 10)] == [1.0, 1 / 2, 2 / 3]
    assert [precision.success_at(WORKED, k) for k in (1, 10)] == [1.0, 1.0]
    assert [precision.average_precision_at(WORKED, k) for k in (3, 4)] == [1 / 3, (1 + 2 / 4) / 3]
    assert [precision.unjudged_at(WORKED, k) for k in (1, 2, 10)] == [0.0, 1 / 2, 2 / 10]
    assert precision.success_at(EMPTY, 5) == 0.0


def test_at_multiples_of_r():
    # 0.2 R = 0.6 and 0.9 more is 1; 2 R = 6; 5 R = 15, beyond the ranking.
    assert [precision.r_precision_times(WORKED, m) for m in (0.0, 0.2, 2.0, 5.0)] == [0.0, 1.0, 2 / 6, 2 / 15]


def test_sets_with_weights():
    p, r = 2 / 6, 2 / 3
    assert precision.set_f(WORKED, (1.0,)) == 2 * p * r / (p + r)
    assert precision.set_f(WORKED, (3.0,)) == 4 * p * r / (3 * p + r)
    assert precision.set_f(EMPTY, (1.0,)) == 0.0
    assert precision.utility(WORKED, (1.0, -1.0, 0.0, 0.0)) == 2 - 4
    assert precision.utility(WORKED, (0.0, 0.0, 10.0, 100.0)) == 10 * 1 + 100 * (2 - 6 - 3)


def test_precision_at_recall():
    # Precision 1/1 and 2/4 at the two found of 3; a third of 3 is 1, two thirds are 2, all are 3.
    assert precision.precisions_at_recall(WORKED, (0.0, 1 / 3, 2 / 3, 1.0)) == [1.0, 1.0, 0.5, 0.0]
    assert precision.mean_precision_at_recall(WORKED, (0.0, 1 / 3, 2 / 3, 1.0)) == 2.5 / 4


def test_shares_are_rounded_as_the_version_does():
    # 0.4 of 3 is 1.2: adding 0.9 and cutting gives 2, rounding gives 1.
    assert precision.precisions_at_recall(WORKED, (0.4,)) == [0.5]
    assert precision.precisions_at_recall(ranking([1, -1, 0, 2], [4, 2, 1], version=10), (0.4,)) == [1.0]
    assert [precision._rounded(x) for x in (0.49, 0.5, 1.5, 2.5, -0.5)] == [0, 1, 2, 3, -1]


def test_shares_out_of_order_count_as_0():
    assert precision.mean_precision_at_recall(WORKED, (2 / 3, 1 / 3)) == (1.0 + 1.0) / 2
    assert precision.mean_precision_at_recall(WORKED, (1 / 3, 2 / 3)) == (1.0 + 0.5) / 2


def test_precision_of_nothing_is_not_a_number():
    with np.errstate(invalid="ignore"):
        assert math.isnan(precision.precisions_at_recall(EMPTY, (0.0, 1.0))[0])


def test_sums_are_added_in_order():
    terms = np.array([1e16] + [1.0] * 20)
    assert precision.sum_in_order(terms) == 1e16
    assert precision.sum_in_order(np.zeros(0)) == 0.0
