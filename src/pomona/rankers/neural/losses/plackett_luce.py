"""The likelihood of orders on padded batches; see `objectives._plackett_luce`."""

from __future__ import annotations

import torch
from torch import Tensor

from pomona.rankers.neural.training.padding import Padding

_LEAST = -1e300  # stands for −∞, which would make ∞ − ∞ of padding


def order_losses(padding: Padding, scores: Tensor, keys: Tensor, k: int) -> Tensor:
    """Minus the log likelihood of the order that `keys` descending give, of which k steps count."""
    keys = keys.masked_fill(~padding.mask, -torch.inf)
    order = keys.argsort(dim=1, descending=True, stable=True)
    s = scores.double().masked_fill(~padding.mask, _LEAST).gather(1, order)
    counts = torch.arange(padding.longest, device=padding.device) < padding.lengths.clamp(max=k)
    log_sums = s.flip(1).logcumsumexp(1).flip(1)
    return (log_sums - s).where(counts, 0.0).sum(1)
