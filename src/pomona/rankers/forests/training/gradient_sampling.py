"""Sampling of documents by gradient: GOSS (Ke et al., NeurIPS 2017).

A document whose gradient is small is learnt well already. So a tree learns from the share a of documents with
the largest gradients, and from a share b of all documents, drawn among the others, whose derivatives count
(1 − a)/b times: sums stay unbiased.

Where the large gradients begin is found by counting in steps of 3 %; no more are let in than asked, unless
they are all alike. Each of the others is drawn by a random word of the seed and the document, so a cluster
draws as one machine does. As in the paper, sizes are those of gradients; LightGBM's of gradients times
hessians.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._splitmix import word_of
from pomona.rankers.forests.training.portion import Portion

_SHIFT = np.int32(18)  # what is left of a float's bits tells its size within 3 %
_N_SIZES = 1 << 13
_ALL = np.empty(0, np.int32)


@kernel
def _size_of(x):
    return np.float32(abs(x)).view(np.int32) >> _SHIFT


@kernel
def _count_sizes(first, last, rows, gradient):
    """How many of the rows have a gradient of each size; no rows: all documents."""
    counts = np.zeros(_N_SIZES, np.int64)
    for k in range(first, last):
        counts[_size_of(gradient[rows[k] if rows.size else k])] += 1
    return counts


@kernel
def _draw(first, last, rows, numbers, seed, least, limit, factor, gradient, hessian, out):
    """Rows of gradients of at least a size, and of others those with words below a limit, into out[first:].

    Derivatives of the others are multiplied by a factor. Returns where those in `out` end.
    """
    n = first
    for k in range(first, last):
        row = rows[k] if rows.size else k
        if _size_of(gradient[row]) < least:
            if word_of(seed, np.uint64(numbers[row] if numbers.size else row)) >= limit:
                continue
            gradient[row] *= factor
            hessian[row] *= factor
        out[n] = row
        n += 1
    return n


class GradientSampling:
    """What every tree learns from: many documents of large gradients, few of the others.

    Parameters
    ----------
    top : the share of documents that is taken for its large gradients; 1 takes all, and draws nothing.
    rest : the share of documents that is drawn among the others.
    """

    def __init__(self, top: float, rest: float, seed: int, portion: Portion) -> None:
        self._top, self._rest, self._portion = top, rest, portion
        self._rng = np.random.default_rng([seed, 2])  # the draws of trees do not depend on it

    def draw(
        self, gradient: NDArray[np.float32], hessian: NDArray[np.float32], rows: NDArray[np.int32] | None
    ) -> NDArray[np.int32] | None:
        """The documents to learn from, of `rows` or of all; the derivatives of some become larger."""
        if self._top == 1:
            return rows
        chosen, n = (_ALL, len(gradient)) if rows is None else (rows, len(rows))
        parts = over_chunks(_count_sizes, n, chosen, gradient, smallest=1 << 15)
        counts: NDArray[np.int64] = sum(parts, np.zeros(_N_SIZES, np.int64))
        self._portion.add(counts)
        at_least = np.cumsum(counts[::-1])[::-1]
        total = int(at_least[0])
        least = min(int(np.count_nonzero(at_least > self._top * total)), int(np.count_nonzero(at_least)) - 1)
        chance = min(1.0, self._rest * total / max(total - int(at_least[least]), 1))
        seed, limit = self._rng.integers(2**64, dtype=np.uint64), np.uint64(min(chance * 2.0**64, 2**64 - 1))
        out = np.empty(n, np.int32)
        numbers = self._portion.doc_numbers
        drawn = (numbers, seed, least, limit, np.float32(1 / chance), gradient, hessian, out)
        size = max(1 << 15, -(-n // 64))
        ends = over_chunks(lambda first, last: (first, _draw(first, last, chosen, *drawn)), n, smallest=size)
        return np.concatenate([_ALL, *(out[first:end] for first, end in ends)])
