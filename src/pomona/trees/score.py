"""Bit-parallel scoring: 64 documents walk a tree together, as the bits of a word.

1. *Code*: each plane of the coded forest gets one byte per document, by binary search.
2. *Walk*: a word per node tells which documents reach it; one 64-lane comparison gives those that go right,
   and both children get their word. No branch depends on the data.
3. *Number*: bit b of every document's leaf number is the union of the words of the leaves whose number has that
   bit. An oblivious tree spells these words out directly, one comparison per level.
4. *Add* the leaf's value in float64, tree after tree: the same sums, in the same order, as walking the trees one by one.

QuickScorer (Lucchese et al. 2015) keeps a word of leaves per document; here it is a word of documents per node, so
that trees may have any number of leaves and the cost per node is a few instructions for 64 documents.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Scores
from pomona.trees.coded import CodedForest
from pomona.trees.lanes import N_LANES, lane_numbers, lanes_above

# Codes of a batch and nodes of a group of trees both stay in the second-level cache.
_BATCH_BYTES = 128 * 1024
_GROUP_NODES = 16 * 1024
_SMALLEST_CHUNK = 8  # blocks

_ALL = np.uint64(2**64 - 1)
_NONE, _ONE = np.uint64(0), np.uint64(1)


@kernel
def _encode(X, plane_feature, plane_nan, cut_ptr, cuts, out_codes):
    """X (n_docs, n_features) · out_codes (n_blocks, n_planes, 64): the number of cuts below each value."""
    values = np.zeros(N_LANES, np.float32)
    for block in range(out_codes.shape[0]):
        start = block * N_LANES
        n_docs = min(N_LANES, X.shape[0] - start)
        for plane in range(plane_feature.size):
            feature = plane_feature[plane]
            for lane in range(n_docs):
                values[lane] = X[start + lane, feature]
            below = cuts[cut_ptr[plane] : cut_ptr[plane + 1]]
            codes = out_codes[block, plane]
            codes[:] = 0
            half = below.size >> 1
            # All lanes take a step before the next: independent steps overlap, and none becomes a branch.
            while half > 0:
                for lane in range(N_LANES):
                    step = half if below[np.uint64(codes[lane] + half - 1)] < values[lane] else 0
                    codes[lane] += np.uint8(step)
                half >>= 1
            for lane in range(N_LANES):
                if np.isnan(values[lane]):
                    codes[lane] = plane_nan[plane]


@kernel
def _spell_leaves(codes, tree, node_ptr, node_plane, node_code, left, right, leaf_ptr, n_levels, reach, out_words):
    """Words whose bits make the leaf numbers of 64 documents; gives how many.

    codes (n_planes, 64) · reach (n_slots,) room for the documents that reach each slot of the tree.
    """
    begin, end = node_ptr[tree], node_ptr[tree + 1]
    levels = n_levels[tree]
    if levels >= 0:
        for level in range(levels):
            node = begin + (_ONE << np.uint64(level)) - _ONE
            out_words[levels - 1 - level] = lanes_above(codes, np.uint64(node_plane[node]), node_code[node])
        return np.uint64(levels)
    reach[0] = _ALL
    for node in range(begin, end):
        here = reach[node - begin]
        goes_right = here & lanes_above(codes, np.uint64(node_plane[node]), node_code[node])
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
def _add_trees(
    codes, first, last, node_ptr, node_plane, node_code, left, right, leaf_ptr, n_levels, n_slots, value, out
):
    """Add what the trees [first, last) give: codes (n_blocks, n_planes, 64) · out (n_blocks, 64)."""
    reach, words = np.empty(n_slots, np.uint64), np.empty(N_LANES, np.uint64)
    leaf = np.empty(N_LANES, np.uint32)
    for block in range(out.shape[0]):
        scores = out[block]
        for tree in range(first, last):
            n_words = _spell_leaves(
                codes[block], tree, node_ptr, node_plane, node_code, left, right, leaf_ptr, n_levels, reach, words
            )
            lane_numbers(words, n_words, leaf)
            start = leaf_ptr[tree]
            for lane in range(N_LANES):
                scores[lane] += value[start + leaf[lane]]


@kernel
def _number_leaves(
    codes, node_ptr, node_plane, node_code, left, right, leaf_ptr, n_levels, n_slots, leaf_number, out
):
    """The leaf of every document in every tree: codes (n_blocks, n_planes, 64) · out (n_docs, n_trees)."""
    reach, words = np.empty(n_slots, np.uint64), np.empty(N_LANES, np.uint64)
    leaf = np.empty(N_LANES, np.uint32)
    for block in range(codes.shape[0]):
        n_docs = min(N_LANES, out.shape[0] - block * N_LANES)
        for tree in range(out.shape[1]):
            n_words = _spell_leaves(
                codes[block], tree, node_ptr, node_plane, node_code, left, right, leaf_ptr, n_levels, reach, words
            )
            lane_numbers(words, n_words, leaf)
            start = leaf_ptr[tree]
            for lane in range(n_docs):
                out[block * N_LANES + lane, tree] = leaf_number[start + leaf[lane]]
