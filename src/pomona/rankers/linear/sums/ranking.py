"""Ranking every query again and again while the scores move: the order of its documents, best first."""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Offsets, Scores
from pomona.data.rows import read_only
from pomona.measures.lists import longest_query
from pomona.objectives._rank_kernel import rank_all


@kernel
def _rank(first, last, scores, query_ptr, place, order):
    """order (n_docs,) int32: rows counted from their query's first; the last ranking becomes the new one."""
    longest = longest_query(first, last, query_ptr)
    keys, spare_keys, spare_rows = np.empty(longest), np.empty(longest), np.empty(longest, np.int32)
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        rank_all(scores[begin:end], place[begin:end], order[begin:end], keys, spare_keys, spare_rows)


class Ranking:
    """The queries of a dataset, to be ranked by ever new scores; the last ranking makes the next one faster.

    Equal scores stand in the order of the rows, or in a random one (LETOR files are often sorted by label).

    >>> Ranking(np.array([0, 2, 4])).by(np.array([1.0, 2.0, 7.0, 7.0]))
    array([1, 0, 2, 3])
    """

    def __init__(self, query_ptr: Offsets, random: np.random.Generator | None = None) -> None:
        lengths = np.diff(query_ptr)
        self._query_ptr = query_ptr
        self._begins = np.repeat(query_ptr[:-1], lengths)
        rows = np.arange(query_ptr[-1])
        if random is not None:
            rows = shuffled(query_ptr, random)
        self._order = (rows - self._begins).astype(np.int32)
        self._place = np.empty(len(rows), np.int32)
        self._place[rows] = np.arange(len(rows)) - self._begins

    def by(self, scores: Scores) -> Offsets:
        """The rows in ranked order, query by query."""
        lists = read_only(scores), read_only(self._query_ptr), self._place, self._order
        over_chunks(_rank, len(self._query_ptr) - 1, *lists, smallest=16)
        rows: Offsets = self._begins + self._order
        return rows


def shuffled(query_ptr: Offsets, random: np.random.Generator) -> Offsets:
    """The rows of each query in random order, so that documents that tie do not tell by their order."""
    lengths = np.diff(query_ptr)
    return np.lexsort((random.random(int(query_ptr[-1])), np.repeat(np.arange(len(lengths)), lengths)))
