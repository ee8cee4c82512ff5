"""An oblivious tree in one launch: as leaf by leaf, but all cells of a level are divided together.

A block searches a column in all cells, one after the other, as their gains are added up in this order.
"""

from __future__ import annotations

import numpy as np

from pomona._cuda import cuda, kernel
from pomona.trees.cuda.divide import SHARED_WORDS, add_rows, clear, move_rows, open_children, smaller_side
from pomona.trees.cuda.split import NO_CODE, gain_of, least_gain, running_sums, tournament
from pomona.trees.cuda.steps import begin, finish, is_last_block, load_bins
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
def _search_shared(
    column, n_cells, leaves, reals, columns, rules, order, histograms, bins, sums, gains, codes, together,
    best, best_gains,
):  # fmt: skip
    """The bin at which a column gains most if all cells are divided there, by the whole block.

    together (2, 256) float64 in shared memory: gains with NaN to the right and to the left.
    """
    t, n_threads, unit = cuda.threadIdx.x, cuda.blockDim.x, rules[VALUE_UNIT]
    width, monotone = N_BINS_AT_MOST // n_threads, columns[column, MONOTONE]
    known, has_nan = columns[column, N_BINS] - columns[column, HAS_NAN], columns[column, HAS_NAN]
    for b in range(t * width, (t + 1) * width):
        together[0, b] = together[1, b] = 0.0
    any_nan = False
    for cell in range(n_cells):
        pair = cell % max(n_cells // 2, 1)
        small = smaller_side(pair, order, leaves) if n_cells > 1 else cell
        load_bins(cell, small, column, leaves, histograms, bins)
        running_sums(bins, sums, codes)
        nan = bins[known] if has_nan else np.int64(0)
        any_nan = any_nan or nan != 0
        total, low, high = leaves[cell, TOTAL], reals[cell, LOW] / unit, reals[cell, HIGH] / unit
        for nan_left in range(1 + has_nan):
            for b in range(t * width, min((t + 1) * width, known)):
                left = sums[b] + (nan if nan_left else np.int64(0))
                gain, is_allowed = gain_of(left, total, monotone, low, high, rules)
                if is_allowed:
                    together[nan_left, b] += gain
        cuda.syncthreads()
    gain, code = 0.0, NO_CODE
    n_ways = (2 if any_nan else 1) if columns[column, ALLOWED] else 0
    for nan_left in range(n_ways):
        for b in range(t * width, min((t + 1) * width, known)):
            if together[nan_left, b] > gain:
                gain, code = together[nan_left, b], np.int64(nan_left * N_BINS_AT_MOST + b)
    tournament(gain, code, gains, codes, 1)
    if t == 0:
        best[column, 0, 0], best_gains[column, 0] = codes[0], gains[0]
    cuda.syncthreads()


@kernel
def _divide_cell(cell, n_cells, column, code, leaves, reals, columns, rules, histograms):
    """Give a cell the shared split, with its own gain and left sum, and open its children, by one thread."""
    slot, bin_, nan_left = leaves[cell, SLOT], code % N_BINS_AT_MOST, code // N_BINS_AT_MOST
    left = np.int64(0)
    for b in range(bin_ + 1):
        left += histograms[slot, column, b]
    if nan_left:
        left += histograms[slot, column, columns[column, N_BINS] - 1]
    leaves[cell, COLUMN], leaves[cell, BIN], leaves[cell, NAN_LEFT] = column, bin_, nan_left
    leaves[cell, LEFT_TOTAL] = left
    low, high = reals[cell, LOW] / rules[VALUE_UNIT], reals[cell, HIGH] / rules[VALUE_UNIT]
    gain, _ = gain_of(left, leaves[cell, TOTAL], columns[column, MONOTONE], low, high, rules)
    reals[cell, GAIN] = gain * rules[GAIN_UNIT]
    open_children(cell, cell + n_cells, leaves, reals, columns, rules)


@kernel
def _settle_level(n_cells, leaves, reals, columns, rules, histograms, best, best_gains, gains, codes, order):
    """Open the children of all cells by the best split of all columns, by the whole block."""
    t, n_threads, unit = cuda.threadIdx.x, cuda.blockDim.x, rules[VALUE_UNIT]
    least = 0.0
    for cell in range(t, n_cells, n_threads):
        other = least_gain(leaves[cell, TOTAL], reals[cell, LOW] / unit, reals[cell, HIGH] / unit, rules)
        least = max(least, other)
    tournament(least, np.int64(0), gains, codes, 1)
    gain, code = gains[0], NO_CODE
    cuda.syncthreads()
    for column in range(t, best.shape[0], n_threads):
        if best[column, 0, 0] < NO_CODE and best_gains[column, 0] > gain:
            gain, code = best_gains[column, 0], np.int64(column)
    tournament(gain, code, gains, codes, 1)
    column = codes[0]
    gain = gains[0] * rules[GAIN_UNIT]
    if t == 0:
        order[N_PAIRS] = 0
    cuda.syncthreads()
    if column < NO_CODE and gain > 0.0:
        for cell in range(t, n_cells, n_threads):
            _divide_cell(cell, n_cells, column, best[column, 0, 0], leaves, reals, columns, rules, histograms)
        if t == 0:
            order[N_PAIRS], order[FIRST], order[NEW] = n_cells, 0, n_cells
            order[N_LEAVES] = 2 * n_cells
    cuda.syncthreads()


@kernel(launched=True, registers=128)
def grow_oblivious(
    codes, gradient, hessian, seed, all_rules, columns, rows, values, histograms, leaves, reals, best,
    best_gains, order, out_leaf,
):  # fmt: skip
    """Grow a tree whose levels share a split each."""
    sums32 = cuda.shared.array(SHARED_WORDS, np.uint32)
    bins = cuda.shared.array(N_BINS_AT_MOST, np.int64)
    sums = cuda.shared.array(N_BINS_AT_MOST, np.int64)
    keys = cuda.shared.array(N_BINS_AT_MOST, np.int64)
    gains = cuda.shared.array(N_BINS_AT_MOST, np.float64)
    together = cuda.shared.array((2, N_BINS_AT_MOST), np.float64)
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
    add_rows(np.int64(0), 0, leaves, codes, rows, values, histograms, sums32)
    grid.sync()
    n_columns, n_cells, most = best.shape[0], np.int64(1), np.int64(rules[MOST_LEAVES])
    while n_cells < most:
        for column in range(cuda.blockIdx.x, n_columns, cuda.gridDim.x):
            _search_shared(
                column, n_cells, leaves, reals, columns, rules, order, histograms, bins, sums, gains, keys,
                together, best, best_gains,
            )  # fmt: skip
        if is_last_block(order, places):
            _settle_level(
                n_cells, leaves, reals, columns, rules, histograms, best, best_gains, gains, keys, order
            )
        grid.sync()
        if order[N_PAIRS] == 0:
            break
        offset = 0
        for pair in range(n_cells):
            clear(order[NEW] + pair, histograms)
            offset = move_rows(
                pair, offset, order, leaves, columns, codes, rows, values, sums32, counts, places
            )
        grid.sync()
        if 2 * n_cells < most:
            offset = 0
            for pair in range(n_cells):
                small = smaller_side(pair, order, leaves)
                offset = add_rows(small, offset, leaves, codes, rows, values, histograms, sums32)
            grid.sync()
        n_cells *= 2
    finish(gradient, hessian, rules, order, leaves, columns, codes, rows, gradient.size, out_leaf, bins, sums)
