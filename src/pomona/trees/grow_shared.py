"""Growth by peers: each moves its own documents, the histogram of a smaller side is summed over all of them.

All peers then hold the same histograms and take the same decisions, so nobody leads, and the tree is that of
a single machine with all documents, bit for bit. One sum a division travels, of 8 bytes a bin; none if
neither side may be divided again. The loop over nodes is Python here, the work in it is that of `divide.py`:

    sort      rows of the node into lefts and rights
    add       the histogram of the side that has fewer documents *of all peers*
    exchange  its sum over all; the other side's is the parent's less that
    search    both sides for their best splits
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, n_threads, over_chunks
from pomona.trees.allowed import allow, open_paths, start_path
from pomona.trees.binning import Bins
from pomona.trees.codes import Codes
from pomona.trees.divide import SPLIT, open_children, sort_range
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grow_oblivious import ObliviousGrower
from pomona.trees.grower import Grower, GrowthRules, Workspace
from pomona.trees.histogram import SCRATCH, WORDS, accumulate, settle
from pomona.trees.peers import Peers
from pomona.trees.split import gain_of, no_split, search, search_shared

_SORTED_ROWS = 1 << 14  # rows, and below additions, bytes and bins, that are worth waking a thread
_ADDED_ROWS = 1 << 13
_SETTLED_BYTES = 16
_SEARCHED_FEATURES = 16


@kernel
def _search_features(first, last, features, allowed, bin_start, bins, total, bounds, terms, sums, gains, out):
    """The best split on features first..last into out[first]; sums, gains (n_features, 257) to work in."""
    low, high = bounds
    no_split(total, low, high, terms, out[first])
    for f in range(first, last):
        if allowed[f]:
            some = bins[bin_start[f] : bin_start[f + 1]]
            search(f, features[f], some, total, low, high, terms, sums[first], gains[first], out[first])


class SharedSteps:
    """The steps of growing on one of several peers, in a workspace of its own documents."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        n_features = workspace.bins.n_features
        self._splits = np.zeros(n_features, SPLIT)
        self._room = np.empty((n_features, 257), np.int64), np.empty((n_features, 257))
        self._scratch = np.zeros((0, len(workspace.codes.block_table), SCRATCH), np.int64)

    def open_root(self, *, is_searched: bool) -> None:
        """The histogram of leaf 0, and its best split if asked for."""
        table = self.workspace.table
        table.leaves[0]["gain"] = 0.0
        if table.order[0]["is_limited"]:
            start_path(table)
        if len(table.bytes_):
            self._add(0)
            if is_searched:
                self._search(0)

    def divide(self, leaf: int, new: int, *, is_last: bool, is_searched: bool) -> None:
        """Divide a leaf by its best split into itself and leaf `new`; the last needs no histograms."""
        table = self.workspace.table
        slot = int(table.leaves[leaf]["slot"])
        n_left = self._sort(table.leaves[leaf])
        open_children(table.leaves, leaf, new, n_left, table.features, table.terms, table.nodes)
        if table.order[0]["is_limited"]:
            open_paths(table, int(table.nodes[new - 1]["feature"]), leaf, new)
        # Which side is smaller is decided by the documents of all peers, so that they all add the same one.
        left, right = self.workspace.counts(table.leaves[[leaf, new]]).tolist()
        small, large = (leaf, new) if left <= right else (new, leaf)
        table.leaves["slot"][small], table.leaves["slot"][large] = new, slot
        table.leaves["gain"][[small, large]] = 0.0
        wanted = [side for side in (small, large) if not is_searched or self._may_be_divided(side)]
        if is_last or not wanted:
            return
        self._add(small)
        table.histograms[slot] -= table.histograms[new]
        if is_searched:
            for side in wanted:
                self._search(side)

    def _may_be_divided(self, leaf: int) -> bool:
        at, terms = self.workspace.table.leaves[leaf], self.workspace.table.terms[0]
        total, shift, count_bits = int(at["total"]), int(terms["gradient_shift"]), int(terms["count_bits"])
        hessian, count = (
            (total >> count_bits) & ((1 << (shift - count_bits)) - 1),
            total & ((1 << count_bits) - 1),
        )
        enough = count >= 2 * terms["min_docs"] and hessian >= 2 * terms["min_hessian"]
        return bool(enough and at["depth"] < self.workspace.table.order[0]["max_depth"])

    def _sort(self, leaf: Any) -> int:
        """Move the rows of a leaf that go left to its front, both sides keeping their order."""
        table = self.workspace.table
        begin, end, feature = int(leaf["begin"]), int(leaf["end"]), int(leaf["feature"])
        nan_code = int(table.features[feature]["n_bins"]) - 1 if leaf["nan_left"] else 256
        rows, (lefts, rights) = table.rows[begin:end], table.spare[:, begin:end]
        split = (table.columns[feature], int(leaf["bin"]), nan_code)
        chunks: list[tuple[int, int]] = []

        def sort(first: int, last: int) -> None:
            chunks.append((first, sort_range(first, last, *split, rows, lefts, rights)))

        over_chunks(sort, len(rows), smallest=_SORTED_ROWS)
        chunks.sort()
        n_left = sum(count for _, count in chunks)
        firsts = [first for first, _ in chunks] + [len(rows)]
        left_at, right_at = 0, n_left
        for (first, count), last in zip(chunks, firsts[1:], strict=True):
            n_rights = last - first - count
            rows[left_at : left_at + count] = lefts[first : first + count]
            rows[right_at : right_at + n_rights] = rights[first : first + n_rights]
            left_at, right_at = left_at + count, right_at + n_rights
        return n_left

    def _add(self, leaf: int) -> None:
        """The histogram of a leaf, over all peers."""
        table, blocks = self.workspace.table, self.workspace.table.blocks
        begin, end = int(table.leaves[leaf]["begin"]), int(table.leaves[leaf]["end"])
        ordered = table.ordered[begin:end]
        np.take(table.packed, table.rows[begin:end], out=ordered)
        n_parts = max(1, min(n_threads(), (end - begin) // _ADDED_ROWS))
        if len(self._scratch) < n_parts:
            self._scratch = np.zeros((n_parts, *self._scratch.shape[1:]), np.int64)

        def add(first: int, last: int) -> None:
            for task in range(first, last):
                part, b = divmod(task, len(blocks))
                top, bottom = (begin + (end - begin) * (part + k) // n_parts for k in range(2))
                sums, words = self._scratch[part, b], int(blocks[b]["n_words"])
                accumulate(table.words, blocks[b], 0, words, table.rows, table.ordered, top, bottom, sums)

        over_chunks(add, n_parts * len(blocks))
        sums = table.histograms[int(table.leaves[leaf]["slot"])]
        used = np.ones((n_parts, WORDS * len(blocks)), np.bool_)
        layout = (table.bytes_, table.seats, table.bin_start, self._scratch[:n_parts], used)
        # Taken from the slot that nobody reads: the parent has sums of all peers, these are our own.
        over_chunks(settle, len(table.bytes_), *layout, sums, table.histograms[-1], smallest=_SETTLED_BYTES)
        self.workspace.peers.add(sums)

    def _search(self, leaf: int) -> None:
        """The best split of a leaf, into its record."""
        table, terms = self.workspace.table, self.workspace.table.terms[0]
        at = table.leaves[leaf]
        bounds = (at["low"] / terms["value_unit"], at["high"] / terms["value_unit"])
        self._splits["feature"] = -1
        allowed = self._allowed(leaf)
        tables = (table.features, allowed, table.bin_start, table.histograms[int(at["slot"])], at["total"])
        room = (*self._room, self._splits)
        over_chunks(
            _search_features, len(table.features), *tables, bounds, terms, *room, smallest=_SEARCHED_FEATURES
        )
        found = self._splits[self._splits["feature"] >= 0]
        if len(found):
            best = found[np.lexsort((found["feature"], -found["gain"]))[0]]
            for name in best.dtype.names:
                at[name] = best[name]

    def _allowed(self, leaf: int) -> NDArray[np.bool_]:
        """Which features a leaf may be split on."""
        table = self.workspace.table
        if table.order[0]["is_limited"]:
            allow(table, leaf, table.allowed[0])
        allowed: NDArray[np.bool_] = table.allowed[0]
        return allowed

    def find_shared(self, n_cells: int) -> tuple[float, int, int, bool]:
        """The split that all cells share: its gain (0 if there is none), feature, bin, and NaN's side."""
        table, terms = self.workspace.table, self.workspace.table.terms[0]
        cells = table.leaves[:n_cells]
        own = [np.ascontiguousarray(cells[name]) for name in ("slot", "total", "low", "high")]
        sums = (table.bin_start, table.histograms, own[0].astype(np.int64), *own[1:], terms)
        tables = (table.features, self._allowed(0), *sums)  # all cells have the same features above them
        # In rising order of features: of equal gains the first is taken.
        found = over_chunks(search_shared, len(table.features), *tables, smallest=_SEARCHED_FEATURES)
        gain, split = max(found, key=lambda each: each[0], default=(0.0, (-1, -1, False)))
        return gain, *split

    def give_split(self, cell: int, feature: int, bin_: int, nan_left: bool) -> None:
        """Make a shared split the best of a cell, with the cell's own gain and sum on the left."""
        table = self.workspace.table
        leaf, (first, last) = table.leaves[cell], table.bin_start[feature : feature + 2]
        bins = table.histograms[int(leaf["slot"]), first:last]
        left_total = bins[: bin_ + 1].sum() + (bins[-1] if nan_left else 0)
        limits = (table.features[feature]["monotone"], leaf["low"], leaf["high"], table.terms[0])
        leaf["feature"], leaf["bin"], leaf["nan_left"] = feature, bin_, nan_left
        leaf["left_total"], leaf["gain"] = left_total, gain_of(left_total, leaf["total"], *limits)


class _SharedGrower(Grower):
    """A grower whose workspace holds one peer's documents."""

    def join(self, peers: Peers, numbers: NDArray[np.int64]) -> None:
        """Grow with these peers, of whose documents those here have these numbers."""
        self._workspace.peers, self._workspace.numbers = peers, numbers
        self._steps = SharedSteps(self._workspace)


class SharedLeafwiseGrower(_SharedGrower, LeafwiseGrower):
    """Leaf-wise growth by peers."""

    def __init__(
        self, bins: Bins, codes: Codes, rules: GrowthRules, peers: Peers, numbers: NDArray[np.int64]
    ) -> None:
        super().__init__(bins, codes, rules)
        self.join(peers, numbers)

    def _divide_leaves(self, workspace: Workspace) -> int:
        leaves, n_leaves, most = workspace.table.leaves, 1, workspace.rules.n_leaves
        self._steps.open_root(is_searched=True)
        while n_leaves < most:
            leaf = int(np.argmax(leaves["gain"][:n_leaves]))
            if not leaves[leaf]["gain"] > 0:
                break
            self._steps.divide(leaf, n_leaves, is_last=n_leaves + 1 == most, is_searched=True)
            n_leaves += 1
        return n_leaves


class SharedObliviousGrower(_SharedGrower, ObliviousGrower):
    """Oblivious growth by peers."""

    def __init__(
        self, bins: Bins, codes: Codes, rules: GrowthRules, peers: Peers, numbers: NDArray[np.int64]
    ) -> None:
        super().__init__(bins, codes, rules)
        self.join(peers, numbers)

    def _divide_leaves(self, workspace: Workspace) -> int:
        self._steps.open_root(is_searched=False)
        for depth in range(self._max_depth):
            n_cells, is_last = 1 << depth, depth + 1 == self._max_depth
            gain, feature, bin_, nan_left = self._steps.find_shared(n_cells)
            if not gain > 0:
                return n_cells
            for cell in range(n_cells):
                self._steps.give_split(cell, feature, bin_, nan_left)
            for cell in range(n_cells):
                self._steps.divide(cell, cell + n_cells, is_last=is_last, is_searched=False)
        return 1 << self._max_depth
