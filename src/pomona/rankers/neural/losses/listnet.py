"""Cross entropy of top-k distributions on padded batches; see `objectives.listnet`."""

from __future__ import annotations

import torch
from torch import Tensor

from pomona._types import Labels
from pomona.rankers.neural.losses.plackett_luce import follow_order
from pomona.rankers.neural.training.padding import Padding


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
        losses, gradient = self._match(s, self._padding.mask)
        if self._k == 2:
            more, push = self._second(s)
            losses, gradient = losses + more, gradient + push
        return losses, gradient

    def _match(self, s: Tensor, among: Tensor) -> tuple[Tensor, Tensor]:
        """Cross entropy of who comes first among some documents; nothing where there is none."""
        among = among | ~among.any(1, keepdim=True)
        target = self._labels.masked_fill(~among, -torch.inf).softmax(1)
        logs = s.masked_fill(~among, -torch.inf).log_softmax(1)
        return -(target * logs.masked_fill(~among, 0.0)).sum(1), logs.exp() - target

    def _second(self, s: Tensor) -> tuple[Tensor, Tensor]:
        """What the second document adds, given the first; `objectives.listnet._match_second` explains."""
        mask = self._padding.mask
        known = s.masked_fill(~mask, -torch.inf)
        best = known.argmax(1, keepdim=True)
        wanted = self._labels.masked_fill(~mask, -torch.inf).argmax(1, keepdim=True)
        place = torch.arange(s.shape[1], device=s.device)
        losses, gradient = torch.zeros_like(s[:, 0]), torch.zeros_like(s)
        for a, counts in ((best, self._padding.lengths > 1), (wanted, wanted != best)):
            weight = self._target.gather(1, a) * counts
            more, push = self._match(s, mask & (place != a))
            losses, gradient = losses + weight[:, 0] * more, gradient + weight * push
        away = known - known.gather(1, best)
        e, target = away.exp(), self._target
        worth = target * away.masked_fill(~mask, 0.0)
        own = target.masked_fill((place == best) | (place == wanted), 0.0)
        left, left_target = e.sum(1, keepdim=True) - e, (1.0 - target).where(own > 0, 1.0)
        left = left.where(own > 0, 1.0)
        losses = losses + (own * (left.log() - (worth.sum(1, keepdim=True) - worth) / left_target)).sum(1)
        by_score, by_label = own / left, own / left_target
        drawn = e * (by_score.sum(1, keepdim=True) - by_score)
        return losses, gradient + drawn - target * (by_label.sum(1, keepdim=True) - by_label)

    def _sampled(self, s: Tensor, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        losses, gradient = torch.zeros_like(s[:, 0]), torch.zeros_like(s)
        for _ in range(self._n_samples):
            noise = torch.empty_like(s).exponential_(generator=generator)  # −log of it is Gumbel's
            more, push = follow_order(self._padding, s, self._labels - noise.log(), self._k)
            losses, gradient = losses + more, gradient + push
        return losses / self._n_samples, gradient / self._n_samples
