"""Pairwise cross entropy on padded batches; see `objectives.ranknet`."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from pomona._types import Labels
from pomona.rankers.neural.training.padding import Padding


class RankNetLoss:
    """All pairs of a batch at once."""

    def __init__(self, padding: Padding, labels: Labels, *, sigma: float, average: bool) -> None:
        self._labels = padding.pad(labels, fill=float("nan"))  # which is neither above nor below any other
        self._sigma, self._average = sigma, average

    def __call__(self, scores: Tensor, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Losses and gradient."""
        better = self._labels[:, :, None] > self._labels[:, None, :]
        wrong = self._sigma * (scores[:, None, :] - scores[:, :, None])  # by how much j stands above i
        losses = torch.where(better, functional.softplus(wrong), 0.0).sum((1, 2))
        pushes = torch.where(better, torch.sigmoid(wrong), 0.0)
        gradient = self._sigma * (pushes.sum(1) - pushes.sum(2))
        if self._average:
            n_pairs = better.sum((1, 2)).clamp(min=1)
            losses, gradient = losses / n_pairs, gradient / n_pairs[:, None]
        return losses, gradient
