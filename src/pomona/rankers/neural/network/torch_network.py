"""The network in PyTorch, for training: the same parameters in the same vector as `network`."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor
from torch.nn import functional

from pomona.rankers.neural.network.network import NORM_EPSILON, Architecture

_ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh, "logistic": torch.sigmoid}


def scores_of(
    architecture: Architecture,
    parameters: Tensor,
    x: Tensor,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    in_half: bool = False,
) -> Tensor:
    """One score a row of scaled features; hidden units are dropped with a probability of `dropout`.

    in_half : compute hidden layers in bfloat16.
    """
    shapes = architecture.shapes
    parts = iter(
        part.view(shape)
        for part, shape in zip(parameters.split([math.prod(s) for s in shapes]), shapes, strict=True)
    )
    activate = _ACTIVATIONS[architecture.activation]
    with torch.autocast(x.device.type, torch.bfloat16, enabled=in_half):
        for width in architecture.hidden:
            weight, bias = itertools.islice(parts, 2)
            x = torch.addmm(bias, x, weight)
            if architecture.layer_norm:
                gain, shift = itertools.islice(parts, 2)
                x = functional.layer_norm(x, (width,), gain, shift, NORM_EPSILON)
            x = activate(x)
            if dropout > 0:
                kept = torch.rand(x.shape, generator=generator, device=x.device) >= dropout
                x = x * (kept / (1.0 - dropout)).to(x.dtype)
    return torch.mv(x.to(parameters.dtype), next(parts))  # scores of half the digits would tie
