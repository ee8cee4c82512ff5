"""Lambda gradients on padded batches; see `objectives.lambdas` and `measures.closed_form`.

Only pairs with a document among the ranks that count are looked at: (n_queries, depth, longest) of them.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from pomona.measures.closed_form import POSITION, PRECISION, ClosedForm
from pomona.rankers.neural.training.padding import Padding

_MOST_CERTAIN = 1.0 - 1e-6  # the cascade's terms divide by 1 − R; nearer to 1, more is lost than gained


class LambdaLoss:
    """Gradients that raise a measure that has a closed form; there is no loss."""

    def __init__(
        self, padding: Padding, form: ClosedForm, *, sigma: float, truncation: int | None, normalize: bool
    ) -> None:
        self._padding, self._form, self._sigma, self._normalize = padding, form, sigma, normalize
        self._value = padding.pad(form.document_values.astype(np.float32))
        self._weight = torch.zeros(padding.longest, dtype=torch.float64, device=padding.device)
        depth = min(padding.longest, len(form.weight))
        self._weight[:depth] = torch.as_tensor(form.weight[:depth])
        self._n_rows = depth if truncation is None else min(depth, truncation)
        rank = torch.arange(padding.longest, device=padding.device)
        self._below = rank[: self._n_rows, None] < rank

    def __call__(self, scores: Tensor, generator: torch.Generator | None = None) -> tuple[None, Tensor]:
        """No losses, and the gradient."""
        mask, top = self._padding.mask, self._n_rows
        s, order = scores.masked_fill(~mask, -torch.inf).sort(dim=1, descending=True, stable=True)
        lowest = s.gather(1, self._padding.lengths - 1)
        s = torch.maximum(s, lowest)
        value = self._value.gather(1, order).to(s.dtype)
        distance = s[:, :top, None] - s[:, None, :]
        lambdas = self._deltas(value)
        lambdas *= torch.sigmoid(self._sigma * torch.where(lambdas > 0, distance, -distance))
        if self._normalize:
            differ = (s[:, :1] > lowest)[:, :, None]
            lambdas /= torch.where(differ, 0.01 + distance, 1.0)
        # Ranked documents come before the padding, so the mask holds for ranks too.
        lambdas = torch.where(self._below & mask[:, None, :], lambdas, 0.0)
        rises = lambdas.sum(1)
        rises[:, :top] -= lambdas.sum(2)
        factor = torch.full_like(lowest, self._sigma)
        if self._normalize:
            total = 2.0 * self._sigma * lambdas.abs().sum((1, 2))[:, None]
            factor *= torch.where(total > 0, torch.log2(1.0 + total) / total, 1.0)
        return None, torch.empty_like(rises).scatter_(1, order, -factor * rises)

    def _deltas(self, value: Tensor) -> Tensor:
        """(n_queries, n_rows, longest) changes of the measure; value (n_queries, longest) by rank."""
        upper, share, lower = self._terms(value.double())
        top = self._n_rows
        factor = upper[:, :top, None] - share[:, :top, None] * lower[:, None, :]
        deltas = (value[:, None, :] - value[:, :top, None]) * factor.to(value.dtype)
        if self._form.ceiling < float("inf"):
            total = (value.double() * self._weight).sum(1)[:, None, None]
            excess = (total - self._form.ceiling).clamp(min=0.0).to(value.dtype)
            room = (self._form.ceiling - total).clamp(min=0.0).to(value.dtype)
            deltas = torch.minimum(deltas + excess, room)
        return deltas

    def _terms(self, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(upper, share, lower) of every rank."""
        weight, ones = self._weight, torch.ones_like(value)
        if self._form.kind == POSITION:
            return weight * ones, ones, weight * ones
        if self._form.kind == PRECISION:
            relevant = (value > 0).double()
            n_relevant, inverse = relevant.cumsum(1), (relevant * weight).cumsum(1)
            upper = (n_relevant + 1.0 - relevant) * weight - inverse
            return upper, ones, n_relevant * weight - (inverse - relevant * weight)
        chance = value.clamp(max=_MOST_CERTAIN)
        reading = torch.nn.functional.pad((1.0 - chance).cumprod(1)[:, :-1], (1, 0), value=1.0)
        stopped = (weight * reading * chance).cumsum(1)
        share = 1.0 / (1.0 - chance)
        upper = weight * reading + stopped * share
        return upper, share, stopped - weight * reading * chance + weight * reading
