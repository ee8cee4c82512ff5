"""Sums of gradients on a GPU, from which the scales of their integers follow.

They are floats, where the CPU adds fine integers, so that they may differ in their last digits.
The scales, powers of two, could differ only if a sum lies within that error of a limit: `packing_of` then
says so, and the CPU adds up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._cuda import N_THREADS, SIMULATED, cuda, kernel
from pomona.errors import InputError
from pomona.trees.histogram import Packing, before_rounding, power_of_two

_ERROR = 1e-8  # relative, of a sum of up to 2^31 floats of either order, generously
N_BLOCKS = 1 if SIMULATED else 132


@kernel(launched=True)
def _add_floats(gradient, hessian, rows, is_bag, n_rows, order, out):
    """out (n_blocks, 6): sums of positive and negative gradients and of hessians of the rows, their lowest
    hessian; the largest gradient and hessian, by their size, of all documents · order (any,) becomes 0
    """
    sums = cuda.shared.array((6, 256), np.float64)
    t, reach = cuda.threadIdx.x, cuda.blockDim.x // 2
    first, step = cuda.blockIdx.x * cuda.blockDim.x + t, cuda.gridDim.x * cuda.blockDim.x
    for i in range(first, order.size, step):
        order[i] = 0
    positive, negative, hessians, lowest = 0.0, 0.0, 0.0, np.inf
    for k in range(first, n_rows, step):
        row = np.int64(rows[0, k]) if is_bag else k
        g, h = np.float64(gradient[row]), np.float64(hessian[row])
        if g > 0.0:
            positive += g
        else:
            negative -= g
        hessians += h
        lowest = min(lowest, h)
    top_gradient, top_hessian = 0.0, 0.0
    for i in range(first, gradient.size, step):
        top_gradient = max(top_gradient, abs(np.float64(gradient[i])))
        top_hessian = max(top_hessian, abs(np.float64(hessian[i])))
    sums[0, t], sums[1, t], sums[2, t], sums[3, t] = positive, negative, hessians, -lowest
    sums[4, t], sums[5, t] = top_gradient, top_hessian
    cuda.syncthreads()
    while reach > 0:
        if t < reach:
            for i in range(3):
                sums[i, t] += sums[i, t + reach]
            for i in range(3, 6):
                sums[i, t] = max(sums[i, t], sums[i, t + reach])
        cuda.syncthreads()
        reach //= 2
    if t < 1:
        for i in range(6):
            out[cuda.blockIdx.x, i] = sums[i, 0]


class FloatSums:
    """Adds up gradients tree after tree."""

    def __init__(self, order: Any) -> None:
        self._order = order
        self._out = cuda.device_array((N_BLOCKS, 6), np.float64)
        self._parts = cuda.pinned_array((N_BLOCKS, 6), np.float64)
        self._launch = _add_floats[N_BLOCKS, N_THREADS]

    def of(self, gradient: Any, hessian: Any, rows: Any, n_rows: int, *, is_bag: bool) -> list[float]:
        """Positive, negative, hessians, and the largest gradient and hessian of all documents.

        The order of the next tree becomes 0, as its blocks need it.
        """
        self._launch(gradient, hessian, rows, is_bag, n_rows, self._order, self._out)
        parts = self._out.copy_to_host(self._parts)
        sums: list[float] = parts[:, :3].sum(axis=0).tolist()
        lowest, *largest = parts[:, 3:].max(axis=0).tolist()
        if not math.isfinite(sum(sums)):
            raise InputError("found a gradient or hessian that is NaN or infinite, expected finite numbers")
        if lowest > 0:
            raise InputError(f"found the hessian {-lowest}, expected none below 0")
        return [*sums, *largest]


def packing_of(n: int, sums: list[float]) -> Packing | None:
    """As `trees.histogram.pack` chooses it, without the total; None if the sums do not tell for sure."""
    positive, negative, hessians, *largest = sums
    count_bits = n.bit_length()
    hessian_bits = (64 - count_bits) // 2 - 1
    scales: list[float] = []
    for limit, total, most in (
        (2 ** (63 - count_bits - hessian_bits) - 1, max(positive, negative), largest[0]),
        (2**hessian_bits - 1, hessians, largest[1]),
    ):
        # The CPU adds whole numbers of 2^52 / (n · largest) and rounds each of them.
        error = _ERROR * total + n * n * most / (2**52 - n)
        near = {power_of_two(before_rounding(limit, n), total + off) for off in (-error, 0.0, error)}
        if len(near) > 1:
            return None
        scales += near
    return Packing(count_bits, hessian_bits, scales[0], scales[1], 0, n, (largest[0], largest[1]))


def limits_of(packing: Packing) -> NDArray[np.float64]:
    """The largest sums of gradients and hessians that fit their fields."""
    return np.array([2 ** (63 - packing.gradient_shift) - 1, 2**packing.hessian_bits - 1], np.float64)
