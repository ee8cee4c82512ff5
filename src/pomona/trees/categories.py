"""Splits on categories: documents whose category is in a set go left, all others right.

With sums G, H over a set and its complement, GL²/(HL+λ) + GR²/(HR+λ) is convex in (GL, HL), so that the best
of all 2^k sets is found among those that begin the categories in the order of ΣG/ΣH (Fisher 1958; Breiman et
al. 1984, 4.2): k sets to try. The ΣG/ΣH of a rare category is chance. So, as in LightGBM, categories with
fewer than s documents in the node are in no set, and the others are smoothed by s documents of the node's
mean hessian h and no gradient:

    order by ΣG / (ΣH + s·h),      gain as with λ + s·h

A node with up to four categories is divided by one against the others instead, without smoothing.

What is in no set goes right: undefined values, and categories that are rare, or unknown. Where a node has
none of these, the set is that of the side with fewer documents.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona.trees.split import bounded_score, large_enough, least_gain, may_be_divided, unpack

N_WORDS = 4
"""A set of bins has a bit for each of 256."""

_ONE_BY_ONE = 4  # categories, as LightGBM's max_cat_to_onehot
_ONE = np.uint64(1)


@kernel
def _holds(bins, code):
    """Whether a set has a bin."""
    return (bins[code >> 6] >> np.uint64(code & 63)) & _ONE != 0


@kernel
def _sort_categories(bins, terms, smoothing, codes, keys):
    """codes (n,) ascending by ΣG / (ΣH + smoothing), then by code; keys (n,) room for these."""
    for i in range(codes.size):
        code = codes[i]
        gradient, hessian, _ = unpack(bins[code], terms)
        below = hessian + smoothing
        key = gradient / below if below > 0 else 0.0
        at = i
        while at > 0 and keys[at - 1] > key:
            keys[at], codes[at] = keys[at - 1], codes[at - 1]
            at -= 1
        keys[at], codes[at] = key, code


@kernel
def _gain(left, total, low, high, l2, terms):
    """The gain of a set in units of the integers, 0 if it leaves a side too small."""
    if not (large_enough(left, terms) and large_enough(total - left, terms)):
        return 0.0
    gradient, hessian, _ = unpack(total, terms)
    gl, hl, _ = unpack(left, terms)
    score = bounded_score(gl, hl, l2, low, high)
    score += bounded_score(gradient - gl, hessian - hl, l2, low, high)
    return score - bounded_score(gradient, hessian, l2, low, high)


@kernel
def search_set(f, feature, bins, terms, smoothing, leaf, out_set):
    """Put the best set of categories of feature `f`, with histogram `bins`, into a leaf if it is better.

    leaf : its best split so far, gain 0 if it has none · out_set (4,) bits of bins, of the split of the leaf.
    """
    total, unit = leaf["total"], terms["value_unit"]
    low, high = leaf["low"] / unit, leaf["high"] / unit
    codes, keys = np.empty(bins.size, np.int64), np.empty(bins.size)
    n_found = 0
    for code in range(feature["n_bins"] - feature["has_nan"]):
        n_found += bins[code] != 0
    by_one = n_found <= _ONE_BY_ONE
    smoothing = 0.0 if by_one else smoothing
    n, defined = 0, np.int64(0)
    for code in range(feature["n_bins"] - feature["has_nan"]):
        if bins[code] != 0 and unpack(bins[code], terms)[2] >= smoothing:
            codes[n] = code
            n += 1
            defined += bins[code]
    _, hessian, count = unpack(total, terms)
    smoothing *= hessian / count
    _sort_categories(bins, terms, smoothing, codes[:n], keys)
    has_others, l2 = defined != total, terms["l2"] + smoothing
    best = least_gain(total, low, high, terms)
    first, last, left_total = 0, 0, np.int64(0)
    if by_one:
        for i in range(n):
            gain = _gain(bins[codes[i]], total, low, high, l2, terms)
            if gain > best:
                best, first, last, left_total = gain, i, i + 1, bins[codes[i]]
    # From both ends, where what is in no set is always on the other side; all categories against it too.
    for end in range(1 + has_others):
        left = np.int64(0)
        for i in range(n):
            left += bins[codes[n - 1 - i if end else i]]
            gain = _gain(left, total, low, high, l2, terms) if not by_one or i == n - 1 else 0.0
            if gain > best:
                best, left_total = gain, left
                first, last = (n - 1 - i, n) if end else (0, i + 1)
    gain = best * terms["gain_unit"]
    if last == 0 or not (gain > leaf["gain"] or (gain == leaf["gain"] and f < leaf["feature"])):
        return
    is_turned = not has_others and 2 * unpack(left_total, terms)[2] > count
    for w in range(out_set.size):
        out_set[w] = 0
    for i in range(n):
        if (first <= i < last) != is_turned:
            out_set[codes[i] >> 6] |= _ONE << np.uint64(codes[i] & 63)
    leaf["gain"], leaf["left_total"] = gain, total - left_total if is_turned else left_total
    leaf["feature"], leaf["bin"], leaf["nan_left"] = f, -1, False


@kernel(by_address=True)
def search_sets(unused, table, order):
    """The step that gives both sides of a division their best sets, if these gain more than thresholds."""
    for side in range(2):
        number = order["large"] if side else order["small"]
        if number < 0:  # the root has no sibling
            continue
        leaf, out = table.leaves[number], table.sets[number]
        terms, smoothing = table.terms[0], order["smoothing"]
        if may_be_divided(leaf, order["max_depth"], terms):
            for f in range(table.features.size):
                if table.features[f]["is_category"] and table.allowed[side, f]:
                    bins = table.histograms[leaf["slot"], table.bin_start[f] : table.bin_start[f + 1]]
                    search_set(f, table.features[f], bins, terms, smoothing, leaf, out)


@kernel(by_address=True)
def sort_by_set(task, table, order):
    """The step SORT of a leaf whose split is a set."""
    begin, end, n_tasks, rows = order["begin"], order["end"], order["n_tasks"], table.rows
    first, last = begin + (end - begin) * task // n_tasks, begin + (end - begin) * (task + 1) // n_tasks
    codes, bins = table.columns[table.leaves[order["leaf"]]["feature"]], table.sets[order["leaf"]]
    left, right = rows[first:last] if n_tasks == 1 else table.spare[0, first:last], table.spare[1, first:last]
    n_left, n_right = 0, 0
    for k in range(first, last):
        row = rows[k]
        left[n_left], right[n_right] = row, row
        to_left = _holds(bins, codes[row])
        n_left += to_left
        n_right += not to_left
    table.n_left[task] = n_left


@kernel
def walk_rest(first, last, columns, features, nodes, sets, out_leaf):
    """The leaves of documents that have none yet (out_leaf < 0): sets (n_nodes, 4), of nodes with bin -1."""
    for row in range(first, last):
        if out_leaf[row] < 0:
            node = np.int32(0)
            while node >= 0:
                at = nodes[node]
                code = columns[at["feature"], row]
                if at["bin"] < 0:
                    to_left = _holds(sets[node], code)
                else:
                    is_nan_left = at["nan_left"] and code == features[at["feature"]]["n_bins"] - 1
                    to_left = code <= at["bin"] or is_nan_left
                node = at["left"] if to_left else at["right"]
            out_leaf[row] = ~node


def members_of_bins(bins: NDArray[np.uint64], values: NDArray[np.float32]) -> NDArray[np.int64]:
    """The categories of a set of bins, whose values these are.

    >>> members_of_bins(np.array([0b101, 0, 0, 0], np.uint64), np.array([3, 5, 8], np.float32)).tolist()
    [3, 8]
    """
    bits = np.unpackbits(np.ascontiguousarray(bins).view(np.uint8), bitorder="little")
    members: NDArray[np.int64] = values[bits[: len(values)] == 1].astype(np.int64)
    return members
