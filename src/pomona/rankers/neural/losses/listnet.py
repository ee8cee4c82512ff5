"""Cross entropy of top-k distributions on padded batches; see `objectives.listnet`."""

from __future__ import annotations

import torch
from torch import Tensor

from pomona._types import Labels
from pomona.rankers.neural.losses.plackett_luce import follow_order
from pomona.rankers.neural.padding import Padding


class ListNetLoss:
    """Exact for k = 1 and 2, sampled prefixes beyond."""

    def __init__(self, padding: Padding, labels: Labels, *, k: int, n_samples: int) -> None:
        self._padding, self._k, self._n_samples = padding, k, n_samples
        self._labels = padding.pad(labels).double()
        self._target = self._labels.masked_fill(~padding.mask, -torch.inf).softmax(1)

    def __call__(self, scores: Tensor, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Losses and gradient."""
        s = scores.double()
        if self._k > 2:
            return self._sampled(s, generator)
        logs = s.masked_fill(~self._padding.mask, -torch.inf).log_softmax(1)
        losses = -(self._target * logs.masked_fill(~self._padding.mask, 0.0)).sum(1)
        gradient = logs.exp() - self._target
        if self._k == 2:
            more, push = self._second(logs)
            losses, gradient = losses + more, gradient + push
        return losses, gradient

    def _second(self, logs: Tensor) -> tuple[Tensor, Tensor]:
        """What the second document adds, given the first."""
        target, e = self._target, logs.exp()
        others, other_targets = _sum_without_each(e), _sum_without_each(target)
        worth = _sum_without_each(target * logs.masked_fill(~self._padding.mask, 0.0))
        possible = self._padding.mask & (others > 0) & (other_targets > 0)
        entropy = torch.log(others) - worth / other_targets
        losses = torch.where(possible, target * entropy, 0.0).sum(1)
        by_score = _sum_without_each(torch.where(possible, target / others, 0.0))
        by_label = _sum_without_each(torch.where(possible, target / other_targets, 0.0))
        return losses, e * by_score - target * by_label

    def _sampled(self, s: Tensor, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        losses, gradient = torch.zeros_like(s[:, 0]), torch.zeros_like(s)
        for _ in range(self._n_samples):
            noise = torch.empty_like(s).exponential_(generator=generator)
            more, push = follow_order(self._padding, s, self._labels - noise.log(), self._k)
            losses, gradient = losses + more, gradient + push
        return losses / self._n_samples, gradient / self._n_samples


def _sum_without_each(terms: Tensor) -> Tensor:
    """Σ_{j ≠ i} terms[j], by adding alone: subtracting from the total would lose small ones."""
    before = torch.nn.functional.pad(terms.cumsum(1)[:, :-1], (1, 0))
    after = torch.nn.functional.pad(terms.flip(1).cumsum(1).flip(1)[:, 1:], (0, 1))
    return before + after
