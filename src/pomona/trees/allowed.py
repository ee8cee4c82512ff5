"""Which features a node may be split on: a draw for the tree, its level and the node, and interactions.

Features that interact: on every path all features belong to one common group (XGBoost's and LightGBM's rule;
groups may overlap). With the groups of a feature as bits, a node whose path has the features P may be split
on f if

    (∩_{p ∈ P} groups(p)) ∩ groups(f) ≠ ∅

A feature that no group names is a group by itself, as in XGBoost.

Draws are nested, as XGBoost's: a share of the features for a tree, of those a share for each level, and of
those that interactions leave a share for each node. A feature is drawn if its random word, of the tree's
seed, the node's place (its level, or the turns that lead to it) and the feature, is among the lowest: whoever
grows the node, and whenever, draws the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona._splitmix import word_of
from pomona.errors import InputError

Groups = tuple[tuple[int, ...], ...]

_OF_LEVELS, _OF_NODES = np.uint64(0), np.uint64(1)


@kernel
def _keep_share(share, seed, allowed):
    """Keep a share of the allowed features, one at least: those of the lowest words of the seed."""
    words = np.empty(allowed.size, np.uint64)
    n = 0
    for f in range(allowed.size):
        words[n] = word_of(seed, np.uint64(f))
        n += allowed[f]
    if n > 0:
        words = np.sort(words[:n])
        highest = words[np.int64(max(1.0, np.rint(share * n))) - 1]
        for f in range(allowed.size):
            allowed[f] &= word_of(seed, np.uint64(f)) <= highest


@kernel
def start_path(table):
    """The root: the path without features."""
    path = table.paths[0]
    path[0] = word_of(table.order[0]["seed"], _OF_NODES)
    for w in range(1, path.size):
        path[w] = ~np.uint64(0)


@kernel
def open_paths(table, feature, leaf, new):
    """The paths of both children of a leaf that was split on a feature: the left one keeps its number."""
    left, right = table.paths[leaf], table.paths[new]
    right[0] = word_of(left[0], np.uint64(1))
    left[0] = word_of(left[0], np.uint64(0))
    for w in range(1, left.size):
        left[w] &= table.groups[feature, w - 1]
        right[w] = left[w]


@kernel
def allow(table, leaf, out):
    """Which features a leaf may be split on: out (n_features,)."""
    order, path = table.order[0], table.paths[leaf]
    for f in range(out.size):
        out[f] = table.features[f]["allowed"]
    if order["by_level"] < 1:
        of_levels = word_of(order["seed"], _OF_LEVELS)
        _keep_share(order["by_level"], word_of(of_levels, np.uint64(table.leaves[leaf]["depth"])), out)
    if path.size > 1:
        for f in range(out.size):
            common = np.uint64(0)
            for w in range(1, path.size):
                common |= path[w] & table.groups[f, w - 1]
            out[f] &= common != 0
    if order["by_node"] < 1:
        _keep_share(order["by_node"], path[0], out)


@kernel(by_address=True)
def limit(unused, table, order):
    """What both sides may be split on."""
    small, large = order["small"], order["large"]
    if large < 0:
        start_path(table)
    else:
        leaf, new = min(small, large), max(small, large)
        open_paths(table, table.nodes[new - 1]["feature"], leaf, new)
        allow(table, large, table.allowed[1])
    allow(table, small, table.allowed[0])


@kernel(by_address=True)
def limit_level(unused, table, order):
    """What a level may be split on: as its first cell, since all cells have the same features above them."""
    n_cells = order["n_cells"]
    if n_cells == 1:
        start_path(table)
    else:
        open_paths(table, table.nodes[n_cells // 2 - 1]["feature"], np.int64(0), n_cells // 2)
    allow(table, np.int64(0), table.allowed[0])


def group_bits(groups: Groups | None, n_features: int) -> NDArray[np.uint64]:
    """(n_features, n_words) which groups each feature belongs to, as bits; without groups no words.

    >>> group_bits(((0, 1), (1, 2)), 4).tolist()
    [[1], [3], [2], [4]]
    """
    if groups is None:
        return np.zeros((n_features, 0), np.uint64)
    named = set().union(*groups)
    if named and not 0 <= min(named) <= max(named) < n_features:
        raise InputError(f"found interactions of feature {max(named)}, expected 0 to {n_features - 1}")
    every: list[Sequence[int]] = [*groups, *((f,) for f in range(n_features) if f not in named)]
    bits = np.zeros((n_features, -(-len(every) // 64)), np.uint64)
    for number, group in enumerate(every):
        bits[list(group), number // 64] |= np.uint64(1) << np.uint64(number % 64)
    return bits
