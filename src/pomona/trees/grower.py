"""What growers share: the rules, the grown tree, and a bench on which nodes are divided and leaves valued.

A node is a range of `rows`: dividing it moves the documents that go left to its front, both sides keeping
their order, then adds up the histogram of the *smaller* side and takes it from the parent's, which thereby
becomes the larger side's. Small nodes are divided inside a kernel; for large ones, threads share the rows.

A leaf's value is −ΣG/(ΣH+λ) of the exact float gradients, added in pieces of fixed size: quantization
only ever chooses splits, and the number of threads changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, n_threads, over_chunks
from pomona._types import Values
from pomona.errors import InputError
from pomona.trees.binning import Bins, Codes
from pomona.trees.histogram import SCRATCH, accumulate, pack, settle
from pomona.trees.split import CANDIDATE, FEATURE, middle_value, terms_of

LEAF = np.dtype(
    [
        ("begin", np.int64),
        ("end", np.int64),
        ("total", np.int64),
        ("low", np.float64),
        ("high", np.float64),
        ("slot", np.int32),
        ("depth", np.int32),
        ("parent", np.int32),
        ("is_right", np.bool_),
        *CANDIDATE,
    ],
    align=True,
)
"""A node without children yet: rows, packed sum, bounds of its value, histogram, place and best split."""

NODE = np.dtype(
    [
        ("feature", np.int32),
        ("bin", np.int32),
        ("nan_left", np.bool_),
        ("left", np.int32),
        ("right", np.int32),
        ("gain", np.float64),
    ],
    align=True,
)
"""A divided node; children as in `Forest`: inner nodes, or leaves as ~leaf."""

THREADED_WORK = 1 << 20
"""Histogram updates (about 0.5 ns each) from which a node is worth waking other threads."""

# The least that is handed to a thread, which costs about 0.02 ms: updates, and rows to be sorted.
_TASK_WORK = 1 << 18
_SORTED_ROWS = 1 << 15
_PIECE = 1 << 13  # floats are added in pieces of fixed size, so that sums do not depend on threads


@kernel
def goes_left(code, bin_, nan_code):
    """Whether a document goes left; `nan_code` is the code of NaN if that goes left, else 256."""
    return (code <= bin_) | (code == nan_code)


@kernel
def sort_range(first, last, codes, bin_, nan_code, rows, out_left, out_right):
    """Lay rows[first:last] that go left into out_left[first:], the others into out_right[first:], in order.

    codes (n_docs,) of the feature. Returns how many go left. Both are written for every row and only one
    counter moves: no branch to guess. `out_left` may be `rows` itself.
    """
    n_left, n_right = 0, 0
    left, right = out_left[first:last], out_right[first:last]
    for k in range(first, last):
        row = rows[k]
        left[n_left], right[n_right] = row, row
        to_left = goes_left(codes[row], bin_, nan_code)
        n_left += to_left
        n_right += not to_left
    return n_left


@kernel
def place(first, last, cuts, n_left, spare, packed, rows, ordered):
    """Move sorted ranges first..last from spare (2, n_rows) to their place in `rows`.

    cuts (n_ranges + 1,) in rows · n_left (n_ranges,); the left side of a single range is in place already.
    The packed values of the smaller side are fetched into `ordered`, aligned with `rows`.
    """
    begin, all_left = cuts[0], np.sum(n_left)
    left_is_smaller = 2 * all_left <= cuts[-1] - begin
    for r in range(first, last):
        source, lefts = cuts[r], n_left[r]
        rights = cuts[r + 1] - source - lefts
        before = np.sum(n_left[:r])
        left_at, right_at = begin + before, source + all_left - before
        if n_left.size > 1:
            rows[left_at : left_at + lefts] = spare[0, source : source + lefts]
        rows[right_at : right_at + rights] = spare[1, source : source + rights]
        at, size = (left_at, lefts) if left_is_smaller else (right_at, rights)
        for k in range(at, at + size):
            ordered[k] = packed[rows[k]]


@kernel
def accumulate_ranges(first, last, words, blocks, rows, ordered, begin, end, out):
    """The sums of parts first..last of rows[begin:end] into out (n_parts, n_blocks, SCRATCH)."""
    n_parts, size = out.shape[0], end - begin
    for part in range(first, last):
        low, high = begin + size * part // n_parts, begin + size * (part + 1) // n_parts
        for b in range(blocks.size):
            accumulate(words, blocks[b], rows, ordered, low, high, out[part, b])


@kernel
def settle_blocks(blocks, bin_start, scratch, child, sibling, histograms):
    """The sums in `scratch` become histogram `child`, and are taken from histogram `sibling`."""
    for b in range(blocks.size):
        settle(b, blocks[b], bin_start, scratch, histograms[child], histograms[sibling])


@kernel
def open_children(leaves, leaf, new, n_left, features, terms, nodes):
    """A leaf becomes an inner node, with `leaf` as its left child and leaf `new` as its right one.

    There is one inner node less than there are leaves, so the node's number is new - 1; the histogram of the
    smaller child goes to slot `new`. Returns the smaller and the larger child.
    """
    left, right, node = leaves[leaf], leaves[new], new - 1
    inner = nodes[node]
    inner["feature"], inner["bin"], inner["nan_left"] = left["feature"], left["bin"], left["nan_left"]
    inner["gain"], inner["left"], inner["right"] = left["gain"], ~leaf, ~new
    if left["parent"] >= 0:
        if left["is_right"]:
            nodes[left["parent"]]["right"] = node
        else:
            nodes[left["parent"]]["left"] = node
    middle, total, low, high = left["begin"] + n_left, left["total"], left["low"], left["high"]
    small, large = (leaf, new) if 2 * n_left <= left["end"] - left["begin"] else (new, leaf)
    leaves[large]["slot"] = left["slot"]
    leaves[small]["slot"] = new
    left["depth"] += 1
    right["depth"] = left["depth"]
    right["begin"], right["end"], left["end"] = middle, left["end"], middle
    left["total"], right["total"] = left["left_total"], total - left["left_total"]
    left["parent"], right["parent"] = node, node
    left["is_right"], right["is_right"] = False, True
    right["low"], right["high"] = low, high
    monotone = features[left["feature"]]["monotone"]
    if monotone != 0:
        between = middle_value(left["total"], total, low, high, terms[0])
        if monotone > 0:
            left["high"], right["low"] = between, between
        else:
            left["low"], right["high"] = between, between
    return small, large


@kernel
def divide(
    leaves, leaf, new, is_last, features, terms, columns, words, blocks, packed, rows, ordered, spare, nodes,
    scratch,
):  # fmt: skip
    """Divide a leaf in one thread and, unless it is the last, add up its smaller child in scratch[0].

    Returns the smaller and the larger child.
    """
    n_left, cuts = np.empty(1, np.int64), np.empty(2, np.int64)
    at = leaves[leaf]
    cuts[0], cuts[1] = at["begin"], at["end"]
    nan_code = features[at["feature"]]["n_bins"] - 1 if at["nan_left"] else 256
    codes = columns[at["feature"]]
    n_left[0] = sort_range(cuts[0], cuts[1], codes, at["bin"], nan_code, rows, rows, spare[1])
    place(0, 1, cuts, n_left, spare, packed, rows, ordered)
    small, large = open_children(leaves, leaf, new, n_left[0], features, terms, nodes)
    if not is_last:
        begin, end = leaves[small]["begin"], leaves[small]["end"]
        accumulate_ranges(0, 1, words, blocks, rows, ordered, begin, end, scratch)
    return small, large


@kernel
def _value_pieces(first, last, pieces, rows, gradient, hessian, out_sums, out_leaf):
    """pieces (n_pieces, 3): first row, last row, leaf · out_sums (n_pieces, 2)."""
    for p in range(first, last):
        g, h = 0.0, 0.0
        leaf = pieces[p, 2]
        for k in range(pieces[p, 0], pieces[p, 1]):
            row = rows[k]
            g += np.float64(gradient[row])
            h += np.float64(hessian[row])
            out_leaf[row] = leaf
        out_sums[p, 0], out_sums[p, 1] = g, h


@kernel
def _walk_rest(first, last, columns, features, nodes, out_leaf):
    """The leaves of documents that have none yet (out_leaf < 0): those that were not learnt from."""
    for row in range(first, last):
        if out_leaf[row] < 0:
            node = np.int32(0)
            while node >= 0:
                at = nodes[node]
                code = columns[at["feature"], row]
                nan_code = features[at["feature"]]["n_bins"] - 1 if at["nan_left"] else 256
                node = at["left"] if goes_left(code, at["bin"], nan_code) else at["right"]
            out_leaf[row] = ~node


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
    """

    n_leaves: int = 31
    max_depth: int | None = None
    l2: float = 0.0
    min_docs: int = 20
    min_hessian: float = 1e-3
    min_gain: float = 0.0
    monotone: tuple[int, ...] | None = None
    feature_fraction: float = 1.0

    def __post_init__(self) -> None:
        for name, least in (("n_leaves", 1), ("l2", 0), ("min_docs", 0), ("min_hessian", 0), ("min_gain", 0)):
            if not getattr(self, name) >= least:
                raise InputError(f"{name} must be at least {least}, found {getattr(self, name)}")
        if self.max_depth is not None and self.max_depth < 0:
            raise InputError(f"max_depth must be at least 0 or None, found {self.max_depth}")
        if not 0 < self.feature_fraction <= 1:
            raise InputError(f"feature_fraction must be in (0, 1], found {self.feature_fraction}")
        if self.monotone is not None and not set(self.monotone) <= {-1, 0, 1}:
            raise InputError(f"monotone must be -1, 0 or 1 for every feature, found {self.monotone}")


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


class Grower(Protocol):
    """Grows one tree after another on the same binned documents."""

    def grow(
        self,
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        rows: NDArray[np.int32] | None,
        rng: np.random.Generator,
    ) -> GrownTree:
        """Fit a tree to the derivatives of the loss to be minimized, from `rows` only (None: all)."""


class Bench:
    """The tables and buffers of one grower, kept from tree to tree."""

    def __init__(self, bins: Bins, codes: Codes, rules: GrowthRules, n_leaves: int) -> None:
        n_features, n_docs = bins.n_features, codes.n_docs
        if rules.monotone is not None and len(rules.monotone) != n_features:
            raise InputError(f"found {len(rules.monotone)} monotone constraints for {n_features} features")
        if codes.n_features != n_features:
            raise InputError(f"found codes of {codes.n_features} features, expected {n_features}")
        self.bins, self.codes, self.rules = bins, codes, rules
        self.width = int(codes.block_table["n_words"].sum()) * 8
        self.features = np.zeros(n_features, FEATURE)
        self.features["n_bins"], self.features["has_nan"] = bins.n_bins, bins.has_nan
        self.features["monotone"] = rules.monotone if rules.monotone is not None else 0
        self.usable = np.flatnonzero(bins.n_bins > 1)
        self.features["allowed"][self.usable] = True
        self.bin_start = np.concatenate(([0], np.cumsum(bins.n_bins, dtype=np.int64)))
        self.leaves, self.nodes = np.zeros(n_leaves, LEAF), np.zeros(n_leaves, NODE)
        # One more than leaves: the root's histogram is taken from a slot that nobody reads.
        self.histograms = np.zeros((n_leaves + 1, int(self.bin_start[-1])), np.int64)
        self.scratch = np.zeros((1, len(codes.block_table), SCRATCH), np.int64)
        self.all_rows = np.arange(n_docs, dtype=np.int32)
        self.packed = np.empty(n_docs, np.int64)
        self._make_room(n_docs)

    def _make_room(self, n_rows: int) -> None:
        self.rows, self.ordered = np.empty(n_rows, np.int32), np.empty(n_rows, np.int64)
        self.spare = np.empty((2, n_rows), np.int32)

    def start(
        self,
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        rows: NDArray[np.int32] | None,
        rng: np.random.Generator,
    ) -> None:
        """Pack the gradients, draw the features, and make leaf 0 the root with its histogram."""
        n_docs = self.codes.n_docs
        if gradient.shape != (n_docs,) or hessian.shape != (n_docs,):
            raise InputError(
                f"found {gradient.shape} gradients and {hessian.shape} hessians for {n_docs} documents"
            )
        chosen = self.all_rows if rows is None else np.ascontiguousarray(rows, np.int32)
        n = len(chosen)
        if n == 0:
            raise InputError("found no documents to learn a tree from")
        if n > len(self.rows):  # a bootstrap sample may be larger than the data
            self._make_room(n)
        self.n_rows, self.is_bag = n, rows is not None
        self.gradient = np.ascontiguousarray(gradient, np.float32)
        self.hessian = np.ascontiguousarray(hessian, np.float32)
        self.rows[:n] = chosen
        packing = pack(chosen, self.gradient, self.hessian, int(rng.integers(2**63)), self.packed)
        rules = self.rules
        limits = (rules.l2, rules.min_docs, rules.min_hessian, rules.min_gain)
        self.terms = terms_of(packing, *limits, bounded=any(rules.monotone or ()))
        if rules.feature_fraction < 1 and len(self.usable):
            n_drawn = max(1, round(rules.feature_fraction * len(self.usable)))
            self.features["allowed"] = False
            self.features["allowed"][rng.choice(self.usable, n_drawn, replace=False)] = True
        root = self.leaves[:1]
        root[:] = np.zeros(1, LEAF)
        root["end"], root["total"], root["parent"] = n, packing.total, -1
        root["low"], root["high"] = -np.inf, np.inf
        if self.is_bag:
            np.take(self.packed, chosen, out=self.ordered[:n])
        scratch = self.accumulate(0, n, self.ordered if self.is_bag else self.packed)
        nobody = len(self.histograms) - 1
        settle_blocks(self.codes.block_table, self.bin_start, scratch, 0, nobody, self.histograms)

    @property
    def most_small(self) -> int:
        """The most rows that a node may have and still be left to one thread."""
        return THREADED_WORK // self.width if n_threads() > 1 else self.n_rows

    def accumulate(self, begin: int, end: int, ordered: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sums of rows[begin:end], in as many parts as threads are worth it."""
        n_parts = max(1, min(n_threads(), (end - begin) * self.width // _TASK_WORK))
        if n_parts > len(self.scratch):
            self.scratch = np.zeros((n_parts, len(self.codes.block_table), SCRATCH), np.int64)
        scratch = self.scratch[:n_parts]
        rows = (self.rows, ordered, begin, end)
        over_chunks(accumulate_ranges, n_parts, self.codes.words, self.codes.block_table, *rows, scratch)
        return scratch

    def divide_large(self, leaf: int, new: int, *, is_last: bool) -> tuple[int, int, NDArray[np.int64]]:
        """As `divide`, with rows shared by threads; returns also where the sums are."""
        n_left = self._sort_rows(leaf)
        leaves = self.leaves
        small, large = open_children(leaves, leaf, new, n_left, self.features, self.terms, self.nodes)
        if is_last:
            return small, large, self.scratch[:1]
        begin, end = int(leaves["begin"][small]), int(leaves["end"][small])
        return small, large, self.accumulate(begin, end, self.ordered)

    def _sort_rows(self, leaf: int) -> int:
        at = self.leaves[leaf]
        begin, end = int(at["begin"]), int(at["end"])
        nan_code = int(self.features[at["feature"]]["n_bins"]) - 1 if at["nan_left"] else 256
        n_ranges = max(1, min(n_threads(), (end - begin) // _SORTED_ROWS))
        cuts = np.linspace(begin, end, n_ranges + 1).astype(np.int64)
        split = (self.codes.columns[at["feature"]], int(at["bin"]), nan_code)
        lefts = self.rows if n_ranges == 1 else self.spare[0]

        def sort(first: int, last: int) -> list[int]:
            ranges = [(int(cuts[r]), int(cuts[r + 1])) for r in range(first, last)]
            return [sort_range(*ends, *split, self.rows, lefts, self.spare[1]) for ends in ranges]

        n_left = np.array([n for part in over_chunks(sort, n_ranges) for n in part], np.int64)
        over_chunks(place, n_ranges, cuts, n_left, self.spare, self.packed, self.rows, self.ordered)
        return int(n_left.sum())

    def finish(self, n_leaves: int, n_nodes: int) -> GrownTree:
        """Value the leaves by exact sums, and find those of documents that were not learnt from."""
        leaves, nodes = self.leaves[:n_leaves], self.nodes[:n_nodes]
        sums, leaf_of_row = self.leaf_sums(leaves)
        value = newton_steps(sums, self.rules.l2)
        value = np.clip(value, leaves["low"], leaves["high"])
        return self.tree(nodes, value, leaf_of_row)

    def leaf_sums(self, leaves: NDArray[np.void]) -> tuple[Values, NDArray[np.int32]]:
        """Exact sums of gradients and hessians of every leaf, and the leaf of every row."""
        pieces: list[tuple[int, int, int]] = []
        first_piece = []
        for leaf, (begin, end) in enumerate(leaves[["begin", "end"]].tolist()):
            first_piece.append(len(pieces))
            pieces += [(at, min(at + _PIECE, end), leaf) for at in range(begin, max(end, begin + 1), _PIECE)]
        leaf_of_row = np.full(self.codes.n_docs, -1, np.int32)
        sums = np.empty((len(pieces), 2))
        tables = (np.array(pieces, np.int64), self.rows, self.gradient, self.hessian, sums, leaf_of_row)
        n_tasks = max(1, min(n_threads(), self.n_rows // _SORTED_ROWS))
        over_chunks(_value_pieces, len(pieces), *tables, smallest=-(-len(pieces) // n_tasks))
        totals: Values = np.add.reduceat(sums, first_piece)
        return totals, leaf_of_row

    def tree(self, nodes: NDArray[np.void], value: Values, leaf_of_row: NDArray[np.int32]) -> GrownTree:
        """The tree of inner `nodes`, with `leaf_of_row` filled in for the documents left out by bagging."""
        if self.is_bag and len(nodes):
            tables = (self.codes.columns, self.features, nodes, leaf_of_row)
            over_chunks(_walk_rest, self.codes.n_docs, *tables, smallest=16384)
        elif self.is_bag:
            leaf_of_row[:] = 0
        splits = zip(nodes["feature"].tolist(), nodes["bin"].tolist(), strict=True)
        return GrownTree(
            nodes["feature"].copy(),
            np.array([self.bins.threshold(f, b) for f, b in splits], np.float32),
            nodes["nan_left"].copy(),
            nodes["left"].copy(),
            nodes["right"].copy(),
            nodes["gain"].astype(np.float32),
            value,
            leaf_of_row,
        )


def newton_steps(sums: Values, l2: float) -> Values:
    """−ΣG/(ΣH+λ) of rows (ΣG, ΣH), 0 where there is nothing to divide by."""
    below = sums[:, 1] + l2
    return np.divide(-sums[:, 0], below, out=np.zeros(len(sums)), where=below > 0)
