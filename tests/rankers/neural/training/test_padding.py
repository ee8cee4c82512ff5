import numpy as np
import torch

from pomona.rankers.neural.training.padding import Padding


def test_there_and_back():
    padding = Padding(np.array([0, 2, 3, 6]), torch.device("cpu"))
    values = torch.arange(6.0)
    padded = padding.pad(values, fill=-1)
    assert padded.tolist() == [[0, 1, -1], [2, -1, -1], [3, 4, 5]]
    assert padding.mask.tolist() == [[True, True, False], [True, False, False], [True, True, True]]
    assert padding.lengths.tolist() == [[2], [1], [3]]
    assert (padding.flat(padded) == values).all()
    assert padding.pad(np.arange(6)).dtype == torch.int64
