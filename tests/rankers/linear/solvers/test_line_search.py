import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pomona as pm
from pomona.measures.base import Measure
from pomona.measures.parse import measure
from pomona.rankers.linear.solvers import line_search as module
from pomona.rankers.linear.solvers.line_search import (
    CrossingSearch,
    SteppingSearch,
    line_search,
    weight_at,
)
from pomona.rankers.linear.sums.ranking import shuffled

MEASURES = ["ndcg@3", "ap", "err", "p@2", "rbp", "rr", "recall@3", "letor4:ndcg@10"]


def line_of(seed, n_docs=7, n_queries=3):
    """A dataset, scores, a feature and the weight it has in the scores."""
    random = np.random.default_rng(seed)
    n = n_docs * n_queries
    x = random.integers(0, 40, n).astype(np.float32)
    y = random.integers(0, 4, n)
    now = float(random.integers(-2, 3))
    scores = random.integers(-60, 60, n) * 1.0 + now * x
    data = pm.Dataset(x[:, None], y, np.repeat(np.arange(n_queries), n_docs))
    return data, scores, x, now


def height(data, scores, name):
    return pm.evaluate(data, scores, name, ties="stable")[name]


def brute_force(data, scores, x, now, spread, name):
    """The most that the measure is in the middle of any interval between two crossings."""
    rest, places = scores - now * x, {-1.0, 1.0}
    for a, b in itertools.pairwise(data.query_ptr):
        for i in range(a, b):
            for j in range(a, i):
                if x[i] != x[j]:
                    c = (rest[j] - rest[i]) / (float(x[i]) - float(x[j]))
                    places.add(c / (spread + abs(c)))
    ordered = sorted(places)
    middles = [(u + v) / 2 for u, v in itertools.pairwise(ordered) if v - u > 1e-7]
    return max(height(data, rest + weight_at(u, spread) * x, name) for u in middles)


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_the_exact_maximum_is_found(name, seed):
    data, scores, x, now = line_of(seed)
    search = line_search(measure(name), data.y, data.query_ptr, np.full(3, 1 / 3))
    assert isinstance(search, CrossingSearch)
    place, found = search.best(scores, x, now, 2.0)
    assert found == pytest.approx(brute_force(data, scores, x, now, 2.0, name), abs=1e-10)
    assert -1 < place < 1
    there = scores + (weight_at(place, 2.0) - now) * x
    assert height(data, there, name) == pytest.approx(found, abs=1e-10)


def test_long_queries_and_few_buckets_change_nothing(monkeypatch):
    data, scores, x, now = line_of(5, n_docs=150, n_queries=2)  # longer than a sorted run
    search = line_search(measure("ndcg@10"), data.y, data.query_ptr, np.full(2, 1 / 2))
    place, found = search.best(scores, x, now, 1.0)
    there = scores + (weight_at(place, 1.0) - now) * x
    assert height(data, there, "ndcg@10") == pytest.approx(found, abs=1e-10)
    monkeypatch.setattr(module, "_N_BUCKETS", 4)
    assert search.best(scores, x, now, 1.0) == pytest.approx((place, found), abs=1e-12)


def test_by_hand():
    # Scores 1 and c: the relevant document leads from c = 1 on, which is u = 1/2 with a spread of 1.
    y, x = np.array([0.0, 1.0], np.float32), np.array([0.0, 1.0], np.float32)
    search = line_search(measure("rr"), y, np.array([0, 2]), np.ones(1))
    assert search.best(np.array([1.0, 0.0]), x, 0.0, 1.0) == pytest.approx((0.75, 1.0))


def test_weights_of_queries_decide():
    # Query 1 wants a positive weight, query 2 a negative one.
    y, x = np.array([1, 0, 1, 0], np.float32), np.array([1, 0, 0, 1], np.float32)
    for weights, sign in (([0.9, 0.1], 1), ([0.1, 0.9], -1)):
        search = line_search(measure("rr"), y, np.array([0, 2, 4]), np.array(weights))
        place, found = search.best(np.zeros(4), x, 0.0, 1.0)
        assert np.sign(place) == sign
        assert found == pytest.approx(0.9 * 1 + 0.1 / 2)


class TopLabel(Measure):
    def of_query(self, labels):
        return float(labels[0])


def test_a_users_own_measure_is_searched_by_steps():
    data, scores, x, now = line_of(3)
    search = line_search(TopLabel(), data.y, data.query_ptr, np.full(3, 1 / 3))
    assert isinstance(search, SteppingSearch)
    place, found = search.best(scores, x, now, 2.0)
    there = scores + (weight_at(place, 2.0) - now) * x
    assert found == pytest.approx(pm.evaluate(data, there, TopLabel()).judgements[0].mean)
    assert found >= pm.evaluate(data, scores, TopLabel()).judgements[0].mean


def test_rows_are_shuffled_inside_their_queries():
    query_ptr = np.array([0, 3, 4, 9])
    order = shuffled(query_ptr, np.random.default_rng(1))
    for a, b in ((0, 3), (3, 4), (4, 9)):
        assert sorted(order[a:b]) == list(range(a, b))
    assert order.tolist() != list(range(9))
