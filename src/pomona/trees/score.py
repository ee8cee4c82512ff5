"""Scoring: documents become bytes, and 64 of them walk a tree together, four trees at a time.

1. *Code*: each plane of the coded forest gets one byte per document, the number of cuts below its value,
   counted among sixteen cuts that tell which sixteen to count next.
2. *Walk*: the leaves that 64 documents have come to are the bytes of one vector (`lanes.walk_trees`); a node
   is two comparisons and a choice, and no branch depends on the data. The comparisons of an oblivious tree
   are the bits of the leaf's number. Trees of more leaves than bytes can number are walked document by
   document, all of a block in turn, so that none waits for its own last step.
3. *Add* the leaf's value in float64, tree after tree: the same sums in the same order, hence the same bits,
   as walking the trees one by one.

QuickScorer (Lucchese et al. 2015) keeps a word of leaves per document, from which every node that sends it to
the right takes the leaves on its left; here parents come before children, which lets a byte do for the word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Scores, Values
from pomona.trees.coded import DEEP, LARGE, SMALL, CodedForest
from pomona.trees.lanes import N_CUTS, N_LANES, N_TREES, n_below, walk_trees
from pomona.trees.walk import ZERO

_BATCH_BYTES = 256 * 1024  # the codes of a batch stay in the second-level cache
_SMALLEST_CHUNK = 8  # blocks
_APPENDED_BLOCKS = 16  # coded at a time, where documents get a column for each split on categories

_NOTHING = -0.0  # added to whatever number, it changes no bit
_ONE, _SIXTEEN, _LANES = np.uint64(1), np.uint64(N_CUTS), np.uint64(N_LANES)


@kernel
def _encode(X, plane_feature, plane_nan, plane_zero, cut_ptr, cuts, out_codes):
    """X (n_docs, n_features) · out_codes (n_blocks, n_planes, 64): the number of cuts below each value.

    Lanes of the last block that have no document keep what they held: any codes lead to some leaf.
    """
    for block in range(out_codes.shape[0]):
        start = block * N_LANES
        n_docs = min(N_LANES, X.shape[0] - start)
        for plane in range(plane_feature.size):
            feature, coarse = plane_feature[plane], cut_ptr[plane]
            fine, nan, zero = coarse + _SIXTEEN, plane_nan[plane], plane_zero[plane]
            for lane in range(n_docs):
                x = X[start + lane, feature]
                code = n_below(cuts, coarse, x) * _SIXTEEN
                code += n_below(cuts, fine + code, x)
                is_nan = np.isnan(x) | (zero & (abs(x) <= ZERO))
                out_codes[block, plane, lane] = nan if is_nan else np.uint8(code)


@kernel
def _add_values(value, leaf_ptr, tree, n_trees, leaf, start, n_docs, out):
    """Add the values of leaves (4 · 64,) in up to four trees: a score is read and written once."""
    at0, at1 = leaf_ptr[tree], leaf_ptr[tree + min(1, n_trees - 1)]
    at2, at3 = leaf_ptr[tree + min(2, n_trees - 1)], leaf_ptr[tree + min(3, n_trees - 1)]
    for lane in range(n_docs):
        value0 = value[at0 + leaf[lane]]
        value1 = value[at1 + leaf[lane + N_LANES]] if n_trees > 1 else _NOTHING
        value2 = value[at2 + leaf[lane + 2 * N_LANES]] if n_trees > 2 else _NOTHING
        value3 = value[at3 + leaf[lane + 3 * N_LANES]] if n_trees > 3 else _NOTHING
        out[start + lane] += value0
        out[start + lane] += value1
        out[start + lane] += value2
        out[start + lane] += value3


@kernel
def _add_small(codes, first, last, node_ptr, nodes, leaf_ptr, value, leaf, out):
    """Add what the trees [first, last) give.

    codes (n_blocks, n_planes, 64) · leaf (4 · 64,) room for those of four trees · out (n_docs,).
    """
    begin, end = np.empty(N_TREES, np.uint64), np.empty(N_TREES, np.uint64)
    for block in range(codes.shape[0]):
        start = block * N_LANES
        n_docs = min(N_LANES, out.size - start)
        for tree in range(first, last, N_TREES):
            n_trees, n_steps = min(N_TREES, last - tree), _ONE
            for t in range(N_TREES):
                number = tree + min(t, n_trees - 1)  # some of the last four may be the same
                begin[t], end[t] = node_ptr[number], node_ptr[number + 1] - _ONE
                n_steps = max(n_steps, end[t] - begin[t] + _ONE)
            walk_trees(codes, np.uint64(block), nodes, begin, end, n_steps, leaf)
            _add_values(value, leaf_ptr, tree, n_trees, leaf, start, n_docs, out)


@kernel
def _add_oblivious(codes, first, last, node_ptr, nodes, leaf_ptr, value, leaf, n_levels, out):
    """The same of oblivious trees: every level gives the leaves' numbers a bit."""
    for block in range(codes.shape[0]):
        start = block * N_LANES
        n_docs = min(N_LANES, out.size - start)
        for tree in range(first, last, N_TREES):
            n_trees = min(N_TREES, last - tree)
            for t in range(n_trees):
                row = t * N_LANES
                for lane in range(N_LANES):
                    leaf[row + lane] = 0
                for level in range(n_levels[tree + t]):
                    node = nodes[node_ptr[tree + t] + (_ONE << np.uint64(level)) - _ONE]
                    plane, code = np.uint64(node["plane"]) // _LANES, node["code"]
                    bit = leaf.dtype.type(1 << (n_levels[tree + t] - 1 - level))
                    for lane in range(N_LANES):
                        is_above = codes[block, plane, lane] > code
                        leaf[row + lane] |= bit if is_above else leaf.dtype.type(0)
            _add_values(value, leaf_ptr, tree, n_trees, leaf, start, n_docs, out)


@kernel
def _add_large(codes, first, last, node_ptr, nodes, leaf_ptr, value, child, out):
    """The same of trees with any number of leaves: every document that walks takes a step, then all again."""
    place, walking = np.empty(N_LANES, np.int32), np.empty(N_LANES, np.uint64)
    for block in range(codes.shape[0]):
        start = block * N_LANES
        n_docs = min(N_LANES, out.size - start)
        for tree in range(first, last):
            for lane in range(n_docs):
                place[lane], walking[lane] = 0, lane
            n_walking = n_docs
            while n_walking > 0:
                n_left = 0
                for i in range(n_walking):
                    lane = walking[i]
                    at = node_ptr[tree] + np.uint64(place[lane])
                    plane = np.uint64(nodes[at]["plane"]) // _LANES
                    to = child[at, np.uint64(codes[block, plane, lane] > nodes[at]["code"])]
                    place[lane], walking[n_left] = to, lane
                    n_left += to >= 0
                n_walking = n_left
            for lane in range(n_docs):
                out[start + lane] += value[leaf_ptr[tree] + np.uint64(~place[lane])]


def score(coded: CodedForest, X: Features, base: float, *, single: bool = False) -> Scores:
    """`base` plus the sum of every document's leaf values; X is read-only, C-ordered.

    single : round the sum to float32 after every tree.
    """
    out = _room(X, base, single)
    batch = max(1, _BATCH_BYTES // (N_LANES * max(1, coded.n_planes)))

    def run(first: int, last: int) -> None:
        for start in range(first, last, batch):
            docs = _documents(start, min(start + batch, last))
            _add(coded, _codes(coded, X[docs]), 0, coded.n_trees, out[docs])

    over_chunks(run, _n_blocks(X), smallest=_SMALLEST_CHUNK)
    return out.astype(np.float64, copy=False)


def staged_scores(
    coded: CodedForest, X: Features, base: float, every: int, *, single: bool = False
) -> Iterator[Scores]:
    """The scores after each `every` trees, and after all; the codes are made once and kept."""
    out, codes = _room(X, base, single), encoded(coded, X)
    for stage in range(0, coded.n_trees, every):
        add_trees(coded, codes, stage, min(stage + every, coded.n_trees), out)
        yield out.astype(np.float64)


def value_scorer(
    coded: CodedForest, X: Features, base: float, *, single: bool = False
) -> Callable[[Values], Scores]:
    """What scores documents with other values in the leaves; the codes are made once and kept."""
    codes = encoded(coded, X)

    def scores(value: Values) -> Scores:
        out, in_order = _room(X, base, single), value[coded.leaf_order]
        in_order.flags.writeable = False
        add_trees(replace(coded, value=in_order), codes, 0, coded.n_trees, out)
        return out.astype(np.float64, copy=False)

    return scores


def encoded(coded: CodedForest, X: Features) -> NDArray[np.uint8]:
    """(n_blocks, n_planes, 64) codes of all documents."""
    codes = _room_for_codes(coded, X)

    def encode(first: int, last: int) -> None:
        codes[first:last] = _codes(coded, X[_documents(first, last)])

    over_chunks(encode, len(codes), smallest=_SMALLEST_CHUNK)
    return codes


def add_trees(
    coded: CodedForest, codes: NDArray[np.uint8], first_tree: int, last_tree: int, out: NDArray[Any]
) -> None:
    """Add to the scores of documents what the trees [first_tree, last_tree) give."""

    def add(first: int, last: int) -> None:
        _add(coded, codes[first:last], first_tree, last_tree, out[_documents(first, last)])

    over_chunks(add, len(codes), smallest=_SMALLEST_CHUNK)


def _n_blocks(X: Features) -> int:
    return -(-len(X) // N_LANES)


def _documents(first_block: int, last_block: int) -> slice:
    return slice(first_block * N_LANES, last_block * N_LANES)


def _room(X: Features, base: float, single: bool) -> NDArray[Any]:
    return np.full(len(X), base, np.float32 if single else np.float64)


def _room_for_codes(coded: CodedForest, X: Features) -> NDArray[np.uint8]:
    """(n_blocks, n_planes, 64)."""
    shape = _n_blocks(X), coded.n_planes, N_LANES
    return _aligned(math.prod(shape)).reshape(shape)


def _aligned(n_bytes: int) -> NDArray[np.uint8]:
    """Room that begins with a cache line, where 64 bytes are read and written at once: an eighth faster."""
    room = np.empty(n_bytes + N_LANES, np.uint8)
    start = -room.ctypes.data % N_LANES
    return room[start : start + n_bytes]


def _codes(coded: CodedForest, X: Features) -> NDArray[np.uint8]:
    codes = _room_for_codes(coded, X)
    if coded.splits is None:
        _encode(X, *coded.planes, codes)
        return codes
    for block in range(0, len(codes), _APPENDED_BLOCKS):
        rows = X[_documents(block, block + _APPENDED_BLOCKS)]
        _encode(coded.splits.appended(rows), *coded.planes, codes[block : block + _APPENDED_BLOCKS])
    return codes


def _add(coded: CodedForest, codes: NDArray[np.uint8], first: int, last: int, out: NDArray[Any]) -> None:
    trees = coded.node_ptr, coded.nodes, coded.leaf_ptr, coded.value
    for kind, begin, end in coded.runs:
        begin, end = max(first, begin), min(last, end)
        if begin >= end:
            continue
        if kind == SMALL:
            _add_small(codes, begin, end, *trees, np.empty(N_TREES * N_LANES, np.uint8), out)
        elif kind == LARGE:
            _add_large(codes, begin, end, *trees, coded.child, out)
        else:
            leaf = _aligned(N_TREES * N_LANES * 2).view(np.uint16 if kind == DEEP else np.uint8)
            _add_oblivious(codes, begin, end, *trees, leaf, coded.n_levels, out)
