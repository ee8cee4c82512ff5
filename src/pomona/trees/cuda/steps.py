"""Steps that trees of both growths have in common, by all blocks together, or by one.

begin      gradients become packed integers, in the order of rows, and leaf 0 has all of them
finish     sums of gradients of every leaf, and the leaf of every document
"""

from __future__ import annotations

import math

import numpy as np

from pomona._cuda import cuda, kernel
from pomona._splitmix import GOLDEN, mix
from pomona.trees.cuda.divide import clear, first_task
from pomona.trees.cuda.split import count_of, hessian_of
from pomona.trees.cuda.table import (
    BEGIN,
    COUNT_BITS,
    DEPTH,
    END,
    GAIN,
    GRADIENT_LIMIT,
    GRADIENT_SCALE,
    GRADIENT_SHIFT,
    GRADIENTS,
    HALF,
    HESSIAN,
    HESSIAN_LIMIT,
    HESSIAN_SCALE,
    HESSIANS,
    HIGH,
    IS_BAG,
    LEAF_GRADIENT_SCALE,
    LEAF_HESSIAN_SCALE,
    LOW,
    MAX_DEPTH,
    MIN_DOCS,
    MIN_HESSIAN,
    N_BINS,
    N_BINS_AT_MOST,
    N_LEAVES,
    N_PAIRS,
    N_ROWS,
    NEGATIVE,
    NODE_BIN,
    NODE_COLUMN,
    NODE_LEFT,
    NODE_NAN_LEFT,
    NODE_RIGHT,
    PARENT,
    POSITIVE,
    SLOT,
    TICKET,
    TOTAL,
    code_of,
)

_mix = kernel(mix)
_UNIT = 1.0 / (1 << 24)
_SUMMED = 8  # rows of a thread whose leaf sums are added up together


@kernel
def _add_up(first, second, firsts, seconds):
    """Sums over the block's threads into firsts[0] and seconds[0], both (n_threads,) in shared memory."""
    t, reach = cuda.threadIdx.x, cuda.blockDim.x // 2
    firsts[t], seconds[t] = first, second
    cuda.syncthreads()
    while reach > 0:
        if t < reach:
            firsts[t] += firsts[t + reach]
            seconds[t] += seconds[t + reach]
        cuda.syncthreads()
        reach //= 2


@kernel
def _packed(row, gradient, hessian, seed, rules):
    """Gradient, hessian and 1 as rounded integers, as `trees.histogram` packs them."""
    z = _mix(seed + (np.uint64(row) + np.uint64(1)) * GOLDEN)
    up = np.float64(np.int64(z >> np.uint64(40))) * _UNIT
    down = np.float64(np.int64(z & np.uint64(0xFFFFFF))) * _UNIT
    # Scales are powers of two, so that the products are exact, fused or not.
    g = np.int64(math.floor(np.float64(gradient[row]) * rules[GRADIENT_SCALE] + up))
    h = np.int64(math.floor(np.float64(hessian[row]) * rules[HESSIAN_SCALE] + down))
    return g, h


@kernel
def _pack(gradient, hessian, seed, rules, rows, values, order, firsts, seconds):
    """Pack the documents to learn from, and add up what each field holds."""
    shift, count_bits = np.int64(rules[GRADIENT_SHIFT]), np.int64(rules[COUNT_BITS])
    positive, negative, hessians = np.int64(0), np.int64(0), np.int64(0)
    step = cuda.gridDim.x * cuda.blockDim.x
    for k in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, np.int64(rules[N_ROWS]), step):
        if rules[IS_BAG] == 0.0:
            rows[0, k] = k
        g, h = _packed(rows[0, k], gradient, hessian, seed, rules)
        values[0, k] = (g << shift) + (h << count_bits) + np.int64(1)
        if g > 0:
            positive += g
        else:
            negative -= g
        hessians += h
    _add_up(positive, negative, firsts, seconds)
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(order, POSITIVE, firsts[0])
        cuda.atomic.add(order, NEGATIVE, seconds[0])
    cuda.syncthreads()
    _add_up(hessians, hessians, firsts, seconds)
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(order, HESSIAN, firsts[0])


@kernel
def _is_out_of_range(order, rules):
    """Whether a sum left its field: then all is packed again by half the scale."""
    most = order[POSITIVE] if order[POSITIVE] > order[NEGATIVE] else order[NEGATIVE]
    return most > np.int64(rules[GRADIENT_LIMIT]) or order[HESSIAN] > np.int64(rules[HESSIAN_LIMIT])


@kernel
def _open_root(leaves, reals, order, rules):
    """Leaf 0 has all rows, by one thread."""
    n = np.int64(rules[N_ROWS])
    total = (order[POSITIVE] - order[NEGATIVE]) << np.int64(rules[GRADIENT_SHIFT])
    leaves[0, TOTAL] = total + (order[HESSIAN] << np.int64(rules[COUNT_BITS])) + n
    leaves[0, BEGIN], leaves[0, END], leaves[0, SLOT], leaves[0, HALF] = 0, n, 0, 0
    leaves[0, DEPTH], leaves[0, PARENT], leaves[0, GRADIENTS], leaves[0, HESSIANS] = 0, -1, 0, 0
    reals[0, LOW], reals[0, HIGH], reals[0, GAIN] = -np.inf, np.inf, 0.0
    order[N_LEAVES], order[N_PAIRS], order[TICKET] = 1, 0, 0


@kernel
def is_last_block(order, flag):
    """Whether all other blocks have come here before: what they wrote can then be read. flag (1,) shared."""
    cuda.threadfence()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        flag[0] = cuda.atomic.add(order, TICKET, np.int64(1))
    cuda.syncthreads()
    is_last = flag[0] == cuda.gridDim.x - 1
    if is_last:
        cuda.threadfence()
        if cuda.threadIdx.x == 0:
            order[TICKET] = 0
    cuda.syncthreads()
    return is_last


@kernel
def load_bins(leaf, small, column, leaves, histograms, bins):
    """A leaf's histogram of a column into shared memory; the larger side's: its parent's less `small`'s."""
    slot, taken = leaves[leaf, SLOT], leaves[small, SLOT]
    for b in range(cuda.threadIdx.x, N_BINS_AT_MOST, cuda.blockDim.x):
        value = histograms[slot, column, b]
        if slot != taken:
            value -= histograms[taken, column, b]
            histograms[slot, column, b] = value
        bins[b] = value
    cuda.syncthreads()


@kernel
def may_be_divided(leaf, leaves, rules):
    """Whether a leaf is large enough, and not too deep, for two children."""
    total = leaves[leaf, TOTAL]
    enough = count_of(total, rules) >= 2 * np.int64(rules[MIN_DOCS])
    enough = enough and hessian_of(total, rules) >= 2 * np.int64(rules[MIN_HESSIAN])
    return enough and leaves[leaf, DEPTH] < np.int64(rules[MAX_DEPTH])


@kernel
def _walk(row, leaves, columns, codes):
    """The leaf that a document falls into."""
    node = np.int64(0)
    while node >= 0:
        column = leaves[node, NODE_COLUMN]
        code = code_of(codes, column, row)
        is_left = code <= leaves[node, NODE_BIN] or (
            leaves[node, NODE_NAN_LEFT] and code == columns[column, N_BINS] - 1
        )
        node = leaves[node, NODE_LEFT] if is_left else leaves[node, NODE_RIGHT]
    return ~node


@kernel
def finish(gradient, hessian, rules, order, leaves, columns, codes, rows, n_docs, out_leaf, firsts, seconds):
    """Sums of the gradients and hessians of every leaf, and the leaf of every document, by all blocks."""
    t, n_threads = cuda.threadIdx.x, cuda.blockDim.x
    size, offset, n_leaves = _SUMMED * n_threads, 0, order[N_LEAVES]
    leaves[leaves.shape[0] - 1, 0] = n_leaves
    if rules[IS_BAG] != 0.0:
        step = cuda.gridDim.x * n_threads
        for row in range(cuda.blockIdx.x * n_threads + t, n_docs, step):
            out_leaf[row] = _walk(row, leaves, columns, codes) if n_leaves > 1 else 0
    for leaf in range(n_leaves):
        begin, end, half = leaves[leaf, BEGIN], leaves[leaf, END], leaves[leaf, HALF]
        n_tasks = (end - begin + size - 1) // size
        for task in range(first_task(offset), n_tasks, cuda.gridDim.x):
            gradients, hessians = np.int64(0), np.int64(0)
            first = begin + task * size
            for k in range(first + t, min(first + size, end), n_threads):
                row = rows[half, k]
                gradients += np.int64(round(np.float64(gradient[row]) * rules[LEAF_GRADIENT_SCALE]))
                hessians += np.int64(round(np.float64(hessian[row]) * rules[LEAF_HESSIAN_SCALE]))
                out_leaf[row] = leaf
            _add_up(gradients, hessians, firsts, seconds)
            if t == 0:
                cuda.atomic.add(leaves, (leaf, GRADIENTS), firsts[0])
                cuda.atomic.add(leaves, (leaf, HESSIANS), seconds[0])
            cuda.syncthreads()
        offset += n_tasks


@kernel
def begin(
    gradient, hessian, seed, rules, rows, values, histograms, leaves, reals, order, grid, firsts, seconds
):
    """Pack, and open the root; returns False where a sum left its field."""
    clear(0, histograms)
    _pack(gradient, hessian, seed, rules, rows, values, order, firsts, seconds)
    grid.sync()
    if _is_out_of_range(order, rules):
        leaves[leaves.shape[0] - 1, 0] = 0
        return False
    if cuda.blockIdx.x == 0 and cuda.threadIdx.x == 0:
        _open_root(leaves, reals, order, rules)
    grid.sync()
    return True
