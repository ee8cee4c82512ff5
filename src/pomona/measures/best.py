"""RankLib's Best@k.   Best@k = the greatest label among the first k documents"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pomona._jit import kernel
from pomona._types import Values
from pomona.measures.base import Measure
from pomona.measures.conventions import NOT_NEGATIVE, judged_levels
from pomona.measures.lists import RankedLists


@kernel
def _best(first, last, codes, query_ptr, levels, depth, out):
    for q in range(first, last):
        begin = query_ptr[q]
        best = -1
        for r in range(min(query_ptr[q + 1] - begin, depth)):
            best = max(best, codes[begin + r])
        out[q] = max(levels[best], 0.0) if best >= 0 else 0.0


@kernel
def _expected_best(first, last, codes, query_ptr, block_end, levels, depth, out):
    """In the block that rank k cuts, the best of a draw is below a level by a hypergeometric chance."""
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        cut = begin + min(end - begin, depth)
        floor = -1
        at = begin
        while at < cut and block_end[at] <= cut:
            floor = max(floor, codes[at])
            at += 1
        low = max(levels[floor], 0.0) if floor >= 0 else 0.0
        if at >= cut:
            out[q] = low
            continue
        m, drawn = block_end[at] - at, cut - at
        counts = np.zeros(levels.size, np.int64)
        for i in range(at, block_end[at]):
            counts[codes[i]] += 1
        expected, above, at_most = 0.0, 0, 1.0
        for level in range(levels.size - 1, -1, -1):
            above += counts[level]
            below = 1.0  # the chance that all drawn lie below this level
            for i in range(drawn):
                below *= max(m - above - i, 0) / (m - i)
            expected += (at_most - below) * max(max(levels[level], 0.0), low)
            at_most = below
        out[q] = expected


@dataclass(frozen=True, kw_only=True)
class Best(Measure):
    """Best: the greatest label among the first k documents.

    >>> Best(k=2).of_query([0, 1, 2])
    1.0
    """

    name: ClassVar[str] = "best"
    user_model: ClassVar[str] = "none"
    enumerates_ties: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"ranklib": {"labels": NOT_NEGATIVE}}

    def of_lists(self, lists: RankedLists) -> Values:
        """Look at the first k of every list."""
        return lists.each_ranking(
            _best, _expected_best, judged_levels(lists.levels), self.depth(lists.longest)
        )
