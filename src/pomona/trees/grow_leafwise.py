"""Leaf-wise growth: always divide the leaf whose best split gains most (Shi 2007; LightGBM's way).

Trees become deep where it pays. Small leaves are divided one after another inside one kernel; when the next
one is large, the kernel hands back, and threads share its rows and features. Of equal gains, the leaf with
the lowest number comes first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona.trees.binning import Bins, Codes
from pomona.trees.grower import Bench, GrownTree, GrowthRules, learn, open_children, place, sort_range
from pomona.trees.split import CANDIDATE, search, unpack


@kernel
def _search_leaf(first, last, leaves, number, max_depth, blocks, features, bin_start, histograms, terms, out):
    """The best split of one leaf in every block first..last: out (2, n_blocks) CANDIDATE, by side."""
    leaf, rules = leaves[number], terms[0]
    _, hessian, count = unpack(leaf["total"], rules)
    enough = count >= 2 * rules["min_docs"] and hessian >= 2 * rules["min_hessian"]
    for b in range(first, last):
        best = out[np.int64(leaf["is_right"]), b]
        best["gain"] = 0.0
        if enough and leaf["depth"] < max_depth:
            begin, end = blocks[b]["first_feature"], blocks[b]["last_feature"]
            bins, low, high = histograms[leaf["slot"]], leaf["low"], leaf["high"]
            search(begin, end, features, bin_start, bins, leaf["total"], low, high, rules, best)


@kernel
def _keep_best(leaves, number, candidates):
    """The best of all blocks becomes the leaf's; the first of equals."""
    leaf = leaves[number]
    side = candidates[np.int64(leaf["is_right"])]
    best = side[0]
    for b in range(1, side.size):
        if side[b]["gain"] > best["gain"]:
            best = side[b]
    leaf["gain"], leaf["left_total"] = best["gain"], best["left_total"]
    leaf["feature"], leaf["bin"], leaf["nan_left"] = best["feature"], best["bin"], best["nan_left"]


@kernel
def _learn_and_search(
    first, last, ready, words, blocks, bin_start, rows, ordered, begin, end, child, sibling, scratch,
    histograms, leaves, left, right, max_depth, features, terms, out,
):  # fmt: skip
    """Histograms of both children and their best splits, block by block, while these are in the cache."""
    for b in range(first, last):
        learn(
            b, b + 1, ready, words, blocks, bin_start, rows, ordered, begin, end, child, sibling, scratch,
            histograms,
        )  # fmt: skip
        _search_leaf(b, b + 1, leaves, left, max_depth, blocks, features, bin_start, histograms, terms, out)
        _search_leaf(b, b + 1, leaves, right, max_depth, blocks, features, bin_start, histograms, terms, out)


@kernel
def _grow_while_small(
    n_leaves, most_leaves, most_rows, max_depth, columns, words, blocks, features, bin_start, terms,
    packed, rows, ordered, spare, scratch, histograms, leaves, nodes, candidates,
):  # fmt: skip
    """Divide leaves until there are enough, or none gains (-1), or the next has too many rows for one thread.

    Returns the number of leaves and the leaf to be divided next.
    """
    n_left, cuts = np.empty(1, np.int64), np.zeros(2, np.int64)
    while n_leaves < most_leaves:
        new, leaf = n_leaves, 0
        for other in range(1, n_leaves):
            if leaves[other]["gain"] > leaves[leaf]["gain"]:
                leaf = other
        at = leaves[leaf]
        begin, size = at["begin"], at["end"] - at["begin"]
        if not at["gain"] > 0:
            return n_leaves, -1
        if size > most_rows:
            return n_leaves, leaf
        nan_code = features[at["feature"]]["n_bins"] - 1 if at["nan_left"] else 256
        codes = columns[at["feature"]]
        n_left[0] = sort_range(0, size, begin, codes, at["bin"], nan_code, rows, spare)
        cuts[1] = size
        place(0, 1, cuts, n_left, begin, spare, packed, rows, ordered)
        small, large = open_children(leaves, leaf, new, n_left[0], features, terms, nodes)
        n_leaves += 1
        if n_leaves < most_leaves:
            _learn_and_search(
                0, blocks.size, False, words, blocks, bin_start, rows, ordered, leaves[small]["begin"],
                leaves[small]["end"], leaves[small]["slot"], leaves[large]["slot"], scratch, histograms,
                leaves, leaf, new, max_depth, features, terms, candidates,
            )  # fmt: skip
            _keep_best(leaves, leaf, candidates)
            _keep_best(leaves, new, candidates)
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
        self._candidates = np.zeros((2, len(codes.block_table)), CANDIDATE)
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
        self._search_root()
        most_leaves = bench.rules.n_leaves
        n_leaves, leaf = 1, 0
        while True:
            n_leaves, leaf = _grow_while_small(
                n_leaves,
                most_leaves,
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
                self._candidates,
            )
            if leaf < 0:
                return bench.finish(n_leaves, n_leaves - 1)
            self._divide_large(leaf, n_leaves)
            n_leaves += 1

    def _search_root(self) -> None:
        bench, n_blocks = self._bench, len(self._candidates[0])
        tables = (bench.codes.block_table, bench.features, bench.bin_start, bench.histograms, bench.terms)
        smallest = 1 if bench.n_rows > bench.most_small else n_blocks
        search_root = (bench.leaves, 0, self._max_depth, *tables, self._candidates)
        over_chunks(_search_leaf, n_blocks, *search_root, smallest=smallest)
        _keep_best(bench.leaves, 0, self._candidates)

    def _divide_large(self, leaf: int, new: int) -> None:
        bench, leaves = self._bench, self._bench.leaves
        n_left = bench.sort_rows(leaf)
        small, large = open_children(leaves, leaf, new, n_left, bench.features, bench.terms, bench.nodes)
        if new + 1 == bench.rules.n_leaves:
            return
        begin, end = int(leaves["begin"][small]), int(leaves["end"][small])
        slots = int(leaves["slot"][small]), int(leaves["slot"][large])
        rules = (self._max_depth, bench.features, bench.terms)
        more = (leaves, leaf, new, *rules, self._candidates)
        bench.over_blocks(begin, end, _learn_and_search, *slots, bench.ordered, *more)
        _keep_best(leaves, leaf, self._candidates)
        _keep_best(leaves, new, self._candidates)
