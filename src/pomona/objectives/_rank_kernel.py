"""Ranking a query every round: scores move little between two rounds, so the last ranking helps.

It only helps: whatever it was, the result is the ranking by descending score, equal scores in a fixed order.
Of a few documents each is compared with all: that takes 3 µs less than sorting 41 of them whose scores have
moved much, as noise moves them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pomona._jit import intrinsic, ir, kernel, types

_LANES = 16
_FEW = 128  # documents whose ranks are counted: comparing each with all, in vectors, has no branch to guess


@intrinsic
def _n_before(typing_context: Any, keys: Any, start: Any, key: Any, mask: Any) -> Any:
    """How many of `keys[start : start + 16]` are above a key, or equal to it with their bit in the mask."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, start, key, mask = arguments
        lanes, bits = ir.VectorType(ir.DoubleType(), _LANES), ir.IntType(_LANES)
        place = builder.gep(context.make_array(signature.args[0])(context, builder, array).data, [start])
        others = builder.load(builder.bitcast(place, lanes.as_pointer()), align=8)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
        first = builder.insert_element(ir.Constant(lanes, ir.Undefined), key, ir.IntType(32)(0))
        all_key = builder.shuffle_vector(first, ir.Constant(lanes, ir.Undefined), zeros)
        above, equal = (
            builder.bitcast(builder.fcmp_ordered(sign, others, all_key), bits) for sign in (">", "==")
        )
        before = builder.or_(above, builder.and_(equal, builder.trunc(mask, bits)))
        return builder.zext(builder.ctpop(before), ir.IntType(64))

    return types.int64(keys, types.int64, types.float64, types.int64), write


@kernel
def _count_ranks(scores, candidates, spare_keys, out_rows, out_keys):
    """The best `out_rows.size` of the candidates, best first, equals in the candidates' order."""
    n, m = candidates.size, out_rows.size
    for i in range(n):
        spare_keys[i] = scores[candidates[i]]
    for i in range(n, n + _LANES):
        spare_keys[i] = -np.inf
    for i in range(n):
        key, rank, own = spare_keys[i], np.int64(0), i // _LANES * _LANES
        for start in range(0, own, _LANES):
            rank += _n_before(spare_keys, start, key, np.int64(-1))
        rank += _n_before(spare_keys, own, key, (np.int64(1) << (i - own)) - np.int64(1))
        for start in range(own + _LANES, n, _LANES):
            rank += _n_before(spare_keys, start, key, np.int64(0))
        if rank < m:
            out_rows[rank], out_keys[rank] = candidates[i], key


@kernel
def _select(scores, candidates, out_rows, out_keys):
    """The best `out_rows.size` of the candidates, best first, equals in the candidates' order."""
    m = out_rows.size
    for i in range(candidates.size):
        row = candidates[i]
        key = scores[row]
        j = min(i, m - 1)
        if i >= m and not key > out_keys[j]:
            continue
        while j > 0 and out_keys[j - 1] < key:
            out_keys[j], out_rows[j] = out_keys[j - 1], out_rows[j - 1]
            j -= 1
        out_keys[j], out_rows[j] = key, row


@kernel
def _find_candidates(scores, shuffle, rows, out):
    """Documents with a score that the worst of the last head has too, in the order of equals: how many."""
    lowest = scores[rows[0]]
    for i in range(rows.size):
        lowest = min(lowest, scores[rows[i]])
    count = 0
    for i in range(scores.size):
        out[count] = shuffle[i]
        count += scores[shuffle[i]] >= lowest
    return count


@kernel
def rank_head(scores, shuffle, rows, keys, spare_rows):
    """Rank the best `rows.size` documents: the worst of the last head is a score that only few reach.

    scores (n,) · shuffle (n,) the order of equal scores · rows (m,) the last head, becomes the new one ·
    keys (m,) its scores · spare_rows (more than n,) room to work in.
    """
    count = _find_candidates(scores, shuffle, rows, spare_rows)
    _select(scores, spare_rows[:count], rows, keys)


@kernel
def _stands_above(key, row, other_key, other_row, place):
    return key > other_key or (key == other_key and place[row] < place[other_row])


@kernel
def rank_all(scores, place, rows, keys, spare_keys, spare_rows):
    """Rank all documents: insertion sort of runs of 64, then merging; where all is in order, both only look.

    scores (n,) · place (n,) of each document in the order of equal scores · rows (n,) the last ranking,
    becomes the new one · keys (n,) its scores · spare_… (n,) room to work in.
    """
    n = scores.size
    for a in range(0, n, 64):
        for i in range(a, min(a + 64, n)):
            row = rows[i]
            key = scores[row]
            j = i
            while j > a and _stands_above(key, row, keys[j - 1], rows[j - 1], place):
                keys[j], rows[j] = keys[j - 1], rows[j - 1]
                j -= 1
            keys[j], rows[j] = key, row
    width = 64
    while width < n:
        for a in range(0, n - width, 2 * width):
            middle, end = a + width, min(a + 2 * width, n)
            if _stands_above(keys[middle - 1], rows[middle - 1], keys[middle], rows[middle], place):
                continue
            for i in range(width):
                spare_keys[i], spare_rows[i] = keys[a + i], rows[a + i]
            i, j, t = 0, middle, a
            while i < width and j < end:
                if _stands_above(keys[j], rows[j], spare_keys[i], spare_rows[i], place):
                    keys[t], rows[t] = keys[j], rows[j]
                    j += 1
                else:
                    keys[t], rows[t] = spare_keys[i], spare_rows[i]
                    i += 1
                t += 1
            for rest in range(i, width):
                keys[t + rest - i], rows[t + rest - i] = spare_keys[rest], spare_rows[rest]
        width *= 2


@kernel
def rank(scores, shuffle, place, rows, keys, spare_keys, spare_rows):
    """Rank the best `rows.size` documents, or all, by what is fastest for so many.

    As `rank_head` and `rank_all`; spare_… (n + 16,) room to work in.
    """
    n, m = scores.size, rows.size
    if m == n and n > _FEW:
        rank_all(scores, place, rows, keys, spare_keys, spare_rows)
    elif m == n:
        _count_ranks(scores, shuffle, spare_keys, rows, keys)
    else:
        count = _find_candidates(scores, shuffle, rows, spare_rows)
        if count <= _FEW:
            _count_ranks(scores, spare_rows[:count], spare_keys, rows, keys)
        else:
            _select(scores, spare_rows[:count], rows, keys)
