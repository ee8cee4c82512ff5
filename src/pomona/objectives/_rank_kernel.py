"""Ranking a query every round: scores move little between two rounds, so the last ranking helps.

It only helps: whatever it was, the result is the ranking by descending score, equal scores in a fixed order.
"""

from __future__ import annotations

from pomona._jit import kernel


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
def rank_head(scores, shuffle, rows, keys, spare_rows):
    """Rank the best `rows.size` documents: the worst of the last head is a score that only few reach.

    scores (n,) · shuffle (n,) the order of equal scores · rows (m,) the last head, becomes the new one ·
    keys (m,) its scores · spare_rows (more than n,) room to work in.
    """
    lowest = scores[rows[0]]
    for i in range(rows.size):
        lowest = min(lowest, scores[rows[i]])
    count = 0
    for i in range(scores.size):
        spare_rows[count] = shuffle[i]
        count += scores[shuffle[i]] >= lowest
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
