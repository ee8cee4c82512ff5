"""Packing: gradient, hessian and count of a document in one integer, so that one addition sums up all three.

    packed = gradient · 2^(h+c)  +  hessian · 2^c  +  1,     one 64-bit addition for each document and feature

Gradients and hessians are made integers by a power of two and *stochastic rounding*, ⌊x + u⌋ with u uniform
in [0, 1), so that sums stay unbiased.

The powers of two are the largest with which no sum can leave its field. The fields follow the number of
documents n: ⌈log2(n + 1)⌉ bits count them, and the rest is shared; 700,000 documents leave a mean gradient of
about 10 steps, 4 million one of about 1, both finer than the noise of the gradients themselves (LightGBM's
quantized training finds 4 levels enough). Integers of moderate size are not rounded at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pomona.errors import InputError
from pomona.trees.passes import Passes, Sums
from pomona.trees.peers import ALONE, Peers


@dataclass(frozen=True)
class Packing:
    """How gradient, hessian and count share an integer: field widths and scales (powers of two)."""

    count_bits: int
    hessian_bits: int
    gradient_scale: float
    hessian_scale: float
    total: int
    """The packed sum over all rows."""
    n_rows: int
    largest: tuple[float, float]
    """The largest size of a gradient, and the largest hessian, of all documents."""

    @property
    def gradient_shift(self) -> int:
        """The bits below the gradient."""
        return self.count_bits + self.hessian_bits


def pack(passes: Passes, seed: int, peers: Peers = ALONE) -> Packing:
    """Pack all documents, and say how to read the sums of those that are learnt from."""
    n, *largest = _facts(passes, peers)
    count_bits = n.bit_length()
    hessian_bits = (64 - count_bits) // 2 - 1
    limits = (2 ** (63 - count_bits - hessian_bits) - 1, 2**hessian_bits - 1)
    # Rounding moves a sum by √n / 2 or so; a sum that still left its field would only cost another round.
    slack = 4 * math.sqrt(n)
    units = power_of_two((2**52 - n) / n, largest[0]), power_of_two((2**52 - n) / n, largest[1])
    positive, negative, hessians = _added(passes.sums(units), peers)
    gradient_scale = power_of_two(limits[0] - slack, max(positive, negative) / units[0])
    hessian_scale = power_of_two(limits[1] - slack, hessians / units[1])
    bits = (count_bits, count_bits + hessian_bits)
    while True:
        scales = (gradient_scale, hessian_scale)
        up, down, h = _added(passes.pack(seed, scales, bits), peers)
        if max(up, down) <= limits[0] and h <= limits[1]:
            total = ((up - down) << bits[1]) + (h << count_bits) + n
            return Packing(count_bits, hessian_bits, *scales, total, n, (largest[0], largest[1]))
        gradient_scale, hessian_scale = gradient_scale / 2, hessian_scale / 2


def _facts(passes: Passes, peers: Peers) -> tuple[int, float, float]:
    """The number of rows, the largest gradient and the largest hessian of all; refuses what is no number."""
    own = np.array([*passes.extremes(), (0.0, 0.0, np.inf, 1.0)])
    facts = peers.gather(np.array([*own[:, :2].max(axis=0), *own[:, 2:].min(axis=0), len(passes.rows)]))
    if not facts[:, 3].all():
        raise InputError("found a gradient or hessian that is NaN or infinite, expected finite numbers")
    if facts[:, 2].min() < 0:
        raise InputError(f"found the hessian {facts[:, 2].min()}, expected none below 0")
    n = int(facts[:, 4].sum())
    if n == 0:
        raise InputError("found no documents to learn a tree from")
    return n, float(facts[:, 0].max()), float(facts[:, 1].max())


def _added(parts: Sums, peers: Peers) -> tuple[int, int, int]:
    """Whole numbers, added up over the parts, and over all peers."""
    sums = np.array([sum(int(part[field]) for part in parts) for field in range(3)], np.int64)
    peers.add(sums)
    return int(sums[0]), int(sums[1]), int(sums[2])


def power_of_two(limit: float, total: float) -> float:
    """The largest power of two that keeps `total` within `limit`."""
    if total <= 0:
        return 1.0
    return 2.0 ** max(-500, min(500, math.floor(math.log2(limit) - math.log2(total))))
