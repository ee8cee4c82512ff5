import itertools
import math

import numpy as np
import pytest

from pomona.objectives._plackett_luce import follow_orders
from reference.list_losses import bends, order_likelihood, slopes


def followed(scores, keys, k):
    n = len(scores)
    out = np.empty((2, n), np.float32)
    loss = np.empty(1)
    keys = np.atleast_2d(np.array(keys, float))
    follow_orders(
        0, 1, np.array(scores, float), np.array([0, n]), np.ones(1), np.empty(0), keys, k, *out, loss
    )
    return loss[0], *out


@pytest.mark.parametrize("k", [1, 2, 5])
def test_equals_the_slow_twin(k):
    scores = [0.5, -1.0, 2.0, 0.0, 0.7]
    for order in itertools.permutations(range(5)):
        keys = np.empty(5)
        keys[list(order)] = np.arange(5, 0, -1)
        loss, gradient, hessian = followed(scores, keys, k)

        def twin(s, order=order):
            return order_likelihood(list(order), s, k)

        assert loss == pytest.approx(twin(scores))
        assert gradient == pytest.approx(slopes(twin, scores), abs=1e-6)
        assert hessian == pytest.approx(bends(twin, scores), abs=1e-5)


def test_several_orders_are_averaged():
    one, other = followed([0.0, 1.0], [1, 0], 2), followed([0.0, 1.0], [0, 1], 2)
    both = followed([0.0, 1.0], [[1, 0], [0, 1]], 2)
    assert both[0] == pytest.approx((one[0] + other[0]) / 2)
    assert both[1] == pytest.approx((one[1] + other[1]) / 2)


def test_no_gap_is_too_wide():
    loss, gradient, _ = followed([0.0, -3000.0, -9000.0], [1, 2, 3], 3)
    assert loss == pytest.approx(9000 + 3000)
    assert gradient == pytest.approx([1 + 1 + 1 - 1, -1, -1])


def test_all_orders_are_certain_together():
    scores = [0.3, 1.2, -0.4]
    chances = [math.exp(-followed(scores, keys, 3)[0]) for keys in itertools.permutations(range(3))]
    assert sum(chances) == pytest.approx(1)
