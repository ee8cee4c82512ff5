import numpy as np
import pytest
import torch

from pomona.rankers.neural.losses.listnet import ListNetLoss
from pomona.rankers.neural.training.padding import Padding
from reference.list_losses import slopes, top_k_cross_entropy


@pytest.mark.parametrize(("k", "value"), [(1, 1.982816), (2, 3.233737)])
def test_the_sheet(k, value):
    padding = Padding(np.array([0, 3]), torch.device("cpu"))
    loss = ListNetLoss(padding, np.array([2, 1, 0], np.float32), k=k, n_samples=1)
    losses, gradient = loss(torch.tensor([[0.0, 1.0, 2.0]]))
    assert losses.tolist() == pytest.approx([value], abs=1e-6)
    if k == 1:
        assert gradient[0].tolist() == pytest.approx([-0.575210, 0, 0.575210], abs=1e-6)


def test_sampled_prefixes_are_right_on_average():
    labels, scores = [2.0, 1.0, 0.0, 1.0], [0.5, 1.0, 0.0, -1.0]
    padding = Padding(np.array([0, 4]), torch.device("cpu"))
    loss = ListNetLoss(padding, np.array(labels, np.float32), k=3, n_samples=4000)
    losses, gradient = loss(torch.tensor([scores]), torch.Generator().manual_seed(0))

    def twin(s):
        return top_k_cross_entropy(labels, s, 3)

    assert float(losses[0]) == pytest.approx(twin(scores), abs=0.05)
    assert gradient[0].tolist() == pytest.approx(slopes(twin, scores), abs=0.05)
