"""Dividing nodes: documents move to their side, histograms of both follow, and so do their best splits.

A node is a range of `rows`: dividing it moves the documents that go left to its front, both sides keeping
their order, then adds up the histogram of the *smaller* side and takes it from the parent's, which thereby
becomes the larger side's. Each is a step of a team (`_team.py`), cut into tasks:

    SORT     ranges of rows, each into its lefts and its rights
    PLACE    the same ranges, to where they belong
    ADD      groups of words × parts of the smaller side, into sums of whoever does it
    SETTLE   groups of words: sums become histograms, and both sides are searched for splits
    SHARED   features: the split that all cells of a level share (oblivious trees)

A step is a kernel `(task, table, order)` that is compiled by itself and called by its address; so are
`SEARCH`, the splits of one side, `RUN`, a step from beginning to end, `FILL`, the two steps that make
histograms, `LIMIT`, what features nodes may be split on, where that differs from node to node, and `SETS` and
`SORT_SET`, which search and divide by sets of categories. What is not used is not compiled.

Threads that add up the same words have to bring their sums together, which takes longer than adding up a
small side: there each takes words of its own, all rows of them, and settles them at once.

Sums are of integers, so neither the number of tasks nor who does them changes a bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pomona._beside import compile_beside
from pomona._jit import address_of, call, kernel, type_of, types
from pomona._team import lead, tasks
from pomona._types import Offsets
from pomona.trees.allowed import limit, limit_level
from pomona.trees.categories import search_sets, sort_by_set
from pomona.trees.codes import BLOCK_WIDTH
from pomona.trees.histogram import PARTS, WORDS, accumulate, settle
from pomona.trees.split import CANDIDATE, may_be_divided, middle_value, no_split, search, search_shared

SPLIT = np.dtype(CANDIDATE, align=True)

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
"""A node without children yet: rows, packed sum, bounds of its value, histogram, place and best split.

A split on categories has the bin -1, and its set in `Table.sets`.
"""

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

ORDER = np.dtype(
    [
        ("begin", np.int64),
        ("end", np.int64),
        ("leaf", np.int64),
        ("small", np.int64),
        ("large", np.int64),
        ("n_tasks", np.int64),
        ("n_parts", np.int64),
        ("n_words", np.int64),
        ("n_cells", np.int64),
        ("max_depth", np.int64),
        ("by_level", np.float64),
        ("by_node", np.float64),
        ("seed", np.uint64),
        ("smoothing", np.float64),
        ("is_limited", np.bool_),
        ("has_sets", np.bool_),
        ("is_root", np.bool_),
        ("is_searched", np.bool_),
    ],
    align=True,
)
"""What the step at hand is about, and what features nodes may be split on (`allowed.py`)."""

SORT, PLACE, ADD, SETTLE, SHARED, SEARCH, RUN, FILL, LIMIT, SETS, SORT_SET = range(11)
N_ADDRESSES = 11

NO_SIBLING = -1
"""The large side of the root, which has no parent to take its histogram from."""

# The least a task is worth taking, some 5 µs: rows to sort, sums to add to, bins to search.
_SORTED_ROWS = 1 << 12
_ADDED = 1 << 14
_SEARCHED_BINS = 1 << 12
# Rows that are worth fetching for one word alone; four times as many for two, and so on: halving the words of
# a task reads rows twice as often, doubling them leaves twice as many sums to be brought together.
_ROWS_OF_WORD = 5000


class Table(NamedTuple):
    """All that the kernels of growing work on."""

    board: NDArray[np.int64]
    """Of the team."""
    columns: NDArray[np.uint8]
    """(n_features, n_docs) codes"""
    words: NDArray[np.uint64]
    blocks: NDArray[np.void]
    bytes_: NDArray[np.void]
    seats: NDArray[np.void]
    features: NDArray[np.void]
    """(n_features,) FEATURE"""
    bin_start: Offsets
    """(n_features + 1,) where a feature's bins begin in a histogram"""
    allowed: NDArray[np.bool_]
    """(2, n_features) what the smaller and the larger side may be split on (oblivious trees: the level)"""
    groups: NDArray[np.uint64]
    """(n_features, n_words) of interactions"""
    paths: NDArray[np.uint64]
    """(n_leaves, 1 + n_words) seed of a leaf's draw, and the groups that its path leaves open"""
    terms: NDArray[np.void]
    """(1,) TERMS"""
    packed: NDArray[np.int64]
    """(n_docs,) gradient, hessian and count in one"""
    rows: NDArray[np.int32]
    """Documents, those of a node together."""
    ordered: NDArray[np.int64]
    """`packed` of `rows`, of the smaller side of the last division."""
    spare: NDArray[np.int32]
    """(2, n_rows) where rows are sorted to"""
    scratch: NDArray[np.int64]
    """(n_threads, n_blocks, SCRATCH) sums that are being added up, zero in between"""
    histograms: NDArray[np.int64]
    """(n_leaves + 1, all bins); the last belongs to no leaf"""
    leaves: NDArray[np.void]
    nodes: NDArray[np.void]
    sets: NDArray[np.uint64]
    """(n_leaves, 4) bits of the bins that a split on categories sends left"""
    node_sets: NDArray[np.uint64]
    """The same of divided nodes."""
    n_left: NDArray[np.int64]
    """(n_ranges at most,) documents of each sorted range that go left"""
    is_used: NDArray[np.bool_]
    """(n_threads, n_blocks · WORDS) which words of a thread's sums have been added to"""
    best_splits: NDArray[np.void]
    """(n_tasks, 2) SPLIT, the best of each task for both sides"""
    order: NDArray[np.void]
    """(1,) ORDER"""
    addresses: NDArray[np.int64]
    """(N_ADDRESSES,) where the kernels of the steps, and of what leads through them, are"""


@kernel
def _cut(begin, end, n_parts, part):
    """Where part of a range begins."""
    return begin + (end - begin) * part // n_parts


@kernel
def sort_range(first, last, codes, bin_, nan_code, rows, out_left, out_right):
    """Lay rows[first:last] that go left into out_left[first:], the others into out_right[first:], in order.

    codes (n_docs,) of the feature, NaN's the highest. Returns how many go left. Both are written for every
    row and only one counter moves: no branch to guess. `out_left` may be `rows` itself. Counters without a
    sign: numba would look at each whether it counts from the end.
    """
    n, n_right = np.uint64(last - first), np.uint64(0)
    some, left, right = rows[first:last], out_left[first:last], out_right[first:last]
    # What goes right lies between the bin and NaN: one comparison, as what is below becomes large.
    low, width = np.uint8(bin_ + 1), np.uint64(nan_code - bin_ - 1)
    for k in range(n):
        row = some[k]
        left[k - n_right], right[n_right] = row, row
        n_right += np.uint64(np.uint64(np.uint8(codes[np.uint64(row)] - low)) < width)
    return np.int64(n - n_right)


@kernel(by_address=True)
def _sort(task, table, order):
    at = table.leaves[order["leaf"]]
    if at["bin"] < 0:
        call(table.addresses[SORT_SET], task, table, order)
        return
    nan_code = table.features[at["feature"]]["n_bins"] - 1 if at["nan_left"] else 256
    first = _cut(order["begin"], order["end"], order["n_tasks"], task)
    last = _cut(order["begin"], order["end"], order["n_tasks"], task + 1)
    lefts = table.rows if order["n_tasks"] == 1 else table.spare[0]
    split = (table.columns[at["feature"]], at["bin"], nan_code)
    table.n_left[task] = sort_range(
        first, last, split[0], split[1], split[2], table.rows, lefts, table.spare[1]
    )


@kernel
def _copy(source, out):
    """A loop: numba's assignments to slices carry messages of shapes that differ, a second of compiling."""
    for k in range(out.size):
        out[k] = source[k]


@kernel(by_address=True)
def _place(task, table, order):
    """Move a sorted range to its place in `rows`; the lefts of a single range are in place already.

    The packed values of the smaller side are fetched into `ordered`, aligned with `rows`.
    """
    begin, end, n_ranges, rows = order["begin"], order["end"], order["n_tasks"], table.rows
    all_left, before, lefts = np.int64(0), np.int64(0), table.n_left[task]
    for other in range(n_ranges):
        all_left += table.n_left[other]
        before += table.n_left[other] if other < task else 0
    source = _cut(begin, end, n_ranges, task)
    rights = _cut(begin, end, n_ranges, task + 1) - source - lefts
    left_at, right_at = begin + before, source + all_left - before
    if n_ranges > 1:
        _copy(table.spare[0, source : source + lefts], rows[left_at : left_at + lefts])
    _copy(table.spare[1, source : source + rights], rows[right_at : right_at + rights])
    at, size = (left_at, lefts) if 2 * all_left <= end - begin else (right_at, rights)
    some, ordered = rows[at : at + size], table.ordered[at : at + size]
    for k in range(size):
        ordered[k] = table.packed[np.uint64(some[k])]


@kernel
def _words_of(group, n_words, blocks):
    """A group of up to `n_words` words of a block, and those before them: block, first word, last word."""
    in_block = (WORDS + n_words - 1) // n_words
    b, first = group // in_block, group % in_block * n_words
    return b, first, min(first + n_words, blocks[b]["n_words"])


@kernel
def _count_groups(n_words, blocks):
    """How many groups of up to `n_words` words the blocks have."""
    others = (blocks.size - 1) * ((WORDS + n_words - 1) // n_words)
    return others + (blocks[blocks.size - 1]["n_words"] + n_words - 1) // n_words


@kernel(by_address=True)
def _add(signed, table, order):
    n_parts = order["n_parts"]
    member, task = signed // order["n_tasks"], signed % order["n_tasks"]
    group, part = task // n_parts, task % n_parts
    b, begin_word, end_word = _words_of(group, order["n_words"], table.blocks)
    if n_parts == 1:
        member = np.int64(0)
    else:
        for w in range(begin_word, end_word):
            table.is_used[member, b * WORDS + w] = True
    first = _cut(order["begin"], order["end"], n_parts, part)
    last = _cut(order["begin"], order["end"], n_parts, part + 1)
    # The rows of the root are all documents in order, or `ordered` was filled in.
    values, out = table.packed if order["is_root"] else table.ordered, table.scratch[member, b]
    accumulate(table.words, table.blocks[b], begin_word, end_word, table.rows, values, first, last, out)
    if n_parts == 1:
        call(table.addresses[SETTLE], group, table, order)


@kernel
def _bytes_of(group, table, order):
    """The range of bytes of a group of words."""
    b, first, last = _words_of(group, order["n_words"], table.blocks)
    start = b * BLOCK_WIDTH
    return start + 8 * first, min(start + 8 * last, table.bytes_.size)


@kernel(by_address=True)
def _search(task, table, order):
    """The best split of the smaller side (task ~n: the larger) on the features seated in the task's bytes."""
    side = np.int64(task < 0)
    number = ~task if side else task
    first, last = _bytes_of(number, table, order)
    leaf = table.leaves[order["large"] if side else order["small"]]
    out = table.best_splits[number, side]
    terms, unit = table.terms[0], table.terms[0]["value_unit"]
    low, high = leaf["low"] / unit, leaf["high"] / unit
    no_split(leaf["total"], low, high, terms, out)
    if not may_be_divided(leaf, order["max_depth"], terms):
        return
    sums, gains = np.empty(257, np.int64), np.empty(257)
    bins = table.histograms[leaf["slot"]]
    for s in range(table.bytes_[first]["first_seat"], table.bytes_[last - 1]["last_seat"]):
        f = table.seats[s]["feature"]
        if table.allowed[side, f] and not table.features[f]["is_category"]:
            feature_bins = bins[table.bin_start[f] : table.bin_start[f + 1]]
            search(f, table.features[f], feature_bins, leaf["total"], low, high, terms, sums, gains, out)


@kernel(by_address=True)
def _settle(task, table, order):
    first, last = _bytes_of(task, table, order)
    small, large = table.leaves[order["small"]], table.leaves[order["large"]]
    sibling = table.histograms.shape[0] - 1 if order["large"] == NO_SIBLING else large["slot"]
    settle(
        first, last, table.bytes_, table.seats, table.bin_start, table.scratch, table.is_used,
        table.histograms[small["slot"]], table.histograms[sibling],
    )  # fmt: skip
    if order["is_searched"]:
        call(table.addresses[SEARCH], task, table, order)
        if order["large"] != NO_SIBLING:
            call(table.addresses[SEARCH], ~task, table, order)


@kernel(by_address=True)
def _search_shared(task, table, order):
    n_cells, n_features = order["n_cells"], table.features.size
    totals, lows, highs = np.empty(n_cells, np.int64), np.empty(n_cells), np.empty(n_cells)
    slots = np.empty(n_cells, np.int64)
    for c in range(n_cells):
        totals[c], slots[c] = table.leaves[c]["total"], table.leaves[c]["slot"]
        lows[c], highs[c] = table.leaves[c]["low"], table.leaves[c]["high"]
    first = n_features * task // order["n_tasks"]
    last = n_features * (task + 1) // order["n_tasks"]
    gain, split = search_shared(
        first, last, table.features, table.allowed[0], table.bin_start, table.histograms, slots, totals, lows,
        highs, table.terms[0],
    )  # fmt: skip
    out = table.best_splits[task, 0]
    out["gain"], out["feature"], out["bin"], out["nan_left"] = gain, split[0], split[1], split[2]


@kernel(by_address=True)
def _run(step, table, order):
    """One step of `n_tasks`, by the whole team if there is more than one."""
    address, n_tasks = table.addresses[step], order["n_tasks"]
    if n_tasks == 1 or table.scratch.shape[0] == 1:
        for task in range(n_tasks):
            call(address, task, table, order)
        return
    # When histograms are added up, a task comes with the number of who does it.
    function, arguments = tasks(address, n_tasks if step == ADD else np.int64(0), table, order)
    lead(table.board, function, arguments, n_tasks)


@kernel
def _tasks(most, work, least):
    """Into how many tasks to cut so much work, none below the least."""
    return max(1, min(most, work // least))


@kernel
def _best_of(splits, out):
    """The best split of all tasks; of equal gains, that on the lowest feature."""
    best = splits[0]
    for task in range(1, splits.size):
        other = splits[task]
        if other["feature"] >= 0 and (
            best["feature"] < 0
            or other["gain"] > best["gain"]
            or (other["gain"] == best["gain"] and other["feature"] < best["feature"])
        ):
            best = other
    out["gain"] = best["gain"] if best["feature"] >= 0 else 0.0
    out["left_total"], out["feature"] = best["left_total"], best["feature"]
    out["bin"], out["nan_left"] = best["bin"], best["nan_left"]


@kernel(by_address=True)
def _fill(unused, table, order):
    """The histogram of the smaller side, and thereby of the larger; if asked, their best splits."""
    leaves, blocks, n_threads = table.leaves, table.blocks, table.scratch.shape[0]
    small, large = order["small"], order["large"]
    order["begin"], order["end"] = leaves[small]["begin"], leaves[small]["end"]
    n_rows, n_words = order["end"] - order["begin"], (table.bytes_.size + 7) // 8
    own = max(1, min(WORDS, (n_words + n_threads - 1) // n_threads))  # words of a task, if all have their own
    shared, most = np.int64(1), n_threads
    while shared < WORDS and _ROWS_OF_WORD * shared * shared < n_rows:
        shared *= 2
    if shared > 1:
        most *= PARTS
    if shared == WORDS:
        most *= blocks.size
    order["n_words"] = max(own, shared) if n_threads > 1 else WORDS
    n_groups = _count_groups(order["n_words"], blocks)
    work = n_rows * table.bytes_.size // n_groups
    order["n_parts"] = _tasks(most // n_groups, work, np.int64(_ADDED)) if n_threads > 1 else 1
    order["n_tasks"] = order["n_parts"] * n_groups
    if order["is_searched"] and order["is_limited"]:
        call(table.addresses[LIMIT], np.int64(0), table, order)
    for member in range(n_threads):
        for w in range(table.is_used.shape[1]):
            table.is_used[member, w] = False
    call(table.addresses[RUN], np.int64(ADD), table, order)
    if order["n_parts"] > 1:
        order["n_words"] = own
        order["n_tasks"] = n_groups = _count_groups(own, blocks)
        call(table.addresses[RUN], np.int64(SETTLE), table, order)
    if order["is_searched"]:
        _best_of(table.best_splits[:n_groups, 0], leaves[small])
        if large != NO_SIBLING:
            _best_of(table.best_splits[:n_groups, 1], leaves[large])
        if order["has_sets"]:
            call(table.addresses[SETS], np.int64(0), table, order)


@kernel
def open_root(table):
    """The histogram of leaf 0, and its best split if asked for."""
    order = table.order[0]
    if table.bytes_.size == 0:
        table.leaves[0]["gain"] = 0.0
        return
    order["small"], order["large"] = 0, NO_SIBLING
    call(table.addresses[FILL], np.int64(0), table, order)
    order["is_root"] = False


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
def divide(table, leaf, new, is_last):
    """Divide a leaf by its best split into itself and leaf `new`; the last needs no histograms."""
    order, leaves = table.order[0], table.leaves
    order["leaf"], order["begin"], order["end"] = leaf, leaves[leaf]["begin"], leaves[leaf]["end"]
    n_ranges = _tasks(table.n_left.size, order["end"] - order["begin"], np.int64(_SORTED_ROWS))
    order["n_tasks"] = n_ranges
    call(table.addresses[RUN], np.int64(SORT), table, order)
    call(table.addresses[RUN], np.int64(PLACE), table, order)
    n_left = np.int64(0)
    for part in range(n_ranges):
        n_left += table.n_left[part]
    if leaves[leaf]["bin"] < 0:
        for w in range(table.sets.shape[1]):
            table.node_sets[new - 1, w] = table.sets[leaf, w]
    order["small"], order["large"] = open_children(
        leaves, leaf, new, n_left, table.features, table.terms, table.nodes
    )
    if not is_last:
        call(table.addresses[FILL], np.int64(0), table, order)


@kernel
def find_shared(table, n_cells):
    """The split that all cells share into best_splits[0, 0], gain 0 if there is none."""
    order = table.order[0]
    n_tasks = _tasks(table.scratch.shape[0], n_cells * table.bin_start[-1], np.int64(_SEARCHED_BINS))
    n_tasks = max(1, min(n_tasks, table.features.size))
    order["n_tasks"], order["n_cells"] = n_tasks, n_cells
    if order["is_limited"]:
        call(table.addresses[LIMIT], np.int64(0), table, order)
    call(table.addresses[RUN], np.int64(SHARED), table, order)
    _best_of(table.best_splits[:n_tasks, 0], table.best_splits[0, 0])


def find_addresses(table: Table, is_oblivious: bool) -> None:
    """Compile, or load, the kernels that are called by their addresses; what is not used is left out."""
    own = {SHARED: _search_shared} if is_oblivious else {SEARCH: _search}
    steps = {SORT: _sort, PLACE: _place, ADD: _add, SETTLE: _settle, RUN: _run, FILL: _fill, **own}
    if table.order[0]["is_limited"]:
        steps[LIMIT] = limit_level if is_oblivious else limit
    if table.order[0]["has_sets"]:
        steps |= {SETS: search_sets, SORT_SET: sort_by_set}
    kinds = types.int64, type_of(table), type_of(table.order[0])
    for step in reversed(steps.values()):
        compile_beside(step, *kinds)
    for number, step in steps.items():
        table.addresses[number] = address_of(step, *kinds)
