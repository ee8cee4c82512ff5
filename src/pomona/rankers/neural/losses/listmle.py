"""Likelihood of the true order on padded batches; see `objectives.listmle`."""

from __future__ import annotations

import torch
from torch import Tensor

from pomona._types import Labels
from pomona.measures.lists import encode
from pomona.rankers.neural.losses.loss import SmoothLoss
from pomona.rankers.neural.losses.plackett_luce import order_losses
from pomona.rankers.neural.training.padding import Padding


class ListMLELoss(SmoothLoss):
    """The order of the labels, equal ones drawn anew at every call."""

    def __init__(self, padding: Padding, labels: Labels, *, k: int | None) -> None:
        self._padding, self._k = padding, padding.longest if k is None else k
        self._codes = padding.pad(encode(labels)[0]).double()

    def losses(self, scores: Tensor, generator: torch.Generator | None) -> Tensor:
        """Minus the log likelihood of each query's order."""
        chance = torch.rand(self._codes.shape, generator=generator, dtype=torch.float64, device=scores.device)
        return order_losses(self._padding, scores, self._codes + chance, self._k)
