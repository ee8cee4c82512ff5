"""What growers share: the rules, the grown tree, and a workspace in which trees are grown and leaves valued.

A leaf's value is −ΣG/(ΣH+λ) of the float gradients, added as 64-bit integers of the finest unit whose sums
fit (2⁻⁴² of the largest gradient for a million documents): the coarse integers of histograms only ever choose
splits, and neither threads nor the order of documents changes a bit.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona._beside import compile_beside
from pomona._jit import kernel, n_threads, over_chunks, type_of, types
from pomona._team import by_team, new_board, team_board
from pomona._types import Values
from pomona.errors import InputError
from pomona.trees.allowed import Groups, group_bits
from pomona.trees.binning import Bins
from pomona.trees.categories import N_WORDS, members_of_bins, walk_rest
from pomona.trees.codes import Codes
from pomona.trees.divide import LEAF, N_ADDRESSES, NODE, ORDER, SPLIT, Table, find_addresses
from pomona.trees.divide_rest import divide_rest
from pomona.trees.histogram import IN_PLACE, PARTS, SCRATCH, WORDS, pack, power_of_two, share
from pomona.trees.peers import ALONE, Peers
from pomona.trees.split import FEATURE, TERMS, terms_of

_MOST_LEAVES = 1 << 24
_LARGE = 1 << 30  # bytes of histograms that are worth a word


@kernel
def _value_rows(first, last, leaves, rows, gradient, hessian, scales, out_leaf, step, out):
    """Sums of gradients and hessians of rows first..last, in integers: out[first // step] (n_leaves, 2).

    Rows become the numbers of documents in order, as the next tree begins with.
    """
    sums = out[first // step]
    for leaf in range(leaves.size):
        g, h = np.int64(0), np.int64(0)
        begin, end = max(first, leaves[leaf]["begin"]), min(last, leaves[leaf]["end"])
        for k in range(begin, end):
            row = np.uint64(rows[k])
            g += np.int64(np.rint(gradient[row] * scales[0]))
            h += np.int64(np.rint(hessian[row] * scales[1]))
            out_leaf[row] = leaf
        sums[leaf, 0], sums[leaf, 1] = g, h
    for k in range(first, last):
        rows[k] = k


@dataclass(frozen=True)
class GrowthRules:
    """How far a tree may grow.

    Parameters
    ----------
    n_leaves : most leaves of a leaf-wise tree.
    max_depth : most splits on a path; None: no limit for leaf-wise trees, 6 levels for oblivious ones.
    l2 : λ, added to the sum of hessians.
    min_docs, min_hessian : least number of documents and sum of hessians on either side of a split.
    min_gain : splits that gain no more than this are not made.
    monotone : for every feature 1 (score must not fall as it rises), -1 (must not rise) or 0 (free).
    feature_fraction : share of features that a tree may use, drawn anew for every tree.
    feature_fraction_bylevel, feature_fraction_bynode : the share of these that a level, and of those that are
        left the share that a node may be split on (`allowed.py`).
    interactions : groups of features; all features of a path must be in a common one.
    smoothing : documents that categories, and sides of a split on them, have in addition (`categories.py`).
    newton_splits : whether splits are chosen by ΣG²/(ΣH+λ), or by gradients alone, as if all hessians were
        their mean: ΣG²/n in other units. Leaf values are Newton steps either way.
    """

    n_leaves: int = 31
    max_depth: int | None = None
    l2: float = 0.0
    min_docs: int = 20
    min_hessian: float = 1e-3
    min_gain: float = 0.0
    monotone: tuple[int, ...] | None = None
    feature_fraction: float = 1.0
    feature_fraction_bylevel: float = 1.0
    feature_fraction_bynode: float = 1.0
    interactions: Groups | None = None
    smoothing: float = 0.0
    newton_splits: bool = True

    def __post_init__(self) -> None:
        for name in ("n_leaves", "l2", "min_docs", "min_hessian", "min_gain", "smoothing"):
            least = int(name == "n_leaves")
            if not least <= getattr(self, name) < math.inf:
                raise InputError(f"{name} must be at least {least}, and finite, found {getattr(self, name)}")
        if self.max_depth is not None and self.max_depth < 0:
            raise InputError(f"max_depth must be at least 0 or None, found {self.max_depth}")
        for name in ("feature_fraction", "feature_fraction_bylevel", "feature_fraction_bynode"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"{name} must be in (0, 1], found {getattr(self, name)}")
        if self.monotone is not None and not set(self.monotone) <= {-1, 0, 1}:
            raise InputError(f"monotone must be -1, 0 or 1 for every feature, found {self.monotone}")

    @property
    def limits_nodes(self) -> bool:
        """Whether nodes of a tree differ in what features they may be split on."""
        shares = self.feature_fraction_bylevel, self.feature_fraction_bynode
        return self.interactions is not None or min(shares) < 1


@dataclass(frozen=True)
class GrownTree:
    """One tree, its arrays named and meant as in `Forest`; values are Newton steps without learning rate."""

    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    nan_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    gain: NDArray[np.float32]
    value: Values
    leaf_of_row: NDArray[np.int32]
    """The leaf of every document of the binned data, also of those left out by bagging."""
    leaf_count: NDArray[np.int64] | None = None
    """Of the documents that were learnt from."""
    leaf_weight: Values | None = None
    """The sum of their second derivatives."""
    members: tuple[NDArray[np.int64], ...] | None = None
    """For each node the categories that go left; of one with a threshold none. None: no node has any."""


class Workspace:
    """The tables and buffers of one grower, kept from tree to tree; `grow` is the kernel it will call."""

    peers: Peers = ALONE
    numbers: NDArray[np.int64] = IN_PLACE
    """Of the documents here among those of all peers."""
    _is_in_order = False
    """Whether rows are all documents in order, which takes as long to write as to add them up."""

    def __init__(
        self,
        bins: Bins,
        codes: Codes,
        rules: GrowthRules,
        n_leaves: int,
        *,
        is_oblivious: bool = False,
        grow: Callable[..., int] | None = None,
    ) -> None:
        n_features, n_docs = bins.n_features, codes.n_docs
        if rules.monotone is not None and len(rules.monotone) != n_features:
            raise InputError(f"found {len(rules.monotone)} monotone constraints for {n_features} features")
        if codes.n_features != n_features:
            raise InputError(f"found codes of {codes.n_features} features, expected {n_features}")
        self.bins, self.codes, self.rules = bins, codes, rules
        self.features = np.zeros(n_features, FEATURE)
        self.features["n_bins"], self.features["has_nan"] = bins.n_bins, bins.has_nan
        self.features["monotone"] = rules.monotone if rules.monotone is not None else 0
        self.features["is_category"] = [f in bins.categories for f in range(n_features)]
        self.usable = np.flatnonzero(bins.n_bins > 1)
        self.features["allowed"][self.usable] = True
        self.all_rows = np.arange(n_docs, dtype=np.int32)
        groups = group_bits(rules.interactions, n_features)
        bin_start = np.concatenate(([0], np.cumsum(bins.n_bins, dtype=np.int64)))
        n_words = WORDS * len(codes.block_table)
        n_needed = min(n_leaves, n_docs // max(1, int(rules.min_docs)) + 1)
        if (room := 8 * (n_needed + 1) * int(bin_start[-1])) >= _LARGE:
            warnings.warn(
                f"the histograms of up to {n_needed} leaves take {room / 1e9:.1f} GB: fewer n_leaves, or a "
                "lower max_bins, take less",
                stacklevel=2,
            )
        histograms = _histograms(n_leaves, int(bin_start[-1]))
        self.table = Table(
            board=new_board(),
            columns=codes.columns,
            words=codes.words,
            blocks=codes.block_table,
            bytes_=codes.byte_table,
            seats=codes.seats,
            features=self.features,
            bin_start=bin_start,
            allowed=np.zeros((2, n_features), np.bool_),
            groups=groups,
            paths=np.zeros((n_leaves, 1 + groups.shape[1]), np.uint64),
            terms=np.zeros(1, TERMS),
            packed=np.empty(n_docs, np.int64),
            rows=np.empty(n_docs, np.int32),
            ordered=np.empty(n_docs, np.int64),
            spare=np.empty((2, n_docs), np.int32),
            scratch=np.zeros((1, len(codes.block_table), SCRATCH), np.int64),
            histograms=histograms,
            leaves=np.zeros(n_leaves, LEAF),
            nodes=np.zeros(n_leaves, NODE),
            sets=np.zeros((n_leaves, N_WORDS), np.uint64),
            node_sets=np.zeros((n_leaves, N_WORDS), np.uint64),
            n_left=np.zeros(1, np.int64),
            is_used=np.zeros((1, n_words), np.bool_),
            best_splits=np.zeros((max(1, n_words), 2), SPLIT),
            order=np.zeros(1, ORDER),
            addresses=np.zeros(N_ADDRESSES, np.int64),
        )
        # The leaves of an oblivious tree have no splits of their own.
        self.table.order["is_searched"] = not is_oblivious
        most = 2**31 - 1
        self.table.order["max_depth"] = most if rules.max_depth is None else min(rules.max_depth, most)
        self.table.order["by_level"] = rules.feature_fraction_bylevel
        self.table.order["by_node"] = rules.feature_fraction_bynode
        self.table.order["is_limited"] = rules.limits_nodes
        self.table.order["smoothing"], self.table.order["has_sets"] = rules.smoothing, bool(bins.categories)
        if grow is not None:
            compile_beside(grow, type_of(self.table), types.int64)
        find_addresses(self.table, is_oblivious)

    def _enlarge(self, n_rows: int) -> None:
        """For more rows, as a bootstrap sample may have, and for more threads."""
        if n_rows > len(self.table.rows):
            self._is_in_order = False
            self.table = self.table._replace(
                rows=np.empty(n_rows, np.int32),
                ordered=np.empty(n_rows, np.int64),
                spare=np.empty((2, n_rows), np.int32),
            )
        count, n_words = n_threads(), WORDS * len(self.codes.block_table)
        if count != len(self.table.scratch):
            self.table = self.table._replace(
                scratch=np.zeros((count, len(self.codes.block_table), SCRATCH), np.int64),
                n_left=np.zeros(PARTS * count, np.int64),
                is_used=np.zeros((count, n_words), np.bool_),
                best_splits=np.zeros((max(count, n_words), 2), SPLIT),
            )

    def start(
        self,
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        rows: NDArray[np.int32] | None,
        rng: np.random.Generator,
    ) -> None:
        """Pack the gradients, draw the features, and make leaf 0 the root."""
        n_docs = self.codes.n_docs
        if gradient.shape != (n_docs,) or hessian.shape != (n_docs,):
            raise InputError(
                f"found {gradient.shape} gradients and {hessian.shape} hessians for {n_docs} documents"
            )
        chosen = self.all_rows if rows is None else np.ascontiguousarray(rows, np.int32)
        n = len(chosen)
        self._enlarge(n)
        table, rules = self.table, self.rules
        self.is_bag = rows is not None
        self.gradient = np.ascontiguousarray(gradient, np.float32)
        self.hessian = np.ascontiguousarray(hessian, np.float32)
        if self.is_bag or not self._is_in_order:
            table.rows[:n] = chosen
        self._is_in_order = False
        searched = self.hessian if rules.newton_splits else _levelled(self.hessian, chosen)
        seed, whose = int(rng.integers(2**63)), (self.numbers, self.peers)
        self.packing = packing = pack(
            chosen, self.gradient, searched, seed, table.packed, *whose, is_bag=self.is_bag
        )
        limits = (rules.l2, rules.min_docs, rules.min_hessian, rules.min_gain)
        table.terms[:] = terms_of(packing, *limits, bounded=any(rules.monotone or ()))
        if rules.feature_fraction < 1 and len(self.usable):
            n_drawn = max(1, round(rules.feature_fraction * len(self.usable)))
            self.features["allowed"] = False
            self.features["allowed"][rng.choice(self.usable, n_drawn, replace=False)] = True
        table.allowed[:] = self.features["allowed"]
        if rules.limits_nodes:
            table.order["seed"] = rng.integers(2**64, dtype=np.uint64)
        root = table.leaves[:1]
        root[:] = np.zeros(1, LEAF)
        root["end"], root["total"], root["parent"] = n, packing.total, -1
        root["low"], root["high"] = -np.inf, np.inf
        if self.is_bag:
            np.take(table.packed, chosen, out=table.ordered[:n])
        table.order["is_root"] = not self.is_bag

    def grow(self, lead: Callable[..., int], *arguments: Any) -> int:
        """Run a grower's kernel `lead(table, *arguments)` with a team."""
        with team_board(len(self.table.scratch)) as board:
            self.table = self.table._replace(board=board)
            return lead(self.table, *arguments)

    def leaf_sums(self, leaves: NDArray[np.void]) -> tuple[Values, NDArray[np.int32]]:
        """Sums of gradients and hessians of every leaf, the same in any order, and the leaf of every row."""
        n = self.packing.n_rows
        scales = np.array([power_of_two((2**62 - n) / n, value) for value in self.packing.largest])
        leaf_of_row: NDArray[np.int32] = np.empty(self.codes.n_docs, np.int32)
        if self.is_bag:
            leaf_of_row[:] = -1
        tables = (leaves, self.table.rows, self.gradient, self.hessian, scales, leaf_of_row)
        n_rows = int(leaves["end"].max())
        step = share(n_rows)
        sums = np.zeros((-(-n_rows // step), len(leaves), 2), np.int64)
        by_team(_value_rows, n_rows, *tables, step, sums, smallest=step)
        self._is_in_order = not self.is_bag
        totals: NDArray[np.int64] = sums.sum(axis=0)
        self.peers.add(totals)
        return totals / scales, leaf_of_row

    def counts(self, leaves: NDArray[np.void]) -> NDArray[np.int64]:
        """How many documents every leaf has, of all peers together."""
        counts: NDArray[np.int64] = leaves["total"] & (2**self.packing.count_bits - 1)
        return counts

    def tree(self, nodes: NDArray[np.void], leaf_of_row: NDArray[np.int32], **of_leaves: Any) -> GrownTree:
        """The tree of inner `nodes`, with `leaf_of_row` filled in for the documents left out by bagging."""
        sets = self.table.node_sets[: len(nodes)]
        tables, n_docs = (self.codes.columns, self.features, nodes), self.codes.n_docs
        if self.is_bag and len(nodes) and self.bins.categories:
            over_chunks(walk_rest, n_docs, *tables, sets, leaf_of_row, smallest=16384)
        elif self.is_bag and len(nodes):
            over_chunks(divide_rest, n_docs, *tables, leaf_of_row, smallest=16384)
        elif self.is_bag:
            leaf_of_row[:] = 0
        feature, bin_ = nodes["feature"].copy(), nodes["bin"]
        members = None
        if self.bins.categories:
            splits = zip(feature.tolist(), bin_.tolist(), strict=True)
            members = tuple(
                members_of_bins(set_, self.bins.categories[f]) if b < 0 else np.empty(0, np.int64)
                for set_, (f, b) in zip(sets, splits, strict=True)
            )
        return GrownTree(
            feature,
            np.where(bin_ < 0, np.float32(0), self.bins.ladder[feature, bin_]),
            nodes["nan_left"].copy(),
            nodes["left"].copy(),
            nodes["right"].copy(),
            nodes["gain"].astype(np.float32),
            leaf_of_row=leaf_of_row,
            members=members,
            **of_leaves,
        )


def _histograms(n_leaves: int, n_bins: int) -> NDArray[np.int64]:
    """One more than leaves: the root's histogram is taken from a slot that nobody reads."""
    if n_leaves < _MOST_LEAVES:
        with contextlib.suppress(MemoryError):
            return np.zeros((n_leaves + 1, n_bins), np.int64)
    room = 8e-9 * n_leaves * n_bins
    raise InputError(f"the histograms of {n_leaves} leaves take {room:.3g} GB: fewer n_leaves take less")


def _levelled(hessian: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.float32]:
    """The mean hessian of the rows, as everybody's."""
    return np.full_like(hessian, hessian[rows].mean(dtype=np.float64))


def newton_steps(sums: Values, l2: float) -> Values:
    """−ΣG/(ΣH+λ) of rows (ΣG, ΣH), 0 where there is nothing to divide by."""
    below = sums[:, 1] + l2
    return np.divide(-sums[:, 0], below, out=np.zeros(len(sums)), where=below > 0)


class Grower(ABC):
    """Grows one tree after another on the same binned documents."""

    on_gpu: ClassVar[bool] = False
    """Whether gradients may lie on a GPU."""

    def __init__(self, bins: Bins, codes: Codes, rules: GrowthRules, n_leaves: int, **how: Any) -> None:
        self._workspace = Workspace(bins, codes, rules, n_leaves, **how)

    def grow(
        self,
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        rows: NDArray[np.int32] | None,
        rng: np.random.Generator,
    ) -> GrownTree:
        """Fit a tree to the derivatives of the loss to be minimized, from `rows` only (None: all)."""
        workspace = self._workspace
        workspace.start(gradient, hessian, rows, rng)
        n_leaves = self._divide_leaves(workspace)
        leaves = workspace.table.leaves[:n_leaves]
        sums, leaf_of_row = workspace.leaf_sums(leaves)
        counts = workspace.counts(leaves)
        value = np.clip(self._values(sums, counts), leaves["low"], leaves["high"])
        of_leaves = {"value": value, "leaf_count": counts, "leaf_weight": sums[:, 1].copy()}
        return workspace.tree(workspace.table.nodes[: n_leaves - 1], leaf_of_row, **of_leaves)

    @abstractmethod
    def _divide_leaves(self, workspace: Workspace) -> int:
        """Divide the root, its children, and so on; returns the number of leaves."""

    def _values(self, sums: Values, counts: NDArray[np.int64]) -> Values:
        """The values of leaves: (n_leaves, 2) sums of gradients and hessians, (n_leaves,) documents."""
        rules = self._workspace.rules
        # Splits that did not look at hessians may have left next to none in a leaf.
        least = 0.0 if rules.newton_splits else rules.min_hessian
        return newton_steps(np.maximum(sums, [-np.inf, least]), rules.l2)
