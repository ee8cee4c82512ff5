"""Cascade measures: a user reads down the list until a document satisfies.

M = Σ_r d(r) · R_r · Π_{t<r} (1 − R_t), with R the probability that a label satisfies. ERR, pFound and
reciprocal rank (R is 0 or 1) differ only in R and d.

Tied scores have a closed form here too: over a random order of a block, the mean chance of still
reading after j of its m documents is a_j = e_j(1 − R) / C(m, j), e_j the elementary symmetric polynomial,
so rank j of the block stops the user with probability a_{j−1} − a_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pomona._jit import kernel
from pomona._lazy import cached_property
from pomona._types import Values
from pomona.measures.closed_form import CASCADE, ClosedForm, FormMeasure


@kernel
def walk_down(first, last, codes, query_ptr, satisfies, numerator, divisor, out):
    """satisfies (n_levels,) · numerator, divisor (depth,) weights of ranks 1..depth, 0 beyond."""
    for q in range(first, last):
        begin = query_ptr[q]
        depth = min(query_ptr[q + 1] - begin, numerator.size)
        reading, total = 1.0, 0.0
        for r in range(depth):
            chance = satisfies[codes[begin + r]]
            total += reading * chance * numerator[r] / divisor[r]
            reading *= 1.0 - chance
        out[q] = total


@kernel
def _expected_cascade(first, last, codes, query_ptr, block_end, satisfies, numerator, divisor, out):
    still = np.empty(numerator.size + 1)
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        depth = min(end - begin, numerator.size)
        reading, total = 1.0, 0.0
        at = begin
        while at < begin + depth:
            stop = block_end[at]
            if stop == at + 1:  # to the last bit as where no documents are tied
                chance = satisfies[codes[at]]
                total += reading * chance * numerator[at - begin] / divisor[at - begin]
                reading *= 1.0 - chance
                at = stop
                continue
            m = min(stop - at, begin + depth - at)
            # still[j]: the mean of products of j of the factors (1 − R) seen so far; a mean of means, so
            # nothing overflows however large the block.
            still[: m + 1] = 0.0
            still[0] = 1.0
            n_passed, n_certain = 0, 0
            for i in range(at, stop):
                n_passed += satisfies[codes[i]] == 0.0
                n_certain += satisfies[codes[i]] == 1.0
            if n_passed + n_certain == stop - at:  # as with reciprocal rank
                for j in range(m):
                    still[j + 1] = still[j] * max(n_passed - j, 0) / (stop - at - j)
                n_seen = 0
            else:
                n_seen = stop - at
            for seen in range(1, n_seen + 1):
                factor = 1.0 - satisfies[codes[at + seen - 1]]
                for j in range(min(seen, m), 0, -1):
                    still[j] = ((seen - j) * still[j] + j * factor * still[j - 1]) / seen
            for j in range(1, m + 1):
                r = at - begin + j - 1
                total += reading * (still[j - 1] - still[j]) * numerator[r] / divisor[r]
            reading *= still[m]
            at = stop
        out[q] = total


class CascadeForm(ClosedForm):
    """A walk down the list that ends at the first document that satisfies."""

    kind: ClassVar[int] = CASCADE

    @cached_property
    def document_values(self) -> Values:
        """(n_docs,) The chance of each document to satisfy, which no normalizer can be drawn into.

        It is 0 where the normalizer is 0 or infinite: no ranking changes the measure there.
        """
        chance = self.level_values[self.lists.codes]
        return np.where(np.repeat(self.factors, self.lists.lengths) > 0, chance, 0.0)

    @cached_property
    def factors(self) -> Values:
        """(n_queries,) 1 / normalizer, or 0 where that is 0."""
        return np.divide(1.0, self.normalizer, out=np.zeros(len(self.normalizer)), where=self.normalizer != 0)

    def sums(self) -> Values:
        """Walk down every list once."""
        rules = (self.level_values, self.numerator, self.divisor)
        return self.lists.each_ranking(walk_down, _expected_cascade, *rules)


def beyond_chance(tool: str, label: float) -> str:
    """What to know of a tool that takes labels as chances of satisfaction, and any number for a chance."""
    return (
        f"{tool} takes labels as chances of satisfaction, and label {label:g} is none: its values can lie "
        "far outside 0 to 1; give labels from 0 to 1"
    )


@dataclass(frozen=True, kw_only=True)
class CascadeMeasure(FormMeasure):
    """A measure of a user who stops at the first satisfying document."""

    form: ClassVar[type[ClosedForm]] = CascadeForm

    def satisfies(self, levels: Values) -> Values:
        """The probability that a document of each distinct label satisfies."""
        raise NotImplementedError

    def values(self, levels: Values) -> Values:
        """The chances to satisfy."""
        return self.satisfies(levels)
