import numpy as np
import pytest

from pomona.errors import InputError
from pomona.objectives.listmle import ListMLEObjective
from reference.list_losses import order_likelihood, slopes


def made(objective, scores):
    gradient, hessian = np.empty((2, len(scores)), np.float32)
    return objective.losses(np.array(scores, float), gradient, hessian), gradient, hessian


def test_the_sheet():
    losses, gradient, _ = made(ListMLEObjective([2, 1, 0], [0, 3]), [0, 1, 2])
    assert losses == pytest.approx(np.log(1 + np.e + np.e**2) - 0 + np.log(np.e + np.e**2) - 1)
    assert losses == pytest.approx(3.720868, abs=1e-6)
    assert gradient == pytest.approx([-0.909969, -0.486330, 1.396300], abs=1e-6)


@pytest.mark.parametrize("k", [None, 1, 3])
def test_equals_the_slow_twin(k):
    random = np.random.default_rng(0)
    labels, scores = random.permutation(6), random.standard_normal(6)
    order = np.argsort(-labels).tolist()
    losses, gradient, _ = made(ListMLEObjective(labels, [0, 6], k=k), scores)

    def twin(s):
        return order_likelihood(order, s, k)

    assert losses[0] == pytest.approx(twin(scores))
    assert gradient == pytest.approx(slopes(twin, scores.tolist()), abs=1e-6)


def test_equal_labels_come_in_every_order():
    objective = ListMLEObjective([1, 1, 0], [0, 3], seed=1)
    scores = np.array([2.0, 0.0, 1.0])
    both = {order_likelihood(order, scores) for order in ([0, 1, 2], [1, 0, 2])}
    found = [objective.losses(scores)[0] for _ in range(200)]
    assert all(min(abs(one - other) for other in both) < 1e-9 for one in found)
    assert 60 < sum(one < sum(both) / 2 for one in found) < 140
    again = ListMLEObjective([1, 1, 0], [0, 3], seed=1)
    assert [again.losses(scores)[0] for _ in range(200)] == found


def test_refusals():
    with pytest.raises(InputError, match="k must be at least 1"):
        ListMLEObjective([1], [0, 1], k=0)
