"""Pairwise cross entropy on padded batches; see `objectives.ranknet`."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from pomona._types import Labels
from pomona.rankers.neural.losses.loss import SmoothLoss
from pomona.rankers.neural.training.padding import Padding


class RankNetLoss(SmoothLoss):
    """All pairs of a batch at once."""

    def __init__(self, padding: Padding, labels: Labels, *, sigma: float, average: bool) -> None:
        padded = padding.pad(labels, fill=float("nan"))  # which is neither above nor below any other
        self._better = padded[:, :, None] > padded[:, None, :]
        self._sigma, self._average = sigma, average

    def losses(self, scores: Tensor, generator: torch.Generator | None) -> Tensor:
        """Over the pairs of each query."""
        wrong = self._sigma * (scores[:, None, :] - scores[:, :, None])  # by how much j stands above i
        losses = torch.where(self._better, functional.softplus(wrong), 0.0).sum((1, 2))
        return losses / self._better.sum((1, 2)).clamp(min=1) if self._average else losses
