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
from pomona.trees.grower import Bench, GrownTree, GrowthRules, divide, newton_steps, settle_blocks
from pomona.trees.histogram import SCRATCH
from pomona.trees.split import gain_of, search_shared

DEFAULT_DEPTH = 6
MOST_DEPTH = 12

_TASK_BINS = 1 << 17  # the fewest bins of a task in the search (about 1 ns each)


@kernel
def _search_level(first, last, n_cells, leaves, features, bin_start, histograms, terms):
    """The best split that all cells share, on features first..last."""
    totals, lows, highs = np.empty(n_cells, np.int64), np.empty(n_cells), np.empty(n_cells)
    slots = np.empty(n_cells, np.int64)
    for c in range(n_cells):
        totals[c], slots[c] = leaves[c]["total"], leaves[c]["slot"]
        lows[c], highs[c] = leaves[c]["low"], leaves[c]["high"]
    return search_shared(first, last, features, bin_start, histograms, slots, totals, lows, highs, terms[0])


@kernel
def _give_split(n_cells, feature, bin_, nan_left, features, bin_start, histograms, terms, leaves):
    """Make one split the best of every cell, with the cell's own gain and sum on the left."""
    monotone = features[feature]["monotone"]
    for c in range(n_cells):
        leaf = leaves[c]
        own = histograms[leaf["slot"], bin_start[feature] : bin_start[feature + 1]]
        left_total = np.sum(own[: bin_ + 1])
        if nan_left:
            left_total += own[own.size - 1]
        leaf["feature"], leaf["bin"], leaf["nan_left"] = feature, bin_, nan_left
        leaf["left_total"] = left_total
        leaf["gain"] = gain_of(left_total, leaf["total"], monotone, leaf["low"], leaf["high"], terms[0])


@kernel
def _divide_cells(
    first, last, cells, n_cells, is_last, columns, words, blocks, features, bin_start, terms, packed, rows,
    ordered, spare, histograms, leaves, nodes,
):  # fmt: skip
    """Divide cells[first:last] of a level of `n_cells`, one after the other."""
    scratch = np.zeros((1, blocks.size, SCRATCH), np.int64)
    for c in cells[first:last]:
        small, large = divide(
            leaves, c, c + n_cells, is_last, features, terms, columns, words, blocks, packed, rows, ordered,
            spare, nodes, scratch,
        )  # fmt: skip
        if not is_last:
            slots = leaves[small]["slot"], leaves[large]["slot"]
            settle_blocks(blocks, bin_start, scratch, slots[0], slots[1], histograms)


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
            self._divide(2**depth, is_last=depth + 1 == self._max_depth)
            depth += 1
        leaves = bench.leaves[: 2**depth]
        sums, leaf_of_row = bench.leaf_sums(leaves)
        counts = leaves["end"] - leaves["begin"]
        value = np.clip(self._values(sums, counts), leaves["low"], leaves["high"])
        return bench.tree(bench.nodes[: 2**depth - 1], value, leaf_of_row)

    def _find_split(self, n_cells: int) -> bool:
        bench = self._bench
        tables = (bench.features, bench.bin_start, bench.histograms, bench.terms)
        n_features = len(bench.features)
        n_tasks = max(1, min(n_threads(), n_cells * int(bench.bin_start[-1]) // _TASK_BINS))
        level = (n_cells, bench.leaves, *tables)
        found = over_chunks(_search_level, n_features, *level, smallest=-(-n_features // n_tasks))
        # The first of equal gains, which has the lowest feature.
        gain, (feature, bin_, nan_left) = max(found, key=lambda candidate: candidate[0])
        if gain > 0:
            _give_split(n_cells, feature, bin_, nan_left, *tables, bench.leaves)
        return bool(gain > 0)

    def _divide(self, n_cells: int, *, is_last: bool) -> None:
        bench, leaves = self._bench, self._bench.leaves
        most_small = bench.most_small
        sizes = leaves["end"][:n_cells] - leaves["begin"][:n_cells]
        for cell in np.flatnonzero(sizes > most_small).tolist():
            small, large, scratch = bench.divide_large(cell, cell + n_cells, is_last=is_last)
            if not is_last:
                slots = int(leaves["slot"][small]), int(leaves["slot"][large])
                settle_blocks(bench.codes.block_table, bench.bin_start, scratch, *slots, bench.histograms)
        small_cells = np.flatnonzero(sizes <= most_small)
        n_tasks = n_threads() if bench.n_rows > most_small else 1
        over_chunks(
            _divide_cells,
            len(small_cells),
            small_cells,
            n_cells,
            is_last,
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
            smallest=-(-len(small_cells) // n_tasks),
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
