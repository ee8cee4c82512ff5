"""Cross entropy of top-k distributions on padded batches; see `objectives.listnet`."""

from __future__ import annotations

import torch
from torch import Tensor

from pomona._types import Labels
from pomona.rankers.neural.losses.loss import SmoothLoss
from pomona.rankers.neural.losses.plackett_luce import order_losses
from pomona.rankers.neural.training.padding import Padding


class ListNetLoss(SmoothLoss):
    """Exact for k = 1 and 2, sampled prefixes beyond."""

    def __init__(self, padding: Padding, labels: Labels, *, k: int, n_samples: int) -> None:
        self._padding, self._k, self._n_samples = padding, k, n_samples
        self._labels = padding.pad(labels).double()

    def losses(self, scores: Tensor, generator: torch.Generator | None) -> Tensor:
        """Cross entropy of the first k documents of each query."""
        s, mask = scores.double(), self._padding.mask
        if self._k > 2:
            noise = s.new_empty((self._n_samples, *s.shape)).exponential_(generator=generator)
            keys = self._labels - noise.log()  # −log of exponential noise is Gumbel's
            return torch.stack([order_losses(self._padding, s, one, self._k) for one in keys]).mean(0)
        losses = self._match(s, mask)
        if self._k == 2:
            # Given each first document, who comes first among the others.
            first = self._labels.masked_fill(~mask, -torch.inf).softmax(1) * (self._padding.lengths > 1)
            is_other = ~torch.eye(s.shape[1], dtype=torch.bool, device=s.device)
            losses = losses + (first * self._match(s[:, None], mask[:, None] & is_other)).sum(1)
        return losses

    def _match(self, s: Tensor, among: Tensor) -> Tensor:
        """Cross entropy of who comes first among some documents; any number where there is none."""
        among = among | ~among.any(-1, keepdim=True)
        labels = self._labels.view(s.shape)
        target = torch.where(among, labels, -torch.inf).softmax(-1)
        logs = torch.where(among, s, -torch.inf).log_softmax(-1)
        return -(target * logs.masked_fill(~among, 0.0)).sum(-1)
