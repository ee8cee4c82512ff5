"""Judging the same documents by the same measure, round after round, while a ranker learns.

What does not depend on the scores (codes of labels, ideal rankings) is prepared once. A sum over the first k
ranks needs those ranks only, and the last round's are nearly the next one's: documents below the worst of
them are passed over with one comparison. The values are those of `evaluate`, to the last bit.
"""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.measures.base import Measure
from pomona.measures.conventions import convention_named
from pomona.measures.judge import judge, sum_in_order
from pomona.measures.lists import Judged, RankedLists
from pomona.measures.position import PositionMeasure
from pomona.objectives._rank_kernel import rank_head

_DEEPEST_HEAD = 64  # beyond, sorting everything takes no longer


@kernel
def _sum_heads(first, last, scores, query_ptr, codes, value, numerator, divisor, heads, out):
    """As `position.sum_over_ranks`, of documents that are yet to be ranked.

    heads (n_queries, depth) : the best documents of the last call, become those of this one.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, query_ptr[q + 1] - query_ptr[q])
    in_order, spare = np.arange(longest), np.empty(longest + 1, np.int64)
    keys = np.empty(numerator.size)
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        depth = min(end - begin, numerator.size)
        total = 0.0
        if depth > 0:
            head, own_codes = heads[q, :depth], codes[begin:end]
            rank_head(scores[begin:end], in_order[: end - begin], head, keys[:depth], spare)
            for r in range(depth):
                total += value[own_codes[head[r]]] * numerator[r] / divisor[r]
        out[q] = total


class Referee:
    """Knows the documents and the measure, and is asked for the mean at ever new scores.

    >>> from pomona import Dataset, measure
    >>> data = Dataset([[0.0], [0.0], [0.0]], [0, 2, 1], [1, 1, 1])
    >>> referee = Referee(data, measure("p@2"))
    >>> referee.mean(np.array([3.0, 2.0, 1.0])), referee.mean(np.array([1.0, 2.0, 3.0]))
    (0.5, 1.0)
    """

    def __init__(self, data: Dataset, measure: Measure) -> None:
        self._measure = measure
        self._judged = Judged(data.y, np.zeros(data.n_docs), data.query_ptr, data.doc_ids)
        self._heads = _Heads(self._judged.ranked(), measure) if _is_sum_over_head(measure) else None

    def mean(self, scores: Scores) -> float:
        """The mean of the measure over all queries."""
        if self._heads is None:
            return judge(self._judged.rescored(scores), [self._measure])[0].mean
        values = self._heads.values(scores)
        return sum_in_order(values) / len(values)


def _is_sum_over_head(measure: Measure) -> TypeGuard[PositionMeasure]:
    """Whether the first few ranks, with equal scores in input order, are all that the measure looks at."""
    return (
        isinstance(measure, PositionMeasure)
        and type(measure).of_lists is PositionMeasure.of_lists
        and type(measure).sums is PositionMeasure.sums
        and measure.tie_rule == "stable"
        and convention_named(measure.convention).score_type is np.float64
        and measure.depth(_DEEPEST_HEAD + 1) <= _DEEPEST_HEAD
    )


class _Heads:
    """The first ranks of every query.

    lists : all documents in input order.
    """

    def __init__(self, lists: RankedLists, measure: PositionMeasure) -> None:
        self._measure, self._query_ptr = measure, lists.query_ptr
        weights = measure.weights(measure.depth(lists.longest))
        self._rules = (lists.codes, measure.values(lists.levels), *weights)
        self._normalizer = measure.normalizer(lists)
        self._rows = np.tile(np.arange(len(self._rules[-1])), (lists.n_queries, 1))

    def values(self, scores: Scores) -> Values:
        """The measure of every query."""
        sums = np.empty(len(self._rows))
        own = (self._query_ptr, *self._rules, self._rows)
        over_chunks(_sum_heads, len(sums), scores, *own, sums, smallest=512)
        return self._measure.over_normalizer(sums, self._normalizer)
