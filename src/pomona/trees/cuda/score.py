"""Scores of documents in a GPU's memory: a thread for each, whose features lie in shared memory.

The features that the trees ask for are laid out feature by feature, so that neighbours who ask for different
ones read different banks. Values are added in float64, tree after tree: the same bits as `trees.score`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pomona._cuda import SIMULATED, cuda, kernel, on_device
from pomona._types import Features, Scores
from pomona.errors import InputError
from pomona.trees.forest import Forest

_TILE = 10_240  # floats in shared memory
_MOST_DOCS = 4 if SIMULATED else 64


@kernel(launched=True)
def _score(X, used, node_ptr, leaf_ptr, split, threshold, children, value, base, out):
    """used (n_used,) features · split (n_nodes,) int32 place in `used` · 2 + NaN goes left · children
    (n_nodes, 2) int32 as in `Forest` · out (n_docs,)
    """
    tile = cuda.shared.array(_TILE, np.float32)
    t, n_docs, n_used = cuda.threadIdx.x, cuda.blockDim.x, used.size
    for first in range(cuda.blockIdx.x * n_docs, X.shape[0], cuda.gridDim.x * n_docs):
        here = min(n_docs, X.shape[0] - first)
        for doc in range(here):
            for u in range(t, n_used, n_docs):
                tile[u * n_docs + doc] = X[first + doc, used[u]]
        cuda.syncthreads()
        if t < here:
            score = base
            for tree in range(node_ptr.size - 1):
                begin, node = node_ptr[tree], np.int32(0 if node_ptr[tree + 1] > node_ptr[tree] else -1)
                while node >= 0:
                    at = begin + node
                    which = split[at]
                    x = tile[(which >> 1) * n_docs + t]
                    is_left = x <= threshold[at] or (x != x and which & 1 == 1)
                    node = children[at, 0] if is_left else children[at, 1]
                score += value[leaf_ptr[tree] + ~node]
            out[first + t] = score
        cuda.syncthreads()


class CudaScorer:
    """Scores documents that lie in a GPU's memory, or in the host's.

    A forest of float32 thresholds, as all that were trained here, over at most 2,560 different features.
    """

    def __init__(self, forest: Forest) -> None:
        if forest.double_threshold is not None or forest.zero_missing is not None or forest.single:
            raise InputError("only a forest of float32 thresholds and float64 sums is scored on a GPU")
        used, place = np.unique(forest.feature, return_inverse=True)
        self._n_features, self._base = forest.n_features, forest.base
        self._n_threads = min(_MOST_DOCS, _TILE // max(1, len(used)))
        if self._n_threads < 4:
            raise InputError(f"found {len(used)} different features in the trees, expected at most 2,560")
        tables = (
            used.astype(np.int32),
            forest.node_ptr,
            forest.leaf_ptr,
            (2 * place + forest.nan_left).astype(np.int32),
            forest.threshold,
            np.stack([forest.left, forest.right], axis=1),
            forest.value,
        )
        with on_device():
            self._tables = [cuda.to_device(np.array(table)) for table in tables]

    def score(self, X: Any) -> Any:
        """The scores, on the GPU, of documents there: X (n_docs, n_features) float32."""
        if X.ndim != 2 or X.shape[1] != self._n_features or X.dtype != np.float32:
            raise InputError(
                f"found features {X.dtype} {X.shape}, expected float32 (n_docs, {self._n_features})"
            )
        with on_device():
            out = cuda.device_array(X.shape[0], np.float64)
            n_blocks = max(1, -(-X.shape[0] // self._n_threads))
            if X.shape[0]:
                _score[min(n_blocks, 1 << 16), self._n_threads](X, *self._tables, self._base, out)
        return out

    def score_rows(self, X: Features) -> Scores:
        """The scores of documents in the host's memory."""
        with on_device():
            scores: Scores = self.score(cuda.to_device(np.ascontiguousarray(X, np.float32))).copy_to_host()
        return scores
