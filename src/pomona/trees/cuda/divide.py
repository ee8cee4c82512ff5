"""Dividing nodes on a GPU: documents move to their side, and the smaller side's histogram is added up.

How many go left is known beforehand, from the split's packed sum. So blocks move their documents to the other
half of `rows` at once, each claiming room on both sides by an atomic addition: their order there is anybody's
guess, but all that is ever made of them are integer sums.

A block adds up 16 columns in shared memory. Packed 64-bit values are added as two 32-bit halves with a carry,
as 64-bit atomics in shared memory are five times slower; threads start at different columns, so that popular
bins do not queue.
"""

from __future__ import annotations

import numpy as np

from pomona._cuda import cuda, kernel
from pomona.trees.cuda.split import count_of, middle_value
from pomona.trees.cuda.table import (
    BEGIN,
    BIN,
    BYTE,
    COLUMN,
    CURSOR,
    DEPTH,
    END,
    FIRST,
    GAIN,
    GRADIENTS,
    GROUP,
    HALF,
    HESSIANS,
    HIGH,
    IS_RIGHT,
    LEFT_TOTAL,
    LOW,
    MONOTONE,
    N_BINS,
    N_BINS_AT_MOST,
    NAN_LEFT,
    NEW,
    NODE_BIN,
    NODE_COLUMN,
    NODE_GAIN,
    NODE_LEFT,
    NODE_NAN_LEFT,
    NODE_RIGHT,
    PARENT,
    SLOT,
    TOTAL,
    code_of,
)

SHARED_SUMS = GROUP * N_BINS_AT_MOST
SHARED_WORDS = 2 * SHARED_SUMS
_SORTED = 4  # rows of a thread that move together
_ADDED = 2  # rows of a thread that are worth a block's sums of their own

_LOW_HALF = np.uint64(0xFFFFFFFF)


@kernel
def first_task(offset):
    """The first task of this block, where a step's tasks are dealt out from block `offset` on."""
    n_blocks = cuda.gridDim.x
    return (cuda.blockIdx.x + n_blocks - offset % n_blocks) % n_blocks


@kernel
def open_children(leaf, new, leaves, reals, columns, rules):
    """As `trees.divide.open_children`, by one thread; also says where rows of both children are to go."""
    # All that is read comes first: a load that could depend on a store before it would wait for it.
    node, half, slot, depth = new - 1, leaves[leaf, HALF], leaves[leaf, SLOT], leaves[leaf, DEPTH] + 1
    column, left_total, total = leaves[leaf, COLUMN], leaves[leaf, LEFT_TOTAL], leaves[leaf, TOTAL]
    bin_, nan_left, gain = leaves[leaf, BIN], leaves[leaf, NAN_LEFT], reals[leaf, GAIN]
    parent, is_right = leaves[leaf, PARENT], leaves[leaf, IS_RIGHT]
    begin, end = leaves[leaf, BEGIN], leaves[leaf, END]
    low, high, monotone = reals[leaf, LOW], reals[leaf, HIGH], columns[column, MONOTONE]
    n_left = count_of(left_total, rules)
    leaves[node, NODE_COLUMN], leaves[node, NODE_BIN], leaves[node, NODE_NAN_LEFT] = column, bin_, nan_left
    leaves[node, NODE_LEFT], leaves[node, NODE_RIGHT], reals[node, NODE_GAIN] = ~leaf, ~new, gain
    if parent >= 0:
        leaves[parent, NODE_RIGHT if is_right else NODE_LEFT] = node
    is_left_small = 2 * n_left <= end - begin
    leaves[leaf, SLOT] = new if is_left_small else slot
    leaves[new, SLOT] = slot if is_left_small else new
    leaves[leaf, DEPTH] = leaves[new, DEPTH] = depth
    leaves[leaf, END] = leaves[new, BEGIN] = leaves[new, CURSOR] = begin + n_left
    leaves[new, END], leaves[leaf, CURSOR] = end, begin
    leaves[leaf, HALF] = leaves[new, HALF] = 1 - half
    leaves[leaf, TOTAL], leaves[new, TOTAL] = left_total, total - left_total
    leaves[leaf, PARENT] = leaves[new, PARENT] = node
    leaves[leaf, IS_RIGHT], leaves[new, IS_RIGHT] = 0, 1
    leaves[new, GRADIENTS] = leaves[new, HESSIANS] = 0
    reals[new, LOW], reals[new, HIGH] = low, high
    if monotone != 0:
        between = middle_value(left_total, total, low, high, rules)
        if monotone > 0:
            reals[leaf, HIGH] = reals[new, LOW] = between
        else:
            reals[leaf, LOW] = reals[new, HIGH] = between


@kernel
def smaller_side(pair, order, leaves):
    """The smaller of the two children: its histogram has the new slot."""
    left, right = order[FIRST] + pair, order[NEW] + pair
    return left if leaves[left, SLOT] == right else right


@kernel
def move_rows(pair, offset, order, leaves, columns, codes, rows, values, stash, counts, places):
    """Move the documents of a divided leaf to their sides; returns the offset of the next tasks.

    stash (any,) uint32, counts (2,) int32, places (2,) int64 : in shared memory.
    """
    t, n_threads = cuda.threadIdx.x, cuda.blockDim.x
    left, right = order[FIRST] + pair, order[NEW] + pair
    begin, end, target = leaves[left, BEGIN], leaves[right, END], leaves[left, HALF]
    column, bin_ = leaves[right - 1, NODE_COLUMN], leaves[right - 1, NODE_BIN]
    nan_code = np.int64(columns[column, N_BINS] - 1 if leaves[right - 1, NODE_NAN_LEFT] else 256)
    size = _SORTED * n_threads
    n_tasks = (end - begin + size - 1) // size
    for task in range(first_task(offset), n_tasks, cuda.gridDim.x):
        first = begin + task * size
        last = min(first + size, end)
        if t < 2:
            counts[t] = 0
        cuda.syncthreads()
        for k in range(first + t, last, n_threads):
            code = code_of(codes, column, rows[1 - target, k])
            side = 0 if code <= bin_ or code == nan_code else 1
            place = cuda.atomic.add(counts, side, np.int32(1))
            stash[k - first] = np.uint32(2 * place + side)
        cuda.syncthreads()
        if t < 2:
            places[t] = cuda.atomic.add(leaves, (left if t == 0 else right, CURSOR), np.int64(counts[t]))
        cuda.syncthreads()
        for k in range(first + t, last, n_threads):
            place = np.int64(stash[k - first])
            at = places[place & 1] + (place >> 1)
            rows[target, at], values[target, at] = rows[1 - target, k], values[1 - target, k]
        cuda.syncthreads()
    return offset + n_tasks


@kernel
def add_rows(leaf, offset, leaves, codes, rows, values, histograms, sums):
    """Add a leaf's documents to its histogram, which is 0 before; returns the offset of the next tasks.

    sums (SHARED_WORDS,) uint32 : in shared memory, low halves and then high ones.
    """
    t, n_threads = cuda.threadIdx.x, cuda.blockDim.x
    begin, end, half, slot = leaves[leaf, BEGIN], leaves[leaf, END], leaves[leaf, HALF], leaves[leaf, SLOT]
    n_groups, n_columns = codes.shape[0], histograms.shape[1]
    n_parts = min(max(cuda.gridDim.x // n_groups, 1), (end - begin) // (_ADDED * n_threads) + 1)
    for task in range(first_task(offset), n_parts * n_groups, cuda.gridDim.x):
        group, part = task % n_groups, task // n_groups
        width = min(GROUP, n_columns - group * GROUP)
        for i in range(t, SHARED_WORDS, n_threads):
            sums[i] = np.uint32(0)
        cuda.syncthreads()
        last = begin + (end - begin) * (part + 1) // n_parts
        for k in range(begin + (end - begin) * part // n_parts + t, last, n_threads):
            row, value = rows[half, k], np.uint64(values[half, k])
            low, high = np.uint32(value & _LOW_HALF), np.uint32(value >> np.uint64(32))
            word, other_word = codes[group, row, 0], codes[group, row, 1]
            for s in range(GROUP):
                c = (s + t) % GROUP
                if c < width:
                    shifted = (word if c < 8 else other_word) >> np.uint64(8 * (c % 8))
                    at = c * N_BINS_AT_MOST + np.int64(shifted & BYTE)
                    before = cuda.atomic.add(sums, at, low)
                    carried = high
                    if np.uint32(before + low) < before:
                        carried = np.uint32(high + np.uint32(1))
                    if carried != np.uint32(0):
                        cuda.atomic.add(sums, SHARED_SUMS + at, carried)
        cuda.syncthreads()
        for i in range(t, width * N_BINS_AT_MOST, n_threads):
            total = np.int64(sums[i]) + (np.int64(sums[SHARED_SUMS + i]) << np.int64(32))
            if total != 0:
                at = (slot, group * GROUP + i // N_BINS_AT_MOST, i % N_BINS_AT_MOST)
                cuda.atomic.add(histograms, at, total)
        cuda.syncthreads()
    return offset + n_parts * n_groups


@kernel
def clear(slot, histograms):
    """Set a histogram to 0, by all blocks."""
    n_columns = histograms.shape[1]
    step = cuda.gridDim.x * cuda.blockDim.x
    for i in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, n_columns * N_BINS_AT_MOST, step):
        histograms[slot, i // N_BINS_AT_MOST, i % N_BINS_AT_MOST] = 0
