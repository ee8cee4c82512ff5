"""A forest made ready for scoring: features become bytes, nodes byte comparisons.

A *plane* holds one byte per document: how many of at most 255 thresholds of one feature lie below its
value. A node compares its plane with the rank of its threshold. A feature with more thresholds has several
planes; one whose nodes disagree about NaN, or about zeros that count as NaN, has planes for each opinion. So
no node is a special case.

Nodes are put in level order, leaves from left to right: the leaf of an oblivious tree (all nodes of a level
share one split) is then the number that its comparisons spell out, and in any other tree a node's leaves are
a range whose first number tells which documents have come to it (`lanes.walk_trees`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pomona._lazy import cached_property
from pomona.trees.category_split import CategorySplits
from pomona.trees.lanes import N_CUTS, N_LANES, NODE

if TYPE_CHECKING:
    from pomona.trees.forest import Forest

_MOST_CUTS = 255  # a byte then counts all of them, and 255 lies above every rank
_MOST_LEAVES = 256  # of a tree whose leaves are numbered by bytes
_MOST_LEVELS = 16  # of an oblivious tree whose leaves are numbered by two bytes
_FEW_LEVELS = 2  # of oblivious trees that are walked as any other: they shall not part those around them

SMALL, LARGE, OBLIVIOUS, DEEP = range(4)
"""Kinds of trees: whose leaves a byte can number, or not; and likewise of oblivious ones."""


@dataclass(frozen=True)
class CodedForest:
    """The arrays that the scoring kernels read; all of them read-only, so that kernels compile once."""

    plane_feature: NDArray[np.uint32]
    plane_nan: NDArray[np.uint8]  # the code of NaN: 0 goes left everywhere, 255 right
    cut_ptr: NDArray[np.uint64]  # (n_planes + 1,)
    plane_zero: NDArray[np.bool_]  # whether a value of (about) zero gets the code of NaN
    cuts: NDArray[Any]  # per plane the last cut of every sixteen but the last, then all; infinity behind each
    node_ptr: NDArray[np.uint64]  # (n_trees + 1,)
    nodes: NDArray[np.void]  # NODE
    child: NDArray[np.int32]  # (n_nodes, 2) in the tree: of inner nodes their number, of leaves ~number
    leaf_ptr: NDArray[np.uint64]  # (n_trees + 1,)
    value: NDArray[np.float64]
    leaf_order: NDArray[np.int64]  # where each leaf stands in the forest
    n_levels: NDArray[np.int64]  # (n_trees,) of an oblivious tree, else -1
    splits: CategorySplits | None = None  # what appends the columns that splits on categories ask for

    @classmethod
    def of(cls, forest: Forest, threshold: NDArray[Any] | None = None) -> CodedForest:
        """The coded form of `forest` (some milliseconds for 500 trees of 64 leaves).

        threshold : its thresholds, if not those for float32 features.
        """
        threshold = forest.threshold if threshold is None else threshold
        tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.node_ptr))
        order, depth, first_leaf, leaf_place = _placed(forest, tree)
        node_place, leaf_order = _inverse(order), _inverse(leaf_place)
        is_leaf, below = _children(forest, tree)
        at_node, at_leaf = forest.node_ptr[tree][:, None], forest.leaf_ptr[tree][:, None]
        child = np.where(
            is_leaf,
            ~(leaf_place[np.where(is_leaf, below, 0)] - at_leaf),
            node_place[np.where(is_leaf, 0, below)] - at_node,
        )
        group = forest.feature.astype(np.int64) * 4 + forest.nan_left
        if forest.zero_missing is not None:
            group += 2 * forest.zero_missing
        plane, code, plane_group, cut_ptr, cuts = _planes(group[order], threshold[order])
        nodes = np.zeros(len(order), NODE)
        nodes["plane"], nodes["code"] = plane * N_LANES, code
        # Of large trees, whose leaves bytes do not number, nobody reads them.
        nodes["leaf"], nodes["right"] = (first_leaf[order] % _MOST_LEAVES).T
        coded = cls(
            plane_feature=(plane_group // 4).astype(np.uint32),
            plane_nan=np.where(plane_group % 2 == 1, 0, 255).astype(np.uint8),
            plane_zero=plane_group % 4 >= 2,
            cut_ptr=cut_ptr,
            cuts=cuts,
            node_ptr=forest.node_ptr.astype(np.uint64),
            nodes=nodes,
            child=child[order].astype(np.int32),
            leaf_ptr=forest.leaf_ptr.astype(np.uint64),
            value=forest.value[leaf_order],
            leaf_order=leaf_order,
            n_levels=_n_levels(forest.node_ptr, tree, depth, plane, code),
        )
        for array in vars(coded).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        return coded

    def trees_on(self, feature: int) -> CodedForest:
        """The trees that split on a feature, over the same planes."""
        tree = np.repeat(np.arange(self.n_trees), np.diff(self.node_ptr).astype(np.int64))
        is_split = self.plane_owner[self.nodes["plane"] // N_LANES] == feature
        wanted = np.bincount(tree[is_split], minlength=self.n_trees) > 0
        nodes, leaves = (
            np.repeat(wanted, np.diff(ptr).astype(np.int64)) for ptr in (self.node_ptr, self.leaf_ptr)
        )
        chosen: dict[str, Any] = {
            **{name: getattr(self, name)[nodes] for name in ("nodes", "child")},
            **{name: _offsets(getattr(self, name), wanted) for name in ("node_ptr", "leaf_ptr")},
            "value": self.value[leaves],
            "leaf_order": self.leaf_order[leaves],
            "n_levels": self.n_levels[wanted],
        }
        for array in chosen.values():
            array.flags.writeable = False
        return replace(self, **chosen)

    @property
    def plane_owner(self) -> NDArray[Any]:
        """The feature that each plane comes from."""
        return self.plane_feature if self.splits is None else self.splits.owners(self.plane_feature)

    @property
    def planes(self) -> tuple[Any, Any, Any, Any, Any]:
        """What a kernel needs to code documents."""
        return self.plane_feature, self.plane_nan, self.plane_zero, self.cut_ptr, self.cuts

    @cached_property
    def runs(self) -> list[tuple[int, int, int]]:
        """(kind, first, last) of successive trees that are of one kind."""
        n_leaves = np.diff(self.leaf_ptr)
        is_wide = n_leaves > _MOST_LEAVES
        counted = (self.n_levels == 0) | ((self.n_levels > _FEW_LEVELS) & (self.n_levels <= _MOST_LEVELS))
        kind = np.where(counted, np.where(is_wide, DEEP, OBLIVIOUS), np.where(is_wide, LARGE, SMALL))
        starts = np.flatnonzero(np.diff(kind, prepend=-1)).tolist()
        return [(int(kind[first]), first, last) for first, last in pairwise([*starts, self.n_trees])]

    @property
    def n_planes(self) -> int:
        """How many bytes a document is coded to."""
        return len(self.plane_feature)

    @property
    def n_trees(self) -> int:
        """How many trees."""
        return len(self.n_levels)


def _offsets(ptr: NDArray[np.uint64], wanted: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Where those of the wanted trees begin, and end, once they lie end to end."""
    return np.concatenate([[0], np.cumsum(np.diff(ptr)[wanted])]).astype(np.uint64)


def _inverse(order: NDArray[np.int64]) -> NDArray[np.int64]:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def _children(forest: Forest, tree: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """(n_nodes, 2): whether the children are leaves, and their numbers among all leaves, or nodes."""
    child = np.stack([forest.left, forest.right], axis=1)
    at_node, at_leaf = forest.node_ptr[tree][:, None], forest.leaf_ptr[tree][:, None]
    return child < 0, np.where(child < 0, at_leaf + ~child, at_node + child)


def _placed(
    forest: Forest, tree: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Nodes by tree, level and place in it; their levels; in the forest's order the first leaves, counted
    from the left, of their two sides (n_nodes, 2); and the place of each leaf among all."""
    is_leaf, below = _children(forest, tree)
    levels = [forest.node_ptr[:-1][np.diff(forest.node_ptr) > 0]]
    while len(levels[-1]):
        levels.append(below[levels[-1]][~is_leaf[levels[-1]]])
    n_leaves = np.ones((len(tree), 2), np.int64)
    for level in reversed(levels):
        inner = np.where(is_leaf[level], 0, below[level])
        n_leaves[level] = np.where(is_leaf[level], 1, n_leaves[inner].sum(axis=-1))
    first = np.zeros((len(tree), 2), np.int64)
    leaf_place = np.repeat(forest.leaf_ptr[:-1], np.diff(forest.leaf_ptr))
    for level in levels:
        first[level, 1] = first[level, 0] + n_leaves[level, 0]
        leaf, to = is_leaf[level], below[level]
        first[to[~leaf], 0] = first[level][~leaf]
        leaf_place[to[leaf]] += first[level][leaf]
    by_level = np.concatenate(levels)
    by_tree = np.argsort(tree[by_level], kind="stable")
    depth = np.repeat(np.arange(len(levels)), [len(level) for level in levels])
    return by_level[by_tree], depth[by_tree], first, leaf_place


def _planes(
    group: NDArray[np.int64], threshold: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint64], NDArray[Any]]:
    """(plane, code) of each node; (group, cut_ptr) of each plane; their cuts."""
    order = np.lexsort((threshold, group))
    group, threshold = group[order], threshold[order]
    starts_group = np.diff(group, prepend=-1) != 0
    starts_cut = starts_group.copy()
    starts_cut[1:] |= threshold[1:] != threshold[:-1]
    cut = np.cumsum(starts_cut) - 1
    rank = cut - cut[starts_group][np.cumsum(starts_group) - 1]
    starts_plane = starts_cut & (rank % _MOST_CUTS == 0)
    plane_of_sorted = np.cumsum(starts_plane) - 1
    code_of_sorted = (rank % _MOST_CUTS).astype(np.uint8)

    n_cuts = np.bincount(plane_of_sorted[starts_cut], minlength=int(starts_plane.sum()))
    n_groups = -(-n_cuts // N_CUTS)
    cut_ptr = np.concatenate([[0], np.cumsum(N_CUTS * (1 + n_groups))])
    cuts = np.full(cut_ptr[-1], np.inf, threshold.dtype)
    plane_of_cut, cut_code = plane_of_sorted[starts_cut], code_of_sorted[starts_cut].astype(np.int64)
    start, distinct = cut_ptr[plane_of_cut], threshold[starts_cut]
    cuts[start + N_CUTS + cut_code] = distinct
    ends_group = (cut_code % N_CUTS == N_CUTS - 1) & (cut_code // N_CUTS < n_groups[plane_of_cut] - 1)
    cuts[(start + cut_code // N_CUTS)[ends_group]] = distinct[ends_group]

    plane, code = np.empty(len(order), np.int64), np.empty(len(order), np.uint8)
    plane[order], code[order] = plane_of_sorted, code_of_sorted
    return plane, code, group[starts_plane], cut_ptr.astype(np.uint64), cuts


def _n_levels(
    node_ptr: NDArray[np.int64],
    tree: NDArray[np.int64],
    depth: NDArray[np.int64],
    plane: NDArray[np.int64],
    code: NDArray[np.uint8],
) -> NDArray[np.int64]:
    """The number of levels of trees that are complete and whose levels share one split, -1 for others."""
    n_trees = len(node_ptr) - 1
    n_levels = np.zeros(n_trees, np.int64)
    np.maximum.at(n_levels, tree, depth + 1)
    # 2^62 nodes exist nowhere: a deeper tree is not complete.
    complete = np.diff(node_ptr) == (1 << np.minimum(n_levels, 62)) - 1
    first_of_level = np.where(complete[tree], node_ptr[tree] + (1 << np.minimum(depth, 62)) - 1, 0)
    differs = (plane != plane[first_of_level]) | (code != code[first_of_level])
    n_different = np.bincount(tree, differs, minlength=n_trees)
    return np.where(complete & (n_different == 0), n_levels, -1)
