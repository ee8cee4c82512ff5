"""The networks in PyTorch, for training: the same vector of parameters as in `network` and `context`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional

from pomona.rankers.neural.network.context import ContextArchitecture
from pomona.rankers.neural.network.network import NORM_EPSILON, Architecture

_ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh, "logistic": torch.sigmoid}


class _Dropout:
    """Leaves units out with this probability, and makes the others larger for it."""

    def __init__(self, probability: float, generator: torch.Generator | None) -> None:
        self._probability, self._generator = probability, generator

    def __call__(self, x: Tensor) -> Tensor:
        if self._probability == 0:
            return x
        kept = torch.rand(x.shape, generator=self._generator, device=x.device) >= self._probability
        return x * (kept / (1.0 - self._probability)).to(x.dtype)


def scores_of(
    architecture: Architecture,
    parameters: Tensor,
    x: Tensor,
    lengths: Tensor | None = None,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    in_half: bool = False,
) -> Tensor:
    """One score a row of scaled features; hidden units are dropped with a probability of `dropout`.

    x : (n, n_features), or of a network with context (n_lists, longest, n_features).
    lengths : (n_lists,) how many documents each list has, if not all: none sees what stands behind the last.
    in_half : compute hidden layers in bfloat16.
    """
    shapes = architecture.shapes
    parts = iter(
        part.view(shape)
        for part, shape in zip(parameters.split([math.prod(s) for s in shapes]), shapes, strict=True)
    )
    activate, drop = _ACTIVATIONS[architecture.activation], _Dropout(dropout, generator)
    with torch.autocast(x.device.type, torch.bfloat16, enabled=in_half):
        h = x.flatten(0, -2)
        for _ in architecture.hidden:
            h = _affine(h, parts)
            if architecture.layer_norm:
                h = _normalized(h, parts)
            h = drop(activate(h))
        if isinstance(architecture, ContextArchitecture):
            seen = None if lengths is None else torch.arange(x.shape[1], device=x.device) < lengths[:, None]
            for _ in range(architecture.n_blocks):
                lists = _normalized(h, parts).view(*x.shape[:2], -1)
                h = h + _attended(lists, seen, architecture.n_heads, parts)
                h = h + _affine(activate(_affine(_normalized(h, parts), parts)), parts)
            h = functional.layer_norm(h, h.shape[-1:], eps=NORM_EPSILON)
    return torch.mv(h.to(parameters.dtype), next(parts))  # scores of half the digits would tie


def _affine(h: Tensor, parts: Iterator[Tensor]) -> Tensor:
    weight, bias = itertools.islice(parts, 2)
    return torch.addmm(bias, h, weight)


def _normalized(h: Tensor, parts: Iterator[Tensor]) -> Tensor:
    gain, shift = itertools.islice(parts, 2)
    return functional.layer_norm(h, h.shape[-1:], gain, shift, NORM_EPSILON)


def _attended(lists: Tensor, seen: Tensor | None, n_heads: int, parts: Iterator[Tensor]) -> Tensor:
    """Attention among the documents of a list; lists (n_lists, longest, width), seen (n_lists, longest)."""
    projected = _affine(lists.flatten(0, 1), parts).view(*lists.shape[:2], 3, n_heads, -1)
    queries, keys, values = projected.permute(2, 0, 3, 1, 4)  # each (n_lists, n_heads, longest, of head)
    mask = None if seen is None else seen[:, None, None, :]
    attended = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    return _affine(attended.transpose(1, 2).flatten(2).flatten(0, 1), parts)
