"""Leaf-wise growth: always divide the leaf whose best split gains most (Shi 2007; LightGBM's way).

Trees become deep where it pays. Of equal gains, the leaf with the lowest number comes first.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel
from pomona.trees.binning import Bins
from pomona.trees.codes import Codes
from pomona.trees.divide import divide, open_root
from pomona.trees.grower import Grower, GrowthRules, Workspace


@kernel
def _first_of_best(leaves):
    """The leaf whose best split gains most."""
    leaf = 0
    for other in range(1, leaves.size):
        if leaves[other]["gain"] > leaves[leaf]["gain"]:
            leaf = other
    return leaf


@kernel
def _grow(table, most_leaves):
    """Divide leaves until there are enough, or none gains; returns how many there are."""
    leaves, n_leaves = table.leaves, np.int64(1)
    open_root(table)
    while n_leaves < most_leaves:
        leaf = _first_of_best(leaves[:n_leaves])
        if not leaves[leaf]["gain"] > 0:
            break
        divide(table, leaf, n_leaves, n_leaves + 1 == most_leaves)
        n_leaves += 1
    return n_leaves


class LeafwiseGrower(Grower):
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
        super().__init__(bins, codes, rules, rules.n_leaves, grow=_grow)

    def _divide_leaves(self, workspace: Workspace) -> int:
        return workspace.grow(_grow, workspace.rules.n_leaves)
