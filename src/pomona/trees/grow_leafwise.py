"""Leaf-wise growth: always divide the leaf whose best split gains most (Shi 2007; LightGBM's way).

Trees become deep where it pays. Small leaves are divided one after another inside one kernel; when the next
one is large, the kernel hands back, and threads share its rows. Of equal gains, the leaf with the lowest
number comes first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona.trees.binning import Bins, Codes
from pomona.trees.grower import Bench, GrownTree, GrowthRules, divide, settle_blocks
from pomona.trees.split import search, unpack


@kernel
def _search_leaf(leaf, max_depth, features, bin_start, histograms, terms):
    """Find the best split of one leaf, gain 0 if it must not be divided."""
    _, hessian, count = unpack(leaf["total"], terms)
    enough = count >= 2 * terms["min_docs"] and hessian >= 2 * terms["min_hessian"]
    leaf["gain"] = 0.0
    if enough and leaf["depth"] < max_depth:
        total, low, high = leaf["total"], leaf["low"], leaf["high"]
        search(features, bin_start, histograms[leaf["slot"]], total, low, high, terms, leaf)


@kernel
def _search_root(leaves, max_depth, features, bin_start, histograms, terms):
    _search_leaf(leaves[0], max_depth, features, bin_start, histograms, terms[0])


@kernel
def _settle_and_search(
    leaves, small, large, max_depth, blocks, features, bin_start, scratch, histograms, terms
):
    """Histograms and best splits of both children, once the sums of the smaller are in `scratch`."""
    slots = leaves[small]["slot"], leaves[large]["slot"]
    settle_blocks(blocks, bin_start, scratch, slots[0], slots[1], histograms)
    _search_leaf(leaves[small], max_depth, features, bin_start, histograms, terms[0])
    _search_leaf(leaves[large], max_depth, features, bin_start, histograms, terms[0])


@kernel
def _grow_while_small(
    n_leaves, most_leaves, most_rows, max_depth, columns, words, blocks, features, bin_start, terms,
    packed, rows, ordered, spare, scratch, histograms, leaves, nodes,
):  # fmt: skip
    """Divide leaves until there are enough, or none gains (-1), or the next has too many rows for one thread.

    Returns the number of leaves and the leaf to be divided next.
    """
    while n_leaves < most_leaves:
        leaf = 0
        for other in range(1, n_leaves):
            if leaves[other]["gain"] > leaves[leaf]["gain"]:
                leaf = other
        if not leaves[leaf]["gain"] > 0:
            return n_leaves, -1
        if leaves[leaf]["end"] - leaves[leaf]["begin"] > most_rows:
            return n_leaves, leaf
        is_last = n_leaves + 1 == most_leaves
        small, large = divide(
            leaves, leaf, n_leaves, is_last, features, terms, columns, words, blocks, packed, rows, ordered,
            spare, nodes, scratch,
        )  # fmt: skip
        n_leaves += 1
        if not is_last:
            _settle_and_search(
                leaves, small, large, max_depth, blocks, features, bin_start, scratch, histograms, terms
            )
    return n_leaves, -1


class LeafwiseGrower:
    """Grows trees of up to `rules.n_leaves` leaves, best gain first.

    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)
    >>> bins = Bins.of(X)
    >>> grower = LeafwiseGrower(bins, bins.codes(X), GrowthRules(min_docs=1))
    >>> gradient, hessian = np.array([1, 1, -3, -3], np.float32), np.ones(4, np.float32)
    >>> tree = grower.grow(gradient, hessian, None, np.random.default_rng(0))
    >>> tree.threshold, tree.value, tree.leaf_of_row
    (array([2.5], dtype=float32), array([-1.,  3.]), array([0, 0, 1, 1], dtype=int32))
    """

    def __init__(self, bins: Bins, codes: Codes, rules: GrowthRules) -> None:
        self._bench = Bench(bins, codes, rules, rules.n_leaves)
        self._max_depth = 2**31 - 1 if rules.max_depth is None else rules.max_depth

    def grow(
        self,
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        rows: NDArray[np.int32] | None,
        rng: np.random.Generator,
    ) -> GrownTree:
        """Fit a tree to the derivatives of the loss to be minimized, from `rows` only (None: all)."""
        bench = self._bench
        bench.start(gradient, hessian, rows, rng)
        found = (bench.features, bench.bin_start, bench.histograms, bench.terms)
        _search_root(bench.leaves, self._max_depth, *found)
        n_leaves, leaf = 1, 0
        while True:
            n_leaves, leaf = _grow_while_small(
                n_leaves,
                bench.rules.n_leaves,
                bench.most_small,
                self._max_depth,
                bench.codes.columns,
                bench.codes.words,
                bench.codes.block_table,
                bench.features,
                bench.bin_start,
                bench.terms,
                bench.packed,
                bench.rows,
                bench.ordered,
                bench.spare,
                bench.scratch[:1],
                bench.histograms,
                bench.leaves,
                bench.nodes,
            )
            if leaf < 0:
                return bench.finish(n_leaves, n_leaves - 1)
            self._divide_large(leaf, n_leaves)
            n_leaves += 1

    def _divide_large(self, leaf: int, new: int) -> None:
        bench = self._bench
        is_last = new + 1 == bench.rules.n_leaves
        small, large, scratch = bench.divide_large(leaf, new, is_last=is_last)
        if is_last:
            return
        tables = (bench.codes.block_table, bench.features, bench.bin_start, scratch, bench.histograms)
        _settle_and_search(bench.leaves, small, large, self._max_depth, *tables, bench.terms)
