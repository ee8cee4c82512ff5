import numpy as np
import pytest
import torch

from pomona.rankers.neural.losses.plackett_luce import order_losses
from pomona.rankers.neural.training.padding import Padding
from reference.list_losses import order_likelihood, slopes


@pytest.mark.parametrize("k", [1, 2, 9])
def test_equals_the_slow_twin(k):
    scores, keys = [0.5, -1.0, 2.0, 0.0], [0.1, 0.9, 0.4, 0.7]
    padding = Padding(np.array([0, 4, 6]), torch.device("cpu"))
    padded = padding.pad(np.array([*scores, 1.0, 2.0])).requires_grad_()
    losses = order_losses(padding, padded, padding.pad(np.array([*keys, 1.0, 2.0])), k)
    (gradient,) = torch.autograd.grad(losses.sum(), padded)
    losses = losses.detach()

    def twin(s):
        return order_likelihood([1, 3, 2, 0], s, k)

    assert float(losses[0]) == pytest.approx(twin(scores))
    assert gradient[0].tolist() == pytest.approx(slopes(twin, scores), abs=1e-8)
    assert float(losses[1]) == pytest.approx(np.log(1 + np.exp(-1)))
