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

from pomona._jit import kernel
from pomona._types import Values
from pomona.errors import InputError
from pomona.trees.binning import Bins
from pomona.trees.codes import Codes
from pomona.trees.divide import divide, find_shared, open_root
from pomona.trees.grower import Grower, GrowthRules, Workspace, newton_steps
from pomona.trees.split import gain_of

DEFAULT_DEPTH = 6
MOST_DEPTH = 12


@kernel
def _give_split(split, table, leaf):
    """Make the shared split the best of a cell, with the cell's own gain and sum on the left."""
    feature, bin_ = split["feature"], split["bin"]
    bins = table.histograms[leaf["slot"], table.bin_start[feature] : table.bin_start[feature + 1]]
    left_total = np.int64(0)
    for b in range(bin_ + 1):
        left_total += bins[b]
    if split["nan_left"]:
        left_total += bins[bins.size - 1]
    leaf["feature"], leaf["bin"], leaf["nan_left"] = feature, bin_, split["nan_left"]
    leaf["left_total"] = left_total
    monotone = table.features[feature]["monotone"]
    low, high = leaf["low"], leaf["high"]
    leaf["gain"] = gain_of(left_total, leaf["total"], monotone, low, high, table.terms[0])


@kernel
def _grow(table, max_depth):
    """Divide all cells, level after level, while there is a split that gains; returns the depth."""
    open_root(table)
    for depth in range(max_depth):
        n_cells = 1 << depth
        find_shared(table, n_cells)
        if not table.best_splits[0, 0]["gain"] > 0:
            return depth
        for c in range(n_cells):
            _give_split(table.best_splits[0, 0], table, table.leaves[c])
        for c in range(n_cells):
            divide(table, c, c + n_cells, depth + 1 == max_depth)
    return max_depth


class ObliviousGrower(Grower):
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
        self._max_depth = self.depth_of(rules)
        super().__init__(bins, codes, rules, 2**self._max_depth, is_oblivious=True, grow=_grow)

    @staticmethod
    def depth_of(rules: GrowthRules) -> int:
        """How many levels a tree has at most."""
        depth = DEFAULT_DEPTH if rules.max_depth is None else rules.max_depth
        if depth > MOST_DEPTH:
            raise InputError(
                f"an oblivious tree of depth {depth} would have 2^{depth} leaves;"
                f" expected max_depth at most {MOST_DEPTH}"
            )
        return depth

    def _divide_leaves(self, workspace: Workspace) -> int:
        return 1 << workspace.grow(_grow, self._max_depth)

    def _values(self, sums: Values, counts: NDArray[np.int64]) -> Values:
        """Newton steps of the cells, those of enclosing cells for cells too small, 0 for empty ones."""
        rules = self._workspace.rules
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
