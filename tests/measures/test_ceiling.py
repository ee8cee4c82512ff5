import itertools

import numpy as np
import pytest

from pomona._jit import config
from pomona.measures import ceiling
from pomona.measures.lists import ScoredQueries
from pomona.measures.parse import measure
from reference.measures import orders_of_ties, seznam_rank4


def value(labels, scores, k=None):
    judged = ScoredQueries(np.array(labels, float), np.array(scores, float), np.array([0, len(labels)]))
    return measure("sr4" if k is None else f"sr4@{k}").of_lists(judged.ranked("expected"))[0]


def test_by_hand():
    # Two 4s: 1.17 · (0.702 + 0.134) = 0.978; with a third on any of the ranks 3 to 8 it may pass 1 or not.
    assert value([4, 4], [1, 1]) == pytest.approx(1.17 * 0.836)
    assert value([4, 4, 4], [1, 1, 1]) == 1.0
    assert value([4, 4, 4, 0], [2, 2, 1, 1]) == pytest.approx((1.0 + min(1, 1.17 * (0.836 + 0.035))) / 2)


@pytest.mark.parametrize("k", [None, 3])
def test_the_mean_over_all_orders(k):
    random = np.random.default_rng(0)
    for case in range(120):
        n = case % 6 + 2
        labels = random.choice(5, n, p=[0.1, 0.1, 0.1, 0.2, 0.5]).tolist()
        scores = random.integers(0, 1 + case % 3, n).tolist()
        orders = [seznam_rank4(order, k) for order in orders_of_ties(labels, scores)]
        assert value(labels, scores, k) == pytest.approx(np.mean(orders), abs=1e-14)


def test_few_branches_stand_for_all(monkeypatch):
    random = np.random.default_rng(1)
    errors = []
    sizes = (14, 15) if config.DISABLE_JIT else (15, 20)  # plain Python takes half a minute for 20
    for n, top in itertools.product(sizes, (0.2, 0.4, 0.6)):
        labels = random.choice(5, n, p=[(1 - top) / 4] * 4 + [top])
        few = value(labels, np.zeros(n))
        monkeypatch.setattr(ceiling, "MOST_BRANCHES", 10**7)
        errors.append(few - value(labels, np.zeros(n)))
        monkeypatch.undo()
    assert 0 < max(map(abs, errors)) < 1e-5


def test_long_lists_end():
    random = np.random.default_rng(2)
    labels = random.integers(0, 5, 400)
    # Of so many documents, drawing with replacement is nearly the same.
    drawn = random.choice(labels, (100_000, 20))
    worth = np.array([0, 0.06, 0.33, 0.60, 1.17])[drawn] @ np.array(measure("sr4").weights(20)[0])
    assert value(labels, np.zeros(400)) == pytest.approx(np.minimum(worth, 1).mean(), abs=4e-3)
