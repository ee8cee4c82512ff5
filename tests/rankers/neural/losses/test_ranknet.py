import numpy as np
import pytest
import torch

from pomona.rankers.neural.losses.ranknet import RankNetLoss
from pomona.rankers.neural.training.padding import Padding


def test_the_sheet():
    padding = Padding(np.array([0, 3, 4]), torch.device("cpu"))
    loss = RankNetLoss(padding, np.array([2, 1, 0, 1], np.float32), sigma=1.0, average=False)
    losses, gradient = loss(torch.tensor([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0]]))
    assert losses.tolist() == pytest.approx([4.753451, 0.0], abs=1e-6)
    by_one, by_two = 1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-2))
    assert gradient[0].tolist() == pytest.approx([-by_one - by_two, 0, by_one + by_two], abs=1e-6)
    assert gradient[1].tolist() == [0, 0, 0]
