"""Passes over all documents, before and after a tree is grown: their gradients are summed up, and packed.

Each is cut into parts that threads take. Sums are of integers, so neither the parts nor who takes them
changes a bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, n_threads, over_chunks
from pomona._splitmix import word_of

IN_PLACE: NDArray[np.int64] = np.empty(0, np.int64)
"""The numbers of documents that are numbered as they stand."""

_DOCS = 1 << 17  # worth waking a thread for, where one takes less than a nanosecond
_VALUED_ROWS = 1 << 15
_INFINITE = np.int32(0x7F800000)  # the bits of infinity; those of NaN are above


@kernel
def _rank(x):
    """An integer that rises with a float32: its bits, those of negative numbers turned round."""
    bits = np.float32(x).view(np.int32)
    return bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))


@kernel
def _of_rank(rank):
    """The number of a rank, which turning round undoes."""
    return np.float64(np.int32(rank ^ ((rank >> np.int32(31)) & np.int32(0x7FFFFFFF))).view(np.float32))


@kernel
def extremes(first, last, gradient, hessian):
    """The largest size of a gradient, the largest and the lowest hessian, and whether all are finite.

    A maximum of integers is vectorized; infinity and NaN are beyond all numbers, on either side.
    """
    size, highest, lowest = np.int32(0), np.int32(0), _INFINITE
    for i in range(np.uint64(first), np.uint64(last)):
        h = _rank(hessian[i])
        size, highest, lowest = max(size, _rank(abs(gradient[i]))), max(highest, h), min(lowest, h)
    finite = size < _INFINITE and highest < _INFINITE and lowest > ~_INFINITE
    return _of_rank(size), _of_rank(highest), _of_rank(lowest), np.float64(finite)


@kernel
def sums(first, last, gradient, hessian, scales):
    """Sums of positive and negative gradients and of hessians, in whole units: exact, so of any order."""
    gradient_scale, hessian_scale = scales
    none = np.int64(0)
    positive, total, hessians = none, none, none
    for i in range(np.uint64(first), np.uint64(last)):
        g = np.int64(np.rint(gradient[i] * gradient_scale))
        positive += max(g, none)
        total += g
        hessians += np.int64(np.rint(hessian[i] * hessian_scale))
    return positive, positive - total, hessians


@kernel
def _sums_of(first, last, rows, gradient, hessian, scales):
    """The same of some of the documents."""
    gradient_scale, hessian_scale = scales
    positive, negative, hessians = 0.0, 0.0, 0.0
    for k in range(first, last):
        g = np.rint(gradient[rows[k]] * gradient_scale)
        positive += max(g, 0.0)
        negative -= min(g, 0.0)
        hessians += np.rint(hessian[rows[k]] * hessian_scale)
    return positive, negative, hessians


@kernel
def round_and_pack(first, last, gradient, hessian, seed, numbers, scales, bits, out):
    """Rounded and packed: out (n_docs,) · numbers (n_docs,) of the documents, or (0,): as they stand here.

    Returns sums of positive gradients, negative gradients and hessians, as they were rounded.
    """
    gradient_scale, hessian_scale = scales
    count_bits, gradient_shift = bits
    unit = 1.0 / (1 << 24)
    none = np.int64(0)
    positive, total, hessians = none, none, none
    # Counted without a sign, and a sum in place of a second maximum: vectors for LLVM, five times faster.
    for i in range(np.uint64(first), np.uint64(last)):
        number = np.uint64(numbers[i]) if numbers.size else i
        z = word_of(seed, number)  # random, but of (seed, document) alone
        up, down = np.float64(np.int64(z >> np.uint64(40))), np.float64(np.int64(z & np.uint64(0xFFFFFF)))
        g = np.int64(np.floor(gradient[i] * gradient_scale + up * unit))
        h = np.int64(np.floor(hessian[i] * hessian_scale + down * unit))
        out[i] = (g << gradient_shift) + (h << count_bits) + 1
        positive += max(g, none)
        total += g
        hessians += h
    return positive, positive - total, hessians


@kernel
def _integer_sums(first, last, rows, packed, bits):
    """The same of some of the documents."""
    count_bits, gradient_shift = bits
    mask = (1 << (gradient_shift - count_bits)) - 1
    positive, negative, hessians = 0, 0, 0
    for k in range(first, last):
        value = packed[rows[k]]
        g = value >> gradient_shift
        positive += max(g, 0)
        negative -= min(g, 0)
        hessians += (value >> count_bits) & mask
    return positive, negative, hessians


@kernel
def sum_leaves(first, last, leaves, rows, gradient, hessian, scales, out_leaf, out):
    """Sums (n_leaves, 2) of gradients and hessians of rows first..last, in integers, into `out`.

    out_leaf (n_docs,) becomes the leaf of each of the rows.
    """
    for leaf in range(leaves.size):
        g, h = np.int64(0), np.int64(0)
        begin, end = max(first, leaves[leaf]["begin"]), min(last, leaves[leaf]["end"])
        for k in range(begin, end):
            row = np.uint64(rows[k])
            g += np.int64(np.rint(gradient[row] * scales[0]))
            h += np.int64(np.rint(hessian[row] * scales[1]))
            out_leaf[row] = leaf
        out[leaf, 0], out[leaf, 1] = g, h


Sums = Sequence[tuple[float, float, float]] | NDArray[np.int64]
"""Of positive gradients, negative gradients and hessians, of each part."""


class Passes:
    """The documents of a tree: their derivatives, and how they are packed.

    Parameters
    ----------
    rows : the documents that are learnt from; once a tree is grown, those of a leaf together.
    gradient, hessian : of all documents.
    out : (n_docs,) their packed integers, once there are.
    numbers : of the documents among those of all peers.
    searched : the hessians that splits are chosen by, if others.
    is_bag : whether `rows` may be others than all documents.
    """

    def __init__(
        self,
        rows: NDArray[np.int32],
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        out: NDArray[np.int64],
        numbers: NDArray[np.int64] = IN_PLACE,
        *,
        searched: NDArray[np.float32] | None = None,
        is_bag: bool = True,
    ) -> None:
        self.rows, self.gradient, self.hessian, self.out, self.numbers = rows, gradient, hessian, out, numbers
        self.searched, self.is_bag = hessian if searched is None else searched, is_bag
        self.leaf_of_row: NDArray[np.int32] = np.empty(len(out), np.int32)
        """The leaf of each document that was learnt from, once leaves are summed up; -1 of all others."""
        if is_bag:
            self.leaf_of_row[:] = -1

    def extremes(self) -> Sequence[tuple[float, ...]] | NDArray[np.float64]:
        """Of each part the largest gradient, the largest and lowest hessian, and whether all are finite."""
        return self._over(extremes, len(self.out), self.gradient, self.searched)

    def sums(self, scales: tuple[float, float]) -> Sums:
        """Sums in units of 1 / scale."""
        n, derivatives = len(self.rows), (self.gradient, self.searched, scales)
        if self.is_bag:
            return self._over(_sums_of, n, self.rows, *derivatives)
        return self._over(sums, n, *derivatives)

    def pack(self, seed: int, scales: tuple[float, float], bits: tuple[int, int]) -> Sums:
        """Round and pack all documents; sums of those that are learnt from, as they were rounded."""
        derivatives, rounding = (self.gradient, self.searched), (np.uint64(seed), self.numbers, scales)
        parts = self._over(round_and_pack, len(self.out), *derivatives, *rounding, bits, self.out)
        return self._over(_integer_sums, len(self.rows), self.rows, self.out, bits) if self.is_bag else parts

    def sum_leaves(self, leaves: NDArray[np.void], scales: tuple[float, float]) -> NDArray[np.int64]:
        """(n_leaves, 2) sums of gradients and hessians of each leaf."""
        n, arrays = int(leaves["end"].max()), (leaves, self.rows, self.gradient, self.hessian)

        def part(first: int, last: int) -> NDArray[np.int64]:
            out: NDArray[np.int64] = np.empty((len(leaves), 2), np.int64)
            sum_leaves(first, last, *arrays, scales, self.leaf_of_row, out)
            return out

        parts = over_chunks(part, n, smallest=share(n, _VALUED_ROWS))
        return sum(parts, np.zeros((len(leaves), 2), np.int64))

    def _over(self, run: Any, n: int, *arguments: Any) -> list[Any]:
        return over_chunks(run, n, *arguments, smallest=share(n, _DOCS))


def share(n_docs: int, least: int = 1 << 15) -> int:
    """The documents of a thread that has as many as any other: for work that takes equally long on each.

    least : what is worth a thread.
    """
    return -(-n_docs // max(1, min(n_threads(), n_docs // least)))
