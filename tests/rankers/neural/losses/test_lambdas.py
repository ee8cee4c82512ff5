import numpy as np
import pytest
import torch

from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure
from pomona.rankers.neural.losses.lambdas import LambdaLoss
from pomona.rankers.neural.training.padding import Padding


@pytest.mark.parametrize(
    ("normalize", "expected"),
    [(False, [-0.416596, -0.021586, 0.438182]), (True, [-0.262379, -0.024043, 0.286422])],
)
def test_the_sheet(normalize, expected):
    padding = Padding(np.array([0, 3]), torch.device("cpu"))
    form = measure("ndcg").closed_form(RankedLists.of_labels([[2, 1, 0]]))
    loss = LambdaLoss(padding, form, sigma=1.0, truncation=30, normalize=normalize)
    losses, gradient = loss(torch.tensor([[0.0, 1.0, 2.0]]))
    assert losses is None
    assert gradient[0].tolist() == pytest.approx(expected, abs=1e-6)


def test_equal_scores_are_ranked_by_place():
    # All scores tie: the first place is the first document's, so that pushes differ with the place.
    padding = Padding(np.array([0, 3]), torch.device("cpu"))
    form = measure("ndcg@1").closed_form(RankedLists.of_labels([[0, 1, 1]]))
    _, gradient = LambdaLoss(padding, form, sigma=1.0, truncation=None, normalize=True)(torch.zeros(1, 3))
    assert gradient[0, 0] > 0
    assert gradient[0, 1] == gradient[0, 2] < 0
