"""Position measures: M = Σ_r value(label at r) · weight(r) / normalizer(query).

DCG, NDCG, precision, recall, RBP, WTA and SeznamRank differ only in those three, so they share one
kernel, one closed form for tied scores (McSherry & Najork 2008: a tied block contributes the mean of its
values times the sum of its weights) and one for swaps, (v_b − v_a)(w_a − w_b) / normalizer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pomona._jit import kernel
from pomona._types import Values
from pomona.measures.ceiling import expected_excess
from pomona.measures.closed_form import POSITION, ClosedForm, FormMeasure
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
            if stop == at + 1:  # to the last bit as where no documents are tied
                total += value[codes[at]] * numerator[at - begin] / divisor[at - begin]
                at = stop
                continue
            values, weights = 0.0, 0.0
            for i in range(at, stop):
                values += value[codes[i]]
                if i < begin + depth:
                    weights += numerator[i - begin] / divisor[i - begin]
            total += values / (stop - at) * weights
            at = stop
        out[q] = total


class PositionForm(ClosedForm):
    """A sum of one term for each rank, perhaps cut to a ceiling."""

    kind: ClassVar[int] = POSITION

    def sums(self) -> Values:
        """Σ value · weight of every list."""
        rules = (self.level_values, self.numerator, self.divisor)
        return self.lists.each_ranking(sum_over_ranks, _expected_sum, *rules)

    def evaluate(self) -> Values:
        """Sums over ranks, divided by the normalizer and cut to the ceiling."""
        values = super().evaluate()
        if math.isinf(self.ceiling):
            return values
        cut = np.minimum(values, self.ceiling)
        if self.lists.block_end is None:
            return cut
        excess = expected_excess(self.lists, self.document_values, self.weight, self.ceiling)
        return np.where(self.lists.has_ties, values - excess, cut)


@dataclass(frozen=True, kw_only=True)
class PositionMeasure(FormMeasure):
    """A measure that adds up what each rank holds."""

    form: ClassVar[type[ClosedForm]] = PositionForm

    @property
    def ceiling(self) -> float:
        """What a query's value is cut to."""
        return np.inf

    def closed_form(self, lists: RankedLists) -> ClosedForm | None:
        """A sum over ranks."""
        form = super().closed_form(lists)
        return None if form is None else replace(form, ceiling=self.ceiling)
