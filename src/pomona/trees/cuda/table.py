"""The tables that the kernels of a tree share, as columns of plain arrays: a GPU reads no records.

A *column* here is a feature that is not constant, counted from the first of these; 16 columns are a *group*.

    codes       (n_groups, n_docs, 2) uint64      the bins of a document, eight to a word
    rows        (2, n_rows) int32                 documents, those of a node together; a division moves them
    values      (2, n_rows) int64                 … from half to half, with their packed gradients
    histograms  (n_slots, n_columns, 256) int64
    leaves      (n_leaves, 24) int64              nodes without children yet, and the inner nodes
    reals                                         the same memory as float64: their gains and bounds
    columns     (n_columns, 4) int32
    best        (n_columns, 2, 2) int64           the best split of a column, of both sides of a division
    gains       (n_columns, 2) float64            … and its gain
    order       (8,) int64                        what is to be done next
    rules       (19,) float64                     of growth, in units of the packed integers
"""

from __future__ import annotations

import numpy as np

from pomona._cuda import kernel

GROUP = 16
N_BINS_AT_MOST = 256
BYTE = np.uint64(255)

# leaves: rows, packed sum, histogram, place, half of `rows`, next free row, best split; inner nodes; sums.
(
    BEGIN, END, TOTAL, SLOT, DEPTH, PARENT, IS_RIGHT, HALF, CURSOR, LEFT_TOTAL, COLUMN, BIN, NAN_LEFT,
    NODE_COLUMN, NODE_BIN, NODE_NAN_LEFT, NODE_LEFT, NODE_RIGHT, GRADIENTS, HESSIANS,
) = range(20)  # fmt: skip

# reals: the columns behind those
GAIN, LOW, HIGH, NODE_GAIN = range(20, 24)
LEAF_WIDTH = 24

# columns
N_BINS, HAS_NAN, MONOTONE, ALLOWED = range(4)

# order: leaves FIRST + i are divided into themselves and NEW + i, for i below N_PAIRS; N_LEAVES there are.
N_PAIRS, FIRST, NEW, N_LEAVES, TICKET, POSITIVE, NEGATIVE, HESSIAN = range(8)
ORDER_SIZE = 8

# rules
(
    L2, MIN_DOCS, MIN_HESSIAN, COUNT_BITS, GRADIENT_SHIFT, GAIN_UNIT, VALUE_UNIT, MIN_GAIN, BOUNDED,
    MAX_DEPTH, MOST_LEAVES, N_ROWS, IS_BAG, GRADIENT_SCALE, HESSIAN_SCALE, LEAF_GRADIENT_SCALE,
    LEAF_HESSIAN_SCALE, GRADIENT_LIMIT, HESSIAN_LIMIT,
) = range(19)  # fmt: skip
RULES_SIZE = 19


@kernel
def code_of(codes, column, row):
    """The bin of a document."""
    word = codes[column // GROUP, row, column % GROUP // 8]
    return np.int64((word >> np.uint64(8 * (column % 8))) & BYTE)
