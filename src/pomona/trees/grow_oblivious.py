"""Oblivious growth: all nodes of a level share one split, so a tree of depth H is H comparisons.

    leaf of x = Σ_h 2^h · 1[x goes right at level h],      level 0 is the root

At every level each candidate's gains are summed over the current cells, and the best divides all of them
(Kohavi 1994; CatBoost's symmetric trees). Cells may become empty and then have value 0. A split that leaves
one side of a cell with fewer documents or less hessian than the rules ask gains nothing there, and such a
side takes the value of the smallest enclosing cell that has enough: forbidding small sides altogether, as
QuickRank does, ends growth after a few levels. Growth stops early where no candidate gains.

The tree is laid out as any other: inner node 2^h − 1 + c divides cell c of level h into the cells c and
c + 2^h of the next level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, n_threads, over_chunks
from pomona._types import Values
from pomona.errors import InputError
from pomona.trees.binning import Bins, Codes
from pomona.trees.grower import (
    Bench,
    GrownTree,
    GrowthRules,
    learn,
    newton_steps,
    open_children,
    place,
    sort_range,
)
from pomona.trees.histogram import SCRATCH
from pomona.trees.split import CANDIDATE, gain_of, search_shared

DEFAULT_DEPTH = 6
MOST_DEPTH = 12


@kernel
def _search_level(first, last, n_cells, leaves, blocks, features, bin_start, histograms, terms, out):
    """The best shared split in every block first..last: out (n_blocks,) CANDIDATE."""
    totals, lows, highs = np.empty(n_cells, np.int64), np.empty(n_cells), np.empty(n_cells)
    slots = np.empty(n_cells, np.int64)
    for c in range(n_cells):
        totals[c], slots[c] = leaves[c]["total"], leaves[c]["slot"]
        lows[c], highs[c] = leaves[c]["low"], leaves[c]["high"]
    for b in range(first, last):
        begin, end = blocks[b]["first_feature"], blocks[b]["last_feature"]
        cells = (totals, lows, highs)
        search_shared(begin, end, features, bin_start, histograms, slots, *cells, terms[0], out[b])


@kernel
def _take_split(n_cells, candidates, features, bin_start, histograms, terms, leaves):
    """Give the best of all blocks' splits to every cell, with its own gain; returns whether there is one."""
    best = candidates[0]
    for b in range(1, candidates.size):
        if candidates[b]["gain"] > best["gain"]:
            best = candidates[b]
    if not best["gain"] > 0:
        return False
    f = best["feature"]
    for c in range(n_cells):
        leaf = leaves[c]
        own = histograms[leaf["slot"], bin_start[f] : bin_start[f + 1]]
        left_total = np.sum(own[: best["bin"] + 1])
        if best["nan_left"]:
            left_total += own[own.size - 1]
        leaf["feature"], leaf["bin"], leaf["nan_left"] = f, best["bin"], best["nan_left"]
        leaf["left_total"] = left_total
        monotone, low, high = features[f]["monotone"], leaf["low"], leaf["high"]
        leaf["gain"] = gain_of(left_total, leaf["total"], monotone, low, high, terms[0])
    return True


@kernel
def _divide_cells(
    first, last, cells, n_cells, with_histograms, columns, words, blocks, features, bin_start, terms,
    packed, rows, ordered, spare, histograms, leaves, nodes,
):  # fmt: skip
    """Divide cells[first:last] of a level of `n_cells`, one after the other."""
    scratch = np.zeros((1, blocks.size, SCRATCH), np.int64)
    n_left, cuts = np.empty(1, np.int64), np.zeros(2, np.int64)
    for c in cells[first:last]:
        at = leaves[c]
        begin, size = at["begin"], at["end"] - at["begin"]
        nan_code = features[at["feature"]]["n_bins"] - 1 if at["nan_left"] else 256
        n_left[0] = sort_range(0, size, begin, columns[at["feature"]], at["bin"], nan_code, rows, spare)
        cuts[1] = size
        place(0, 1, cuts, n_left, begin, spare, packed, rows, ordered)
        small, large = open_children(leaves, c, c + n_cells, n_left[0], features, terms, nodes)
        if with_histograms:
            learn(
                0, blocks.size, False, words, blocks, bin_start, rows, ordered, leaves[small]["begin"],
                leaves[small]["end"], leaves[small]["slot"], leaves[large]["slot"], scratch, histograms,
            )  # fmt: skip


class ObliviousGrower:
    """Grows trees of `rules.max_depth` levels (6 if None); `rules.n_leaves` does not matter.

    >>> X = np.array([[1, 1], [1, 2], [2, 1], [2, 2]], np.float32)
    >>> bins = Bins.of(X)
    >>> grower = ObliviousGrower(bins, bins.codes(X), GrowthRules(min_docs=1, max_depth=2))
    >>> gradient, hessian = np.array([-1, -2, -4, -5], np.float32), np.ones(4, np.float32)
    >>> tree = grower.grow(gradient, hessian, None, np.random.default_rng(0))
    >>> tree.feature, tree.value, tree.leaf_of_row
    (array([0, 1, 1], dtype=int32), array([1., 4., 2., 5.]), array([0, 2, 1, 3], dtype=int32))
    """

    def __init__(self, bins: Bins, codes: Codes, rules: GrowthRules) -> None:
        self._max_depth = DEFAULT_DEPTH if rules.max_depth is None else rules.max_depth
        if self._max_depth > MOST_DEPTH:
            raise InputError(
                f"an oblivious tree of depth {self._max_depth} would have 2^{self._max_depth} leaves;"
                f" expected max_depth at most {MOST_DEPTH}"
            )
        self._bench = Bench(bins, codes, rules, 2**self._max_depth)
        self._candidates = np.zeros(len(codes.block_table), CANDIDATE)

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
        depth = 0
        while depth < self._max_depth and self._find_split(2**depth):
            self._divide(2**depth, with_histograms=depth + 1 < self._max_depth)
            depth += 1
        leaves = bench.leaves[: 2**depth]
        sums, leaf_of_row = bench.leaf_sums(leaves)
        counts = leaves["end"] - leaves["begin"]
        value = np.clip(self._values(sums, counts), leaves["low"], leaves["high"])
        return bench.tree(bench.nodes[: 2**depth - 1], value, leaf_of_row)

    def _find_split(self, n_cells: int) -> bool:
        bench = self._bench
        tables = (bench.features, bench.bin_start, bench.histograms, bench.terms)
        n_blocks = len(self._candidates)
        level = (n_cells, bench.leaves, bench.codes.block_table, *tables, self._candidates)
        smallest = 1 if bench.n_rows > bench.most_small else n_blocks
        over_chunks(_search_level, n_blocks, *level, smallest=smallest)
        found: bool = _take_split(n_cells, self._candidates, *tables, bench.leaves)
        return found

    def _divide(self, n_cells: int, *, with_histograms: bool) -> None:
        bench, leaves = self._bench, self._bench.leaves
        most_small = bench.most_small
        sizes = leaves["end"][:n_cells] - leaves["begin"][:n_cells]
        for cell in np.flatnonzero(sizes > most_small).tolist():
            n_left = bench.sort_rows(cell)
            new = cell + n_cells
            small, large = open_children(leaves, cell, new, n_left, bench.features, bench.terms, bench.nodes)
            if with_histograms:
                begin, end = int(leaves["begin"][small]), int(leaves["end"][small])
                slots = int(leaves["slot"][small]), int(leaves["slot"][large])
                bench.learn(begin, end, *slots, bench.ordered)
        small_cells = np.flatnonzero(sizes <= most_small)
        in_threads = bench.n_rows > most_small
        over_chunks(
            _divide_cells,
            len(small_cells),
            small_cells,
            n_cells,
            with_histograms,
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
            bench.histograms,
            leaves,
            bench.nodes,
            smallest=-(-n_cells // (2 * n_threads())) if in_threads else n_cells,
        )

    def _values(self, sums: Values, counts: NDArray[np.int64]) -> Values:
        """Newton steps of the cells, those of enclosing cells for cells too small, 0 for empty ones."""
        rules = self._bench.rules
        levels = [(sums, counts)]
        while len(levels[0][1]) > 1:
            cells, documents = levels[0]
            half = len(documents) // 2
            levels.insert(0, (cells[:half] + cells[half:], documents[:half] + documents[half:]))
        value = newton_steps(levels[0][0], rules.l2)
        for cells, documents in levels[1:]:
            enough = (documents >= rules.min_docs) & (cells[:, 1] >= rules.min_hessian)
            value = np.where(enough, newton_steps(cells, rules.l2), np.tile(value, 2))
        return np.where(counts > 0, value, 0.0)
