"""Feature values become bins on a GPU, eight to a word: the same codes as `Bins.codes`, in another layout."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._cuda import N_THREADS, SIMULATED, cuda, kernel
from pomona._types import Features
from pomona.trees.binning import Bins
from pomona.trees.cuda.table import GROUP, N_BINS_AT_MOST

_PIECE = 1 << 28  # bytes of features that are on the GPU at a time


@kernel(launched=True)
def _encode(X, first_row, ladder, column_feature, last_code, out):
    """A block codes eight columns, those of one word, of some rows.

    X (n_rows, n_features) rows from `first_row` on · ladder (n_words · 8, 256) cut points, then infinity
    · column_feature, last_code (n_words · 8,) -1 where there is no column · out (n_groups, n_docs, 2)
    """
    cuts = cuda.shared.array((8, N_BINS_AT_MOST), np.float32)
    t, n_threads, word = cuda.threadIdx.x, cuda.blockDim.x, cuda.blockIdx.y
    for i in range(t, 8 * N_BINS_AT_MOST, n_threads):
        cuts[i // N_BINS_AT_MOST, i % N_BINS_AT_MOST] = ladder[
            word * 8 + i // N_BINS_AT_MOST, i % N_BINS_AT_MOST
        ]
    cuda.syncthreads()
    for i in range(cuda.blockIdx.x * n_threads + t, X.shape[0], cuda.gridDim.x * n_threads):
        packed = np.uint64(0)
        for c in range(8):
            feature = column_feature[word * 8 + c]
            if feature >= 0:
                x, code, step = X[i, feature], 0, 128
                while step > 0:
                    if cuts[c, code + step - 1] < x:
                        code += step
                    step //= 2
                if x != x:
                    code = last_code[word * 8 + c]
                packed |= np.uint64(code) << np.uint64(8 * c)
        out[word // 2, first_row + i, word % 2] = packed


def encoded(X: Features, bins: Bins, usable: NDArray[np.int64]) -> Any:
    """The codes of X on the GPU, (n_groups, n_docs, 2), of the usable features."""
    n_docs, n_groups = len(X), max(1, -(-len(usable) // GROUP))
    n_places = n_groups * GROUP
    ladder = np.full((n_places, N_BINS_AT_MOST), np.inf, np.float32)
    feature, last_code = np.full(n_places, -1, np.int32), np.zeros(n_places, np.int32)
    for column, f in enumerate(usable.tolist()):
        ladder[column, : len(bins.edges[f])] = bins.edges[f]
    feature[: len(usable)], last_code[: len(usable)] = usable, bins.n_bins[usable] - 1
    tables = [cuda.to_device(table) for table in (ladder, feature, last_code)]
    out = cuda.device_array((n_groups, n_docs, 2), np.uint64)
    size = max(1, _PIECE // max(1, 4 * X.shape[1]))
    n_blocks = 1 if SIMULATED else 64
    for first in range(0, n_docs, size):
        piece = cuda.to_device(np.ascontiguousarray(X[first : first + size], np.float32))
        _encode[(n_blocks, 2 * n_groups), N_THREADS](piece, first, *tables, out)
    return out
