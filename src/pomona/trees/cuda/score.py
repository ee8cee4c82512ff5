"""Scores of documents in a GPU's memory: a thread for each, whose features lie in shared memory.

The features that the trees ask for are laid out feature by feature, so that neighbours who ask for different
ones read different banks. A node is one word, read at once: nodes and leaves of a tree lie as a walk meets
them that goes left first, so that the next node is the left child, and one number says how many nodes, and
how many leaves, lie before the right one. Values are added in float64, tree after tree: the same bits as
`trees.score`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._cuda import SIMULATED, cuda, kernel, on_device
from pomona._types import Features, Scores, Values
from pomona.errors import InputError
from pomona.trees.forest import Forest

_TILE = 8_704  # values in shared memory: six blocks run on a processor, one fifth more than with 10,240
_MOST_DOCS = 4 if SIMULATED else 64
_ALL_BUT_SIGN, _INFINITY, _NAN = np.int32(0x7FFFFFFF), np.int32(0x7F800000), np.int32(0x7FFFFFFF)

# A node: the key of its threshold, the place of its feature, three answers, what lies before its right child.
_LOW = np.int64(0xFFFFFFFF)
_PLACE = np.int32(19)
_NAN_LEFT, _LEFT_ENDS, _RIGHT_ENDS = np.int32(1 << 18), np.int32(1 << 17), np.int32(1 << 16)
_BEFORE_RIGHT = np.int32(0xFFFF)


@kernel
def _key(bits):
    """An integer that is ordered as the float of these bits; both zeros are 0, and NaN is above all."""
    if bits & _ALL_BUT_SIGN > _INFINITY:
        return _NAN
    return bits if bits >= 0 else -(bits & _ALL_BUT_SIGN)


@kernel
def _step(node, leaf, nodes, tile, n_docs):
    """Where the thread's document goes from a node, and the first leaf below; -1 and its leaf at the end.

    At a node -1 both stay as they are.
    """
    word = nodes[max(node, np.int32(0))]
    asked, threshold = np.int32(word & _LOW), np.int32(word >> 32)
    x = tile[(asked >> _PLACE) * n_docs + cuda.threadIdx.x]
    is_left = (x <= threshold) | ((x == _NAN) & (asked & _NAN_LEFT != 0))
    ends = asked & (_LEFT_ENDS if is_left else _RIGHT_ENDS) != 0
    before = np.int32(0) if is_left else asked & _BEFORE_RIGHT
    if node < 0:
        return node, leaf
    ahead = max(before, np.int32(1))
    return np.int32(-1 if ends else node + ahead), np.int32(leaf + before)


@kernel(launched=True)
def _score(bits, used, roots, leaves, nodes, value, base, out):
    """bits (n_docs, n_features) features as int32 · used (n_used,) features · roots (n_trees,) : a node, or
    -1 for a tree of one leaf · leaves (n_trees,) : the first · nodes, value : see `_packed` · out (n_docs,)
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
                e, f, g, h = leaves[tree], leaves[tree + 1], leaves[tree + 2], leaves[tree + 3]
                while a >= 0 or b >= 0 or c >= 0 or d >= 0:
                    a, e = _step(a, e, nodes, tile, n_docs)
                    b, f = _step(b, f, nodes, tile, n_docs)
                    c, g = _step(c, g, nodes, tile, n_docs)
                    d, h = _step(d, h, nodes, tile, n_docs)
                score += value[e]
                score += value[f]
                score += value[g]
                score += value[h]
            for tree in range(whole, n_trees):
                a, e = roots[tree], leaves[tree]
                while a >= 0:
                    a, e = _step(a, e, nodes, tile, n_docs)
                score += value[e]
            out[first + t] = score
        cuda.syncthreads()


def _keys(values: NDArray[np.float32]) -> NDArray[np.int32]:
    """`_key` of many thresholds, none of which is NaN."""
    bits = np.ascontiguousarray(values).view(np.int32)
    return np.where(bits >= 0, bits, -(bits & _ALL_BUT_SIGN)).astype(np.int32)


def _packed(forest: Forest, place: NDArray[np.intp]) -> tuple[NDArray[np.int64], Values]:
    """The nodes as words, one more than there are, and the values of the leaves, both in their new order."""
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.node_ptr))
    begin, n_nodes = forest.node_ptr[tree], len(tree)
    left, right = (
        np.where(to < 0, n_nodes, begin + to) for to in (forest.left, forest.right)
    )  # none: n_nodes
    levels = [np.unique(begin)]
    while len(below := np.concatenate([to[levels[-1]] for to in (left, right)])):
        levels.append(below[below < n_nodes])
    size = np.zeros(n_nodes + 1, np.int64)
    for level in reversed(levels):
        size[level] = 1 + size[left[level]] + size[right[level]]
    before = 1 + size[left]
    if (before > _BEFORE_RIGHT).any():
        raise InputError(f"found a tree of {size.max() + 1:,} leaves, expected at most 65,536 on a GPU")
    node, leaf = np.append(begin, 0), np.append(forest.leaf_ptr[tree], 0)
    for level in levels:
        node[left[level]], leaf[left[level]] = node[level] + 1, leaf[level]
        node[right[level]], leaf[right[level]] = node[level] + before[level], leaf[level] + before[level]
    nodes, value = np.zeros(n_nodes + 1, np.int64), np.array(forest.value)
    asked = place.astype(np.int64) << _PLACE | before
    for answer, bit in (
        (forest.nan_left, _NAN_LEFT),
        (forest.left < 0, _LEFT_ENDS),
        (forest.right < 0, _RIGHT_ENDS),
    ):
        asked |= np.where(answer, bit, 0)
    nodes[node[:-1]] = _keys(forest.threshold).astype(np.int64) << 32 | asked
    for to, first in ((forest.left, leaf[:-1]), (forest.right, leaf[:-1] + before)):
        is_leaf = to < 0
        value[first[is_leaf]] = forest.value[(forest.leaf_ptr[tree] + ~to)[is_leaf]]
    return nodes, value


class CudaScorer:
    """Scores documents that lie in a GPU's memory, or in the host's.

    A forest of float32 thresholds, as all that were trained here, over at most 2,176 different features.
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
            raise InputError(f"found {len(used)} different features in the trees, expected at most 2,176")
        nodes, value = _packed(forest, place)
        roots = np.where(np.diff(forest.node_ptr) > 0, forest.node_ptr[:-1], -1)
        tables = (
            used.astype(np.int32),
            roots.astype(np.int32),
            forest.leaf_ptr[:-1].astype(np.int32),
            nodes,
            value,
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
                bits = X.view(np.int32)
                _score[min(n_blocks, 1 << 16), self._n_threads](bits, *self._tables, self._base, out)
        return out

    def score_rows(self, X: Features) -> Scores:
        """The scores of documents in the host's memory."""
        with on_device():
            scores: Scores = self.score(cuda.to_device(np.ascontiguousarray(X, np.float32))).copy_to_host()
        return scores
