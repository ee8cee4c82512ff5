"""A forest made ready for bit-parallel scoring: features become bytes, nodes byte comparisons.

A *plane* holds one byte per document: how many of at most 255 thresholds of one feature lie below its
value. A node compares its plane with the rank of its threshold. A feature with more thresholds has several
planes; one whose nodes disagree about NaN, or about zeros that count as NaN, has planes for each opinion. So
no node is a special case.

Nodes are put in level order: a node's result is then needed many nodes later and not by the next one, which
makes walking 1.7 times as fast as in depth-first order. Leaves are too, so that the leaf of an oblivious
tree (all nodes of a level share one split) is the number that its comparisons spell out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pomona.trees.category_split import CategorySplits
from pomona.trees.lanes import N_LANES

if TYPE_CHECKING:
    from pomona.trees.forest import Forest

_MOST_CUTS = 255  # a byte then counts all of them, and 255 lies above every rank


@dataclass(frozen=True)
class CodedForest:
    """The arrays that the scoring kernels read; all of them read-only, so that kernels compile once."""

    plane_feature: NDArray[np.uint32]
    plane_nan: NDArray[np.uint8]  # the code of NaN: 0 goes left everywhere, 255 right
    cut_ptr: NDArray[np.uint64]  # (n_planes + 1,)
    plane_zero: NDArray[np.bool_]  # whether a value of (about) zero gets the code of NaN
    cuts: NDArray[Any]  # per plane a search tree of 2^k places (`_heap_place`), filled up with infinity
    node_ptr: NDArray[np.uint64]  # (n_trees + 1,)
    node_plane: NDArray[np.uint32]  # where the 64 codes of the node's plane start in a block
    node_code: NDArray[np.uint8]  # the rank of its threshold: codes above it go right
    left: NDArray[np.uint32]  # slots of the tree: its inner nodes, then its leaves
    right: NDArray[np.uint32]
    leaf_ptr: NDArray[np.uint64]  # (n_trees + 1,)
    value: NDArray[np.float64]
    leaf_order: NDArray[np.int64]  # where each leaf stands in the forest
    n_levels: NDArray[np.int64]  # (n_trees,) of an oblivious tree, -1 for any other
    n_slots: int  # of the largest tree
    splits: CategorySplits | None = None  # what appends the columns that splits on categories ask for

    @classmethod
    def of(cls, forest: Forest, threshold: NDArray[Any] | None = None) -> CodedForest:
        """The coded form of `forest` (some milliseconds for 500 trees of 64 leaves).

        threshold : its thresholds, if not those for float32 features.
        """
        threshold = forest.threshold if threshold is None else threshold
        order, depth, leaf_order = _level_order(forest)
        tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.node_ptr))
        new_node, new_leaf = np.empty_like(order), np.empty_like(leaf_order)
        new_node[order] = np.arange(len(order))
        new_leaf[leaf_order] = np.arange(len(leaf_order))
        n_inner = np.diff(forest.node_ptr)[tree]

        def slots(child: NDArray[np.int32]) -> NDArray[np.uint32]:
            at_node, at_leaf = forest.node_ptr[tree], forest.leaf_ptr[tree]
            is_leaf = child < 0
            node = new_node[np.where(is_leaf, 0, at_node + child)] - at_node
            leaf = new_leaf[np.where(is_leaf, at_leaf + ~child, 0)] - at_leaf
            return np.where(is_leaf, n_inner + leaf, node)[order].astype(np.uint32)

        group = forest.feature.astype(np.int64) * 4 + forest.nan_left
        if forest.zero_missing is not None:
            group += 2 * forest.zero_missing
        plane, code, plane_group, cut_ptr, cuts = _planes(group[order], threshold[order])
        coded = cls(
            plane_feature=(plane_group // 4).astype(np.uint32),
            plane_nan=np.where(plane_group % 2 == 1, 0, 255).astype(np.uint8),
            plane_zero=plane_group % 4 >= 2,
            cut_ptr=cut_ptr,
            cuts=cuts,
            node_ptr=forest.node_ptr.astype(np.uint64),
            node_plane=(plane * N_LANES).astype(np.uint32),
            node_code=code,
            left=slots(forest.left),
            right=slots(forest.right),
            leaf_ptr=forest.leaf_ptr.astype(np.uint64),
            value=forest.value[leaf_order],
            leaf_order=leaf_order,
            n_levels=_n_levels(forest.node_ptr, tree, depth, plane, code),
            n_slots=int((np.diff(forest.node_ptr) + np.diff(forest.leaf_ptr)).max(initial=1)),
        )
        for array in vars(coded).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        return coded

    def trees_on(self, feature: int) -> CodedForest:
        """The trees that split on a feature, over the same planes."""
        tree = np.repeat(np.arange(self.n_trees), np.diff(self.node_ptr).astype(np.int64))
        is_split = self.plane_owner[self.node_plane // N_LANES] == feature
        wanted = np.bincount(tree[is_split], minlength=self.n_trees) > 0
        nodes, leaves = (
            np.repeat(wanted, np.diff(ptr).astype(np.int64)) for ptr in (self.node_ptr, self.leaf_ptr)
        )
        chosen: dict[str, Any] = {
            **{name: getattr(self, name)[nodes] for name in ("node_plane", "node_code", "left", "right")},
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

    @property
    def trees(self) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any]:
        """What a kernel needs to walk trees."""
        nodes = self.node_ptr, self.node_plane, self.node_code, self.left, self.right
        return *nodes, self.leaf_ptr, self.n_levels, self.n_slots

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


def _level_order(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Nodes by tree, level and place in it; their levels; leaves by the same order."""
    has_nodes = np.diff(forest.node_ptr) > 0
    tree = np.flatnonzero(has_nodes)
    nodes = forest.node_ptr[tree]
    node_levels, node_trees = [nodes], [tree]
    leaf_levels, leaf_trees = [forest.leaf_ptr[:-1][~has_nodes]], [np.flatnonzero(~has_nodes)]
    while len(nodes):
        children = np.stack([forest.left[nodes], forest.right[nodes]], axis=1).ravel()
        tree = np.repeat(tree, 2)
        inner = children >= 0
        leaf_levels.append(forest.leaf_ptr[tree[~inner]] + ~children[~inner])
        leaf_trees.append(tree[~inner])
        tree = tree[inner]
        nodes = forest.node_ptr[tree] + children[inner]
        node_levels.append(nodes)
        node_trees.append(tree)
    by_tree = np.argsort(np.concatenate(node_trees), kind="stable")
    depth = np.repeat(np.arange(len(node_levels)), [len(level) for level in node_levels])
    leaf_by_tree = np.argsort(np.concatenate(leaf_trees), kind="stable")
    return (
        np.concatenate(node_levels)[by_tree],
        depth[by_tree],
        np.concatenate(leaf_levels)[leaf_by_tree],
    )


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
    room = 1 << np.ceil(np.log2(n_cuts + 1)).astype(np.int64)
    cut_ptr = np.concatenate([[0], np.cumsum(room)])
    cuts = np.full(cut_ptr[-1], np.inf, threshold.dtype)
    plane_of_cut = plane_of_sorted[starts_cut]
    cuts[cut_ptr[plane_of_cut] + _heap_place(code_of_sorted[starts_cut], room[plane_of_cut])] = threshold[
        starts_cut
    ]

    plane, code = np.empty(len(order), np.int64), np.empty(len(order), np.uint8)
    plane[order], code[order] = plane_of_sorted, code_of_sorted
    return plane, code, group[starts_plane], cut_ptr.astype(np.uint64), cuts


def _heap_place(rank: NDArray[np.uint8], room: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where a sorted sequence's element goes in a search tree laid out by levels, the root at 1.

    Going from place i to 2i, or 2i + 1 if the element there is below, ends at `room` plus the number below.
    """
    nth = rank.astype(np.int64) + 1
    lowest_bit = nth & -nth
    return (room // 2 + nth // 2) // lowest_bit


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
