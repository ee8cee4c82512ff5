"""A leaf-wise tree in one launch: all blocks go through its steps together, waiting for each other.

add        documents of the smaller side, into its histogram
search     every column: the larger side's histogram by subtraction, and the best split of both sides
settle     the last block to finish its search compares columns and leaves, and opens the next children
move       documents of the divided leaf to their sides
"""

from __future__ import annotations

import numpy as np

from pomona._cuda import cuda, kernel
from pomona.trees.cuda.divide import SHARED_WORDS, add_rows, clear, move_rows, open_children, smaller_side
from pomona.trees.cuda.split import NO_CODE, gain_of, least_gain, running_sums, tournament
from pomona.trees.cuda.steps import begin, finish, is_last_block, load_bins, may_be_divided
from pomona.trees.cuda.table import (
    ALLOWED,
    BIN,
    COLUMN,
    FIRST,
    GAIN,
    GAIN_UNIT,
    HAS_NAN,
    HIGH,
    LEFT_TOTAL,
    LOW,
    MONOTONE,
    MOST_LEAVES,
    N_BINS,
    N_BINS_AT_MOST,
    N_LEAVES,
    N_PAIRS,
    NAN_LEFT,
    NEW,
    RULES_SIZE,
    SLOT,
    TOTAL,
    VALUE_UNIT,
)


@kernel
def _search_column(
    leaf, side, column, leaves, reals, columns, rules, bins, sums, gains, codes, best, best_gains
):
    """The best split of a leaf on a column with histogram `bins`, by the whole block."""
    t, n_threads = cuda.threadIdx.x, cuda.blockDim.x
    gain, code, n_ways = 0.0, NO_CODE, 0
    total, unit = leaves[leaf, TOTAL], rules[VALUE_UNIT]
    low, high, monotone = reals[leaf, LOW] / unit, reals[leaf, HIGH] / unit, columns[column, MONOTONE]
    known = columns[column, N_BINS] - columns[column, HAS_NAN]
    nan = bins[known] if columns[column, HAS_NAN] else np.int64(0)
    if columns[column, ALLOWED] and may_be_divided(leaf, leaves, rules):
        n_ways = 1 if nan == 0 else 2
    running_sums(bins, sums, codes)
    width = N_BINS_AT_MOST // n_threads
    for nan_left in range(n_ways):
        for b in range(t * width, min((t + 1) * width, known)):
            if bins[b] != 0:
                left = sums[b] + (nan if nan_left else np.int64(0))
                found, is_allowed = gain_of(left, total, monotone, low, high, rules)
                if is_allowed and found > gain:
                    gain, code = found, np.int64(nan_left * N_BINS_AT_MOST + b)
    tournament(gain, code, gains, codes, 1)
    if t == 0:
        code = codes[0]
        best[column, side, 0] = code
        if code < NO_CODE:
            best_gains[column, side] = gains[0] * rules[GAIN_UNIT]
            added = nan if code >= N_BINS_AT_MOST else np.int64(0)
            best[column, side, 1] = sums[code % N_BINS_AT_MOST] + added
    cuda.syncthreads()


@kernel
def _settle_leaves(left, right, n_sides, leaves, reals, rules, best, best_gains, gains, codes):
    """The best splits of both sides over all columns, of equals that on the first, by the whole block."""
    t, unit = cuda.threadIdx.x, rules[VALUE_UNIT]
    side = t % 2
    leaf = left if side == 0 else right
    least = least_gain(leaves[leaf, TOTAL], reals[leaf, LOW] / unit, reals[leaf, HIGH] / unit, rules)
    gain, code = least * rules[GAIN_UNIT], NO_CODE
    if side < n_sides:
        for column in range(t // 2, best.shape[0], cuda.blockDim.x // 2):
            if best[column, side, 0] < NO_CODE and best_gains[column, side] > gain:
                gain, code = best_gains[column, side], np.int64(column)
    tournament(gain, code, gains, codes, 2)
    if t < n_sides:
        column = codes[t]
        reals[leaf, GAIN] = gains[t] if column < NO_CODE else 0.0
        if column < NO_CODE:
            split, left_total = best[column, side, 0], best[column, side, 1]
            leaves[leaf, COLUMN], leaves[leaf, LEFT_TOTAL] = column, left_total
            leaves[leaf, BIN], leaves[leaf, NAN_LEFT] = split % N_BINS_AT_MOST, split // N_BINS_AT_MOST
    cuda.syncthreads()


@kernel
def _choose_leaf(leaves, reals, columns, order, rules, gains, codes):
    """Open the children of the leaf whose split gains most, of equals the first, by the whole block."""
    n_leaves = order[N_LEAVES]
    gain, code = 0.0, NO_CODE
    for leaf in range(cuda.threadIdx.x, n_leaves, cuda.blockDim.x):
        if reals[leaf, GAIN] > gain:
            gain, code = reals[leaf, GAIN], np.int64(leaf)
    tournament(gain, code, gains, codes, 1)
    if cuda.threadIdx.x == 0:
        leaf = codes[0]
        order[N_PAIRS] = 0
        if leaf < NO_CODE and n_leaves < np.int64(rules[MOST_LEAVES]):
            open_children(leaf, n_leaves, leaves, reals, columns, rules)
            order[N_PAIRS], order[FIRST], order[NEW] = 1, leaf, n_leaves
            order[N_LEAVES] = n_leaves + 1
    cuda.syncthreads()


@kernel(launched=True, registers=128)
def grow_leafwise(
    codes, gradient, hessian, seed, all_rules, columns, rows, values, histograms, leaves, reals, best,
    best_gains, order, out_leaf,
):  # fmt: skip
    """Grow a tree, dividing the leaf whose split gains most."""
    sums32 = cuda.shared.array(SHARED_WORDS, np.uint32)
    bins = cuda.shared.array(N_BINS_AT_MOST, np.int64)
    sums = cuda.shared.array(N_BINS_AT_MOST, np.int64)
    keys = cuda.shared.array(N_BINS_AT_MOST, np.int64)
    gains = cuda.shared.array(N_BINS_AT_MOST, np.float64)
    places = cuda.shared.array(2, np.int64)
    counts = cuda.shared.array(2, np.int32)
    rules = cuda.shared.array(RULES_SIZE, np.float64)
    for i in range(cuda.threadIdx.x, RULES_SIZE, cuda.blockDim.x):
        rules[i] = all_rules[i]
    cuda.syncthreads()
    grid = cuda.cg.this_grid()
    if not begin(
        gradient, hessian, seed, rules, rows, values, histograms, leaves, reals, order, grid, bins, sums
    ):
        return
    n_columns, most = best.shape[0], np.int64(rules[MOST_LEAVES])
    small, left, right, n_sides = np.int64(0), np.int64(0), np.int64(0), 1
    while order[N_LEAVES] < most or n_sides == 1:
        add_rows(small, 0, leaves, codes, rows, values, histograms, sums32)
        grid.sync()
        for task in range(cuda.blockIdx.x, n_sides * n_columns, cuda.gridDim.x):
            side, column = task % n_sides, task // n_sides
            leaf = left if side == 0 else right
            load_bins(leaf, small, column, leaves, histograms, bins)
            _search_column(
                leaf, side, column, leaves, reals, columns, rules, bins, sums, gains, keys, best, best_gains
            )
        if is_last_block(order, places):
            _settle_leaves(left, right, n_sides, leaves, reals, rules, best, best_gains, gains, keys)
            _choose_leaf(leaves, reals, columns, order, rules, gains, keys)
        grid.sync()
        if order[N_PAIRS] == 0:
            break
        left, right, n_sides = order[FIRST], order[NEW], 2
        small = smaller_side(0, order, leaves)
        clear(leaves[small, SLOT], histograms)
        move_rows(0, 0, order, leaves, columns, codes, rows, values, sums32, counts, places)
        grid.sync()
    finish(gradient, hessian, rules, order, leaves, columns, codes, rows, gradient.size, out_leaf, bins, sums)
