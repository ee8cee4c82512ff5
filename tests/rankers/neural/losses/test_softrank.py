import numpy as np
import pytest
import torch

from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure
from pomona.objectives.softrank import soft_form
from pomona.rankers.neural.losses.softrank import SoftRankLoss, _DecayedSum, first_coefficients
from pomona.rankers.neural.training.padding import Padding
from reference.list_losses import rank_distribution, stands_above


@pytest.mark.parametrize(
    ("text", "labels", "value", "slopes"),
    [
        ("ndcg", [0, 1, 2], 0.684175, [-0.060055, -0.004676, 0.064732]),
        ("ap", [0, 1, 1], 0.681969, [-0.076394, 0.041484, 0.034910]),
    ],
)
def test_the_sheet(text, labels, value, slopes):
    padding = Padding(np.array([0, 3]), torch.device("cpu"))
    loss = SoftRankLoss(padding, soft_form(measure(text), RankedLists.of_labels([labels])), sigma=1.0)
    losses, gradient = loss(torch.tensor([[1.0, 0.5, 0.0]]))
    assert -losses.item() == pytest.approx(value, abs=1e-6)
    assert (-gradient[0]).tolist() == pytest.approx(slopes, abs=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 11])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_first_coefficients_are_the_distribution_of_ranks(n, k):
    scores = np.random.default_rng(n).standard_normal(n + 1)
    above = torch.tensor([stands_above(s, scores[-1], 1.0) for s in scores[:-1]])
    found = first_coefficients(torch.stack((1 - above, above)), k)
    expected = rank_distribution(n, scores, 1.0)[:k]
    assert found[: len(expected)].tolist() == pytest.approx(expected)
    assert not found[len(expected) :].any()


def test_the_gradient_of_coefficients():
    random = torch.Generator().manual_seed(0)
    factors = torch.rand((2, 3, 7), generator=random, dtype=torch.float64, requires_grad=True)
    for k in (1, 3, 8):
        assert torch.autograd.gradcheck(lambda f, k=k: first_coefficients(f, k), factors)


def test_a_sum_of_decays_is_that_over_the_distribution():
    random = torch.Generator().manual_seed(0)
    above = torch.rand((2, 3, 7), generator=random, dtype=torch.float64, requires_grad=True)
    shares, decays = torch.tensor([[0.5, 0.2, 0.3], [1.0, 0.6, 0.01]], dtype=torch.float64)
    weight = shares @ decays[:, None] ** torch.arange(8.0, dtype=torch.float64)
    ranks = first_coefficients(torch.stack((1 - above, above)), 8)
    assert torch.allclose(_DecayedSum.apply(above, shares, decays), torch.einsum("rqj,r->qj", ranks, weight))
    assert torch.autograd.gradcheck(lambda a: _DecayedSum.apply(a, shares, decays), above)
