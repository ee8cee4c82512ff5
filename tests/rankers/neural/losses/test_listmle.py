import numpy as np
import pytest
import torch

from pomona.rankers.neural.losses.listmle import ListMLELoss
from pomona.rankers.neural.training.padding import Padding
from reference.list_losses import order_likelihood


def test_the_sheet():
    padding = Padding(np.array([0, 3]), torch.device("cpu"))
    losses, gradient = ListMLELoss(padding, np.array([2, 1, 0], np.float32), k=None)(
        torch.tensor([[0.0, 1.0, 2.0]])
    )
    assert losses.tolist() == pytest.approx([3.720868], abs=1e-6)
    assert gradient[0].tolist() == pytest.approx([-0.909969, -0.486330, 1.396300], abs=1e-6)


def test_equal_labels_come_in_every_order():
    padding = Padding(np.array([0, 3]), torch.device("cpu"))
    loss = ListMLELoss(padding, np.array([1, 1, 0], np.float32), k=None)
    scores = [2.0, 0.0, 1.0]
    low, high = sorted(order_likelihood(order, scores) for order in ([0, 1, 2], [1, 0, 2]))
    generator = torch.Generator().manual_seed(0)
    found = np.array([loss(torch.tensor([scores]), generator)[0].item() for _ in range(200)])
    assert (np.isclose(found, low) | np.isclose(found, high)).all()
    assert 60 < np.isclose(found, low).sum() < 140
