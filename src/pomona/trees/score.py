"""Bit-parallel scoring: 64 documents walk a tree together, as the bits of a word.

1. *Code*: each plane of the coded forest gets one byte per document, by binary search.
2. *Walk*: a word per node tells which documents reach it; one 64-lane comparison gives those that go right,
   and both children get their word. No branch depends on the data.
3. *Number*: bit b of the documents' leaf numbers is the union of the words of all leaves whose number has
   that bit. The comparisons of an oblivious tree are these words already, one per level; up to eight levels
   they set the bits of bytes at once, which takes two thirds of the time.
4. *Add* the leaf's value in float64, tree after tree: the same sums in the same order, hence the same bits,
   as walking the trees one by one.

QuickScorer (Lucchese et al. 2015) keeps a word of leaves per document; here it is a word of documents per
node, so that a tree may have any number of leaves and a node costs a few instructions for 64 documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Scores, Values
from pomona.trees.coded import CodedForest
from pomona.trees.lanes import N_LANES, lane_numbers, lanes_above
from pomona.trees.walk import ZERO

_BATCH_BYTES = 128 * 1024  # the codes of a batch stay in the second-level cache
_SMALLEST_CHUNK = 8  # blocks
_APPENDED_BLOCKS = 16  # coded at a time, where documents get a column for each split on categories
_MOST_BYTE_LEVELS = 8  # of an oblivious tree whose leaf numbers fit bytes

_ALL = np.uint64(2**64 - 1)
_NONE, _ONE = np.uint64(0), np.uint64(1)


@kernel
def _encode(X, plane_feature, plane_nan, plane_zero, cut_ptr, cuts, out_codes):
    """X (n_docs, n_features) · out_codes (n_blocks, n_planes, 64): the number of cuts below each value.

    Lanes of the last block that have no document keep what they held: any codes lead to some leaf.
    """
    values, place = np.empty(N_LANES, X.dtype), np.empty(N_LANES, np.uint64)
    for block in range(out_codes.shape[0]):
        start = block * N_LANES
        n_docs = min(N_LANES, X.shape[0] - start)
        for plane in range(plane_feature.size):
            feature = plane_feature[plane]
            for lane in range(n_docs):
                values[lane] = X[start + lane, feature]
            if plane_zero[plane]:
                for lane in range(n_docs):
                    if abs(values[lane]) <= ZERO:
                        values[lane] = np.nan
            tree = cuts[cut_ptr[plane] : cut_ptr[plane + 1]]
            room = np.uint64(tree.size)
            for lane in range(n_docs):
                place[lane] = 1
            reached = _ONE
            # All lanes take a step before any takes the next, so that steps overlap; and a step adds the
            # comparison instead of choosing by it, which LLVM makes a branch (8 times slower) on many CPUs.
            while reached < room:
                for lane in range(n_docs):
                    place[lane] += place[lane] + np.uint64(tree[place[lane]] < values[lane])
                reached += reached
            for lane in range(n_docs):
                is_nan = np.isnan(values[lane])
                out_codes[block, plane, lane] = plane_nan[plane] if is_nan else np.uint8(place[lane] - room)


@kernel
def _spell_leaves(
    planes, tree, node_ptr, node_plane, node_code, left, right, leaf_ptr, n_levels, reach, out_words
):
    """Words whose bits make the leaf numbers of 64 documents; gives how many.

    planes (n_planes, 64) · reach (n_slots,) room for the documents that reach each slot of the tree.
    """
    begin, end = node_ptr[tree], node_ptr[tree + 1]
    levels = n_levels[tree]
    if levels >= 0:
        for level in range(levels):
            node = begin + (_ONE << np.uint64(level)) - _ONE
            out_words[levels - 1 - level] = lanes_above(planes, np.uint64(node_plane[node]), node_code[node])
        return np.uint64(levels)
    reach[0] = _ALL
    for node in range(begin, end):
        here = reach[node - begin]
        goes_right = here & lanes_above(planes, np.uint64(node_plane[node]), node_code[node])
        reach[left[node]] = here ^ goes_right
        reach[right[node]] = goes_right
    # Halve the leaves: the union of the upper half is the top bit, and the halves are laid over each other.
    leaves = end - begin
    n_leaves = leaf_ptr[tree + 1] - leaf_ptr[tree]
    n_words = _NONE
    while _ONE << n_words < n_leaves:
        n_words += _ONE
    bit = n_words
    while bit > _NONE:
        bit -= _ONE
        half = _ONE << bit
        union = _NONE
        for i in range(leaves, leaves + n_leaves - half):
            upper = reach[i + half]
            union |= upper
            reach[i] |= upper
        out_words[bit] = union
        n_leaves = half
    return n_words


@kernel
def _number_leaves(planes, begin, n_levels, node_plane, node_code, out_leaf):
    """The leaves of an oblivious tree of up to eight levels: a bit of their number from every level."""
    out_leaf[:] = 0
    for level in range(n_levels):
        node = begin + (_ONE << np.uint64(level)) - _ONE
        plane, code = planes[node_plane[node] // N_LANES], node_code[node]
        bit = np.uint8(1 << (n_levels - 1 - level))
        for lane in range(N_LANES):
            out_leaf[lane] |= bit if plane[lane] > code else np.uint8(0)


@kernel
def _add_trees(
    codes, first, last, node_ptr, node_plane, node_code, left, right, leaf_ptr, n_levels, n_slots, value, out
):
    """Add what the trees [first, last) give: codes (n_blocks, n_planes, 64) · out (n_blocks, 64)."""
    reach, words = np.empty(n_slots, np.uint64), np.empty(N_LANES, np.uint64)
    leaf, short = np.empty(N_LANES, np.uint32), np.empty(N_LANES, np.uint8)
    for block in range(out.shape[0]):
        planes, scores = codes[block], out[block]
        for tree in range(first, last):
            if 0 <= n_levels[tree] <= _MOST_BYTE_LEVELS:
                _number_leaves(planes, node_ptr[tree], n_levels[tree], node_plane, node_code, short)
                start = leaf_ptr[tree]
                for lane in range(N_LANES):
                    scores[lane] += value[start + short[lane]]
                continue
            n_words = _spell_leaves(
                planes, tree, node_ptr, node_plane, node_code, left, right, leaf_ptr, n_levels, reach, words
            )
            lane_numbers(words, n_words, leaf)
            start = leaf_ptr[tree]
            for lane in range(N_LANES):
                scores[lane] += value[start + leaf[lane]]


def score(coded: CodedForest, X: Features, base: float, *, single: bool = False) -> Scores:
    """`base` plus the sum of every document's leaf values; X is read-only, C-ordered.

    single : round the sum to float32 after every tree.
    """
    out = _room(X, base, single)
    batch = max(1, _BATCH_BYTES // (N_LANES * max(1, coded.n_planes)))

    def run(first: int, last: int) -> None:
        for start in range(first, last, batch):
            stop = min(start + batch, last)
            codes = _codes(coded, X[start * N_LANES : stop * N_LANES])
            _add(coded, codes, 0, coded.n_trees, out[start:stop])

    over_chunks(run, len(out), smallest=_SMALLEST_CHUNK)
    return out.reshape(-1)[: len(X)].astype(np.float64, copy=False)


def staged_scores(
    coded: CodedForest, X: Features, base: float, every: int, *, single: bool = False
) -> Iterator[Scores]:
    """The scores after each `every` trees, and after all; the codes are made once and kept."""
    out, codes = _room(X, base, single), encoded(coded, X)
    for stage in range(0, coded.n_trees, every):
        add_trees(coded, codes, stage, min(stage + every, coded.n_trees), out)
        yield out.reshape(-1)[: len(X)].astype(np.float64)


def value_scorer(
    coded: CodedForest, X: Features, base: float, *, single: bool = False
) -> Callable[[Values], Scores]:
    """What scores documents with other values in the leaves; the codes are made once and kept."""
    codes = encoded(coded, X)

    def scores(value: Values) -> Scores:
        out, in_order = _room(X, base, single), value[coded.leaf_order]
        in_order.flags.writeable = False
        add_trees(replace(coded, value=in_order), codes, 0, coded.n_trees, out)
        return out.reshape(-1)[: len(X)].astype(np.float64, copy=False)

    return scores


def encoded(coded: CodedForest, X: Features) -> NDArray[np.uint8]:
    """(n_blocks, n_planes, 64) codes of all documents."""
    codes = np.empty((-(-len(X) // N_LANES), coded.n_planes, N_LANES), np.uint8)

    def encode(first: int, last: int) -> None:
        codes[first:last] = _codes(coded, X[first * N_LANES : last * N_LANES])

    over_chunks(encode, len(codes), smallest=_SMALLEST_CHUNK)
    return codes


def add_trees(
    coded: CodedForest, codes: NDArray[np.uint8], first_tree: int, last_tree: int, out: NDArray[Any]
) -> None:
    """Add to (n_blocks, 64) scores what the trees [first_tree, last_tree) give."""

    def add(first: int, last: int) -> None:
        _add(coded, codes[first:last], first_tree, last_tree, out[first:last])

    over_chunks(add, len(out), smallest=_SMALLEST_CHUNK)


def _room(X: Features, base: float, single: bool) -> NDArray[Any]:
    shape = (-(-len(X) // N_LANES), N_LANES)
    return np.full(shape, base, np.float32 if single else np.float64)


def _codes(coded: CodedForest, X: Features) -> NDArray[np.uint8]:
    codes = np.empty((-(-len(X) // N_LANES), coded.n_planes, N_LANES), np.uint8)
    if coded.splits is None:
        _encode(X, *coded.planes, codes)
        return codes
    for block in range(0, len(codes), _APPENDED_BLOCKS):
        rows = X[block * N_LANES : (block + _APPENDED_BLOCKS) * N_LANES]
        _encode(coded.splits.appended(rows), *coded.planes, codes[block : block + _APPENDED_BLOCKS])
    return codes


def _add(coded: CodedForest, codes: NDArray[np.uint8], first: int, last: int, out: NDArray[Any]) -> None:
    _add_trees(codes, first, last, *coded.trees, coded.value, out)
