"""The leaves of documents that a tree did not learn from: bags, and samples, leave some out.

They are divided as the tree was, some thousands at a time, without a branch to guess: a third of the time
that walking down the tree with one after the other takes.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel
from pomona.trees.divide import sort_range

_ROWS = 1 << 12  # their numbers stay in the cache


@kernel
def divide_rest(first, last, columns, features, nodes, out_leaf):
    """The leaves of documents that have none yet (out_leaf < 0): those that were not learnt from.

    columns, features, nodes as in `divide.Table`.
    """
    rows, spare = np.empty(_ROWS, np.int32), np.empty(_ROWS, np.int32)
    begins, ends = np.empty(nodes.size, np.int64), np.empty(nodes.size, np.int64)
    for top in range(first, last, _ROWS):
        begins[0], ends[0] = 0, 0
        for row in range(top, min(top + _ROWS, last)):
            rows[ends[0]] = row
            ends[0] += out_leaf[row] < 0
        for node in range(nodes.size):  # parents come first
            at, begin, end = nodes[node], begins[node], ends[node]
            nan_code = features[at["feature"]]["n_bins"] - 1 if at["nan_left"] else 256
            column = columns[at["feature"]]
            middle = begin + sort_range(begin, end, column, at["bin"], nan_code, rows, rows, spare)
            for k in range(end - middle):
                rows[middle + k] = spare[begin + k]
            for child, start, stop in ((at["left"], begin, middle), (at["right"], middle, end)):
                if child >= 0:
                    begins[child], ends[child] = start, stop
                else:
                    for k in range(start, stop):
                        out_leaf[rows[k]] = ~child
