"""Soft measures on padded batches; see `objectives.softrank`.

The distribution of a rank is the product of the polynomials (1 − π_ij) + π_ij z, cut off after z^(k − 1). One
factor after the other would need as many steps as there are documents; here the factors are multiplied in
pairs, then the products in pairs: as much work, in log2(n) steps, and less to remember for the gradient.
Without a cut-off a smooth discount is a sum of few decays, and no distribution is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from pomona.measures.closed_form import PRECISION, ClosedForm
from pomona.objectives._decays import as_decays
from pomona.rankers.neural.losses.loss import SmoothLoss
from pomona.rankers.neural.training.padding import Padding


class _CutProduct(torch.autograd.Function):
    """The first k coefficients of a product of polynomials; coefficients run along the first axis."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, k: int) -> Tensor:
        ctx.save_for_backward(a, b)
        n = min(len(a) + len(b) - 1, k)
        out = a.new_zeros((n, *a.shape[1:]))
        for t in range(min(len(a), n)):
            m = min(len(b), n - t)
            out[t : t + m].addcmul_(a[t], b[:m])
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        a, b = ctx.saved_tensors
        n = len(gradient)
        by_a, by_b = torch.zeros_like(a), torch.zeros_like(b)
        for t in range(min(len(a), n)):
            m = min(len(b), n - t)
            by_a[t] = (gradient[t : t + m] * b[:m]).sum(0)
            by_b[:m].addcmul_(a[t], gradient[t : t + m])
        return by_a, by_b, None


def first_coefficients(factors: Tensor, k: int) -> Tensor:
    """The first k coefficients of the product over the last axis of polynomials along the first."""
    while (n := factors.shape[-1]) > 1:
        if n % 2:  # a factor of 1 changes nothing
            factors = functional.pad(factors, (0, 1))
            factors[0, ..., -1] = 1.0
        a, b = factors.chunk(2, dim=-1)
        factors = _CutProduct.apply(a, b, k)
    return factors[:k, ..., 0]


class _DecayedSum(torch.autograd.Function):
    """Σ_m share_m Π_i (1 − π_i (1 − decay_m)), over the last axis; nothing but π is remembered."""

    @staticmethod
    def forward(ctx: Any, above: Tensor, shares: Tensor, decays: Tensor) -> Tensor:
        products = [s * (1.0 - above * (1.0 - d)).prod(-1) for s, d in zip(shares, decays, strict=True)]
        ctx.save_for_backward(above, decays, *products)
        return torch.stack(products).sum(0)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        above, decays, *products = ctx.saved_tensors
        by_above = torch.zeros_like(above)
        for decay, product in zip(decays, products, strict=True):
            fall = 1.0 - decay
            by_above.addcdiv_((gradient * product * -fall)[..., None], 1.0 - above * fall)
        return by_above, None, None


class SoftRankLoss(SmoothLoss):
    """Minus a soft measure."""

    def __init__(self, padding: Padding, form: ClosedForm, *, sigma: float) -> None:
        self._padding, self._form, self._sigma = padding, form, sigma
        value = padding.pad(form.document_values.astype(np.float32))
        # Only documents that have a value need their distribution: they come first, then padding of value 0.
        is_valued = (value != 0).cpu().numpy()
        most = max(1, int(is_valued.sum(1).max()))
        index = np.argsort(~is_valued, axis=1, kind="stable")[:, :most]
        self._index = torch.as_tensor(index, device=padding.device)
        self._value = value.gather(1, self._index)
        self._relevant = value > 0
        self._place = torch.arange(padding.longest, device=padding.device)
        depth = min(padding.longest, len(form.weight))
        self._weight = torch.as_tensor(form.weight[:depth], device=padding.device)
        decays = as_decays(form.weight[:depth], padding.longest)
        self._decays = torch.as_tensor(np.array(decays), device=padding.device)

    def losses(self, scores: Tensor, generator: torch.Generator | None) -> Tensor:
        """Minus the soft measure of each query."""
        s = scores.masked_fill(~self._padding.mask, 0.0)
        away = s[:, None, :] - s.gather(1, self._index)[:, :, None]
        others = self._padding.mask[:, None, :] & (self._index[:, :, None] != self._place)
        above = 0.5 * torch.erfc(-away / (2.0 * self._sigma)) * others
        soft = self._precision(above) if self._form.kind == PRECISION else self._sums(above)
        return -(self._value * soft).sum(1)

    def _sums(self, above: Tensor) -> Tensor:
        """(n_queries, n_valued) Σ_r w_r p_j(r)."""
        if 0 < self._decays.shape[1] < len(self._weight):
            summed: Tensor = _DecayedSum.apply(above, *self._decays.to(above.dtype))
            return summed
        ranks = first_coefficients(torch.stack((1.0 - above, above)), len(self._weight))
        return torch.einsum("rqj,r->qj", ranks, self._weight[: len(ranks)].to(ranks.dtype))

    def _precision(self, above: Tensor) -> Tensor:
        """(n_queries, n_valued) num_j / den_j."""
        n_relevant = 1.0 + (above * self._relevant[:, None, :]).sum(2)
        return n_relevant / (1.0 + above.sum(2))
