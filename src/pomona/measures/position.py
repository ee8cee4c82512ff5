"""Position measures: M = Σ_r value(label at r) · weight(r) / normalizer(query).

DCG, NDCG, precision, recall, RBP, WTA and SeznamRank differ only in those three, so they share one
kernel, one closed form for tied scores (McSherry & Najork 2008: a tied block contributes the mean of its
values times the sum of its weights) and one for swaps, (v_b − v_a)(w_a − w_b) / normalizer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pomona._jit import kernel
from pomona._types import Values
from pomona.measures.base import Measure
from pomona.measures.lists import RankedLists


@kernel
def sum_over_ranks(first, last, codes, query_ptr, value, numerator, divisor, out):
    """value (n_levels,) · numerator, divisor (depth,) weights of ranks 1..depth, 0 beyond."""
    for q in range(first, last):
        begin = query_ptr[q]
        depth = min(query_ptr[q + 1] - begin, numerator.size)
        ranked = codes[begin : begin + depth]
        total = 0.0
        for r in range(depth):
            total += value[ranked[r]] * numerator[r] / divisor[r]
        out[q] = total


@kernel
def _expected_sum(first, last, codes, query_ptr, block_end, value, numerator, divisor, out):
    """As `sum_over_ranks`, for the mean over all orders within blocks of ties."""
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        depth = min(end - begin, numerator.size)
        total = 0.0
        at = begin
        while at < begin + depth:
            stop = block_end[at]
            values, weights = 0.0, 0.0
            for i in range(at, stop):
                values += value[codes[i]]
                if i < begin + depth:
                    weights += numerator[i - begin] / divisor[i - begin]
            total += values / (stop - at) * weights
            at = stop
        out[q] = total


@dataclass(frozen=True, kw_only=True)
class PositionMeasure(Measure):
    """A measure that adds up what each rank holds."""

    def values(self, levels: Values) -> Values:
        """What a document of each distinct label is worth."""
        raise NotImplementedError

    def weights(self, n: int) -> tuple[Values, Values]:
        """The weights of ranks 1..n (or fewer, if the others are 0) as (numerator, divisor)."""
        raise NotImplementedError

    def normalizer(self, lists: RankedLists) -> Values:
        """What each query's sum is divided by; infinity makes it 0, and 0 gives `empty_value`."""
        return np.ones(lists.n_queries)

    @property
    def empty_value(self) -> float:
        """The value of a query whose normalizer is 0."""
        return 0.0

    def depth(self, n: int) -> int:
        """How many of n ranks count."""
        return n if self.k is None else min(self.k, n)

    def of_lists(self, lists: RankedLists) -> Values:
        """Sums over ranks, divided by the normalizer."""
        return self.over_normalizer(self.sums(lists), self.normalizer(lists))

    def over_normalizer(self, sums: Values, normalizer: Values) -> Values:
        """The values of queries with these sums."""
        values = np.full(len(sums), self.empty_value)
        np.divide(sums, normalizer, out=values, where=normalizer != 0)
        return values

    def sums(self, lists: RankedLists) -> Values:
        """Σ value · weight of every list."""
        rules = (self.values(lists.levels), *self.weights(self.depth(lists.longest)))
        if lists.block_end is not None:
            return lists.each_query(_expected_sum, lists.codes, lists.query_ptr, lists.block_end, *rules)
        return lists.each_query(sum_over_ranks, lists.codes, lists.query_ptr, *rules)

    def swap_deltas(self, labels: ArrayLike) -> Values:
        """Closed form: (v_b − v_a)(w_a − w_b) / normalizer."""
        lists = RankedLists.of_labels([labels])
        normalizer = self.normalizer(lists)[0]
        value, weight = self.values(lists.levels)[lists.codes], np.zeros(len(lists.codes))
        if normalizer == 0:
            return np.zeros((len(value), len(value)))
        numerator, divisor = self.weights(self.depth(len(weight)))
        weight[: len(numerator)] = numerator / divisor
        gained: Values = (value[None, :] - value[:, None]) * (weight[:, None] - weight[None, :]) / normalizer
        return gained
