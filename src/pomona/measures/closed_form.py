"""Closed forms: the formulas that most measures share, with their parts laid open to the learners.

    position    M = Σ_r v_r · w(r) / normalizer                             NDCG, DCG, precision, RBP …
    precision   M = Σ_r v_r · (documents with v > 0 up to r) · w(r) / normalizer      average precision
    cascade     M = Σ_r v_r · w(r) · Π_{t<r} (1 − v_t) / normalizer                   ERR, pFound, RR

v_r is the value of the document at rank r, w the weight of a rank. Knowing them, a learner can have all swap
deltas, smooth the measure, or follow it along a line, without judging a single ranking. `Measure.closed_form`
gives the form of a measure, or None for a measure that is known by its values only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from pomona._types import Values
from pomona.measures.lists import RankedLists

POSITION, PRECISION, CASCADE = 0, 1, 2


@dataclass(frozen=True, kw_only=True)
class ClosedForm(ABC):
    """The closed form of a measure for given lists.

    Attributes
    ----------
    kind : POSITION, PRECISION or CASCADE.
    level_values : (n_levels,) what a document of each distinct label counts: a gain, relevance, a chance.
    numerator, divisor : (depth,) the weights of the ranks that count, as two arrays: tools differ in the last
        digits by whether they multiply or divide.
    normalizer : (n_queries,) what each sum is divided by; infinity makes it 0, and 0 gives `empty_value`.
    empty_value : the value of a query whose normalizer is 0.
    ceiling : a value above it is cut to it; only position measures may have one.
    """

    kind: ClassVar[int]

    lists: RankedLists
    level_values: Values
    numerator: Values
    divisor: Values
    normalizer: Values
    empty_value: float = 0.0
    ceiling: float = np.inf

    @cached_property
    def weight(self) -> Values:
        """(depth,) The weights of the ranks that count."""
        return self.numerator / self.divisor

    @cached_property
    def document_values(self) -> Values:
        """(n_docs,) The value of each document over its query's normalizer.

        It is 0 where the normalizer is 0 or infinite: no ranking changes the measure there.
        """
        inverse = np.divide(
            1.0, self.normalizer, out=np.zeros(len(self.normalizer)), where=self.normalizer != 0
        )
        values: Values = self.level_values[self.lists.codes] * np.repeat(inverse, self.lists.lengths)
        return values

    @abstractmethod
    def sums(self) -> Values:
        """(n_queries,) The sum over ranks of every list, not yet divided."""

    @abstractmethod
    def sum_deltas(self) -> Values:
        """(n, n) How the sum of the only list changes when two of its documents trade places."""

    def evaluate(self) -> Values:
        """(n_queries,) The measure of every list."""
        return self.divided(self.sums())

    def divided(self, sums: Values) -> Values:
        """(n_queries,) The measure of lists with these sums over ranks."""
        values = np.full(len(sums), self.empty_value)
        np.divide(sums, self.normalizer, out=values, where=self.normalizer != 0)
        return values

    def swap_deltas(self) -> Values:
        """(n, n) How the measure of the only list changes when two of its documents trade places."""
        n = len(self.lists.codes)
        return self.sum_deltas() / self.normalizer[0] if self.normalizer[0] else np.zeros((n, n))

    def padded_weight(self) -> Values:
        """(n,) The weight of every rank of the only list, 0 where it does not count."""
        weight = np.zeros(len(self.lists.codes))
        weight[: len(self.weight)] = self.weight[: len(weight)]
        return weight
