"""Scores of documents in a GPU's memory: a thread for each, whose features lie in shared memory.

The features that the trees ask for are laid out feature by feature, so that neighbours who ask for different
ones read different banks. Values are added in float64, tree after tree: the same bits as `trees.score`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._cuda import SIMULATED, cuda, kernel, on_device
from pomona._types import Features, Scores
from pomona.errors import InputError
from pomona.trees.forest import Forest

_TILE = 10_240  # values in shared memory
_MOST_DOCS = 4 if SIMULATED else 64
_ALL_BUT_SIGN, _INFINITY, _NAN = np.int32(0x7FFFFFFF), np.int32(0x7F800000), np.int32(0x7FFFFFFF)


@kernel
def _key(bits):
    """An integer that is ordered as the float of these bits; both zeros are 0, and NaN is above all."""
    if bits & _ALL_BUT_SIGN > _INFINITY:
        return _NAN
    return bits if bits >= 0 else -(bits & _ALL_BUT_SIGN)


@kernel
def _step(node, begin, nodes, tile, n_docs):
    """The child of a node that the thread's document goes to; a leaf, which is below 0, stays."""
    at = begin + max(node, np.int32(0))
    split, threshold, left, right = nodes[at, 0], nodes[at, 1], nodes[at, 2], nodes[at, 3]
    x = tile[(split >> 1) * n_docs + cuda.threadIdx.x]
    is_left = (x <= threshold) | ((x == _NAN) & (split & 1 == 1))
    child = left if is_left else right
    return child if node >= 0 else node


@kernel(launched=True)
def _score(bits, used, node_ptr, leaf_ptr, roots, nodes, value, base, out):
    """bits (n_docs, n_features) features as int32 · used (n_used,) features · roots (n_trees,) 0, or -1 for a
    tree of one leaf · nodes (n_nodes + 1, 4) : place in `used` · 2 + NaN goes left, key of the threshold,
    children as in `Forest`, all int32 · out (n_docs,)
    """
    tile = cuda.shared.array(_TILE, np.int32)
    t, n_docs, n_used = cuda.threadIdx.x, cuda.blockDim.x, used.size
    for first in range(cuda.blockIdx.x * n_docs, bits.shape[0], cuda.gridDim.x * n_docs):
        here = min(n_docs, bits.shape[0] - first)
        for u in range(t, n_used, n_docs):
            for doc in range(here):
                tile[u * n_docs + doc] = _key(bits[first + doc, used[u]])
        cuda.syncthreads()
        if t < here:
            score, n_trees = base, roots.size
            # Four trees at a time: while one waits for its node, the others are walked.
            whole = n_trees // 4 * 4
            for tree in range(0, whole, 4):
                a, b, c, d = roots[tree], roots[tree + 1], roots[tree + 2], roots[tree + 3]
                a_at, b_at, c_at, d_at = (
                    node_ptr[tree], node_ptr[tree + 1], node_ptr[tree + 2], node_ptr[tree + 3]
                )  # fmt: skip
                while a >= 0 or b >= 0 or c >= 0 or d >= 0:
                    a, b = _step(a, a_at, nodes, tile, n_docs), _step(b, b_at, nodes, tile, n_docs)
                    c, d = _step(c, c_at, nodes, tile, n_docs), _step(d, d_at, nodes, tile, n_docs)
                score += value[leaf_ptr[tree] + ~a]
                score += value[leaf_ptr[tree + 1] + ~b]
                score += value[leaf_ptr[tree + 2] + ~c]
                score += value[leaf_ptr[tree + 3] + ~d]
            for tree in range(whole, n_trees):
                a = roots[tree]
                while a >= 0:
                    a = _step(a, node_ptr[tree], nodes, tile, n_docs)
                score += value[leaf_ptr[tree] + ~a]
            out[first + t] = score
        cuda.syncthreads()


def _keys(values: NDArray[np.float32]) -> NDArray[np.int32]:
    """`_key` of many thresholds, none of which is NaN."""
    bits = np.ascontiguousarray(values).view(np.int32)
    return np.where(bits >= 0, bits, -(bits & _ALL_BUT_SIGN)).astype(np.int32)


class CudaScorer:
    """Scores documents that lie in a GPU's memory, or in the host's.

    A forest of float32 thresholds, as all that were trained here, over at most 2,560 different features.
    """

    def __init__(self, forest: Forest) -> None:
        if forest.double_threshold is not None or forest.zero_missing is not None or forest.single:
            raise InputError("only a forest of float32 thresholds and float64 sums is scored on a GPU")
        if forest.member_ptr is not None:
            raise InputError("a GPU cannot score splits on categories so far: score on the CPU")
        used, place = np.unique(forest.feature, return_inverse=True)
        self._n_features, self._base = forest.n_features, forest.base
        self._n_threads = min(_MOST_DOCS, _TILE // max(1, len(used)))
        if self._n_threads < 4:
            raise InputError(f"found {len(used)} different features in the trees, expected at most 2,560")
        # One node more: a tree of one leaf looks at where its root would be.
        nodes = np.zeros((len(forest.feature) + 1, 4), np.int32)
        nodes[:-1, 0], nodes[:-1, 1] = 2 * place + forest.nan_left, _keys(forest.threshold)
        nodes[:-1, 2], nodes[:-1, 3] = forest.left, forest.right
        roots = np.where(np.diff(forest.node_ptr) > 0, 0, -1).astype(np.int32)
        tables = used.astype(np.int32), forest.node_ptr, forest.leaf_ptr, roots, nodes, forest.value
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
                bits = X.view(np.int32)
                _score[min(n_blocks, 1 << 16), self._n_threads](bits, *self._tables, self._base, out)
        return out

    def score_rows(self, X: Features) -> Scores:
        """The scores of documents in the host's memory."""
        with on_device():
            scores: Scores = self.score(cuda.to_device(np.ascontiguousarray(X, np.float32))).copy_to_host()
        return scores
