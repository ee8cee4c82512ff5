"""Closed forms: the formulas that most measures share, with their parts laid open to the learners.

    position    M = Σ_r v_r · w(r) / normalizer                             NDCG, DCG, precision, RBP …
    precision   M = Σ_r v_r · (documents with v > 0 up to r) · w(r) / normalizer      average precision
    cascade     M = Σ_r v_r · w(r) · Π_{t<r} (1 − v_t) / normalizer                   ERR, pFound, RR

v_r is the value of the document at rank r, w the weight of a rank. Knowing them, a learner can have all swap
deltas, smooth the measure, or follow it along a line, without judging a single ranking. `Measure.closed_form`
gives the form of a measure, or None for a measure that is known by its values only.

When the documents at ranks a < b trade places, the sum over ranks of any form changes by

    Δ_ab = (v_b − v_a) · (upper_a − share_a · lower_b)

where the terms come from one walk down the ranking:

    position    upper = w_a                           share = 1               lower = w_b
    precision   upper = (A_a + 1 − rel_a) / a − H_a   share = 1               lower = A_b / b − H_{b−1}
    cascade     upper = w_a P_a + C_a / (1 − R_a)     share = 1 / (1 − R_a)   lower = C_{b−1} + w_b P_b

A and H are the running sums of rel and rel / rank, P the chance of reading on to a rank, C the running sum
of w P R. Beyond the cut-off w is 0 and `lower` is one number, so the order there does not matter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona._lazy import cached_property
from pomona._types import Values
from pomona.measures.base import Measure
from pomona.measures.lists import RankedLists

POSITION, PRECISION, CASCADE = 0, 1, 2


@kernel
def _position_terms(weight, out_upper, out_share, out_lower):
    for r in range(out_upper.size):
        out_upper[r] = out_lower[r] = weight[r] if r < weight.size else 0.0
        out_share[r] = 1.0
    return 0.0


@kernel
def _precision_terms(value, weight, out_upper, out_share, out_lower):
    """weight (depth,) is 1 / rank."""
    n_relevant, inverse = 0.0, 0.0
    for r in range(value.size):
        w = weight[r] if r < weight.size else 0.0
        relevant = 1.0 if value[r] > 0 else 0.0
        n_relevant += relevant
        out_lower[r] = n_relevant * w - inverse
        inverse += relevant * w
        out_upper[r] = (n_relevant + 1.0 - relevant) * w - inverse
        out_share[r] = 1.0
    return -inverse


@kernel
def _cascade_terms(value, weight, out_upper, out_share, out_lower):
    """A document that satisfies (almost) for certain has share 0, and the chance that it is read as upper."""
    reading, stopped = 1.0, 0.0
    for r in range(value.size):
        w = weight[r] if r < weight.size else 0.0
        chance = np.float64(value[r])
        out_lower[r] = stopped + w * reading
        stopped += w * reading * chance
        if abs(1.0 - chance) < 1e-6:
            out_share[r], out_upper[r] = 0.0, reading
        else:
            out_share[r] = 1.0 / (1.0 - chance)
            out_upper[r] = w * reading + stopped * out_share[r]
        reading *= 1.0 - chance
    return stopped


@kernel
def head_terms(family, value, weight, out_upper, out_share, out_lower):
    """Fill the terms of the head's ranks; returns `lower` of the rest."""
    if family == POSITION:
        return _position_terms(weight, out_upper, out_share, out_lower)
    if family == PRECISION:
        return _precision_terms(value, weight, out_upper, out_share, out_lower)
    return _cascade_terms(value, weight, out_upper, out_share, out_lower)


@kernel
def read_past(a, value, weight, reading, out_lower):
    """`lower` of the ranks below a as if the document at a were not there, where 1 / (1 − R_a) is no use."""
    between, passed = 0.0, 1.0
    for b in range(a + 1, value.size):
        w = weight[b] if b < weight.size else 0.0
        out_lower[b] = reading * (between + w * passed)
        between += w * passed * value[b]
        passed *= 1.0 - value[b]
    return reading * between


@kernel
def clip_rule(value, weight, ceiling):
    """(excess, room) such that min(Δ + excess, room) is the change of min(sum, ceiling)."""
    total = 0.0
    for r in range(min(value.size, weight.size)):
        total += value[r] * weight[r]
    return np.float32(max(total - ceiling, 0.0)), np.float32(max(ceiling - total, 0.0))


@kernel
def _swap_deltas(family, value, weight, out):
    """All Δ of one ranking, without a ceiling: value (n,) by rank · weight (depth,) of ranks · out (n, n)."""
    n = value.size
    upper, share, lower, skipping = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    head_terms(family, value, weight, upper, share, lower)
    for a in range(n):
        if share[a] == 0:
            read_past(a, value, weight, upper[a], skipping)
        at_a = upper[a] * weight[a] if a < weight.size else 0.0
        for b in range(a + 1, n):
            factor = at_a - skipping[b] if share[a] == 0 else upper[a] - share[a] * lower[b]
            out[a, b] = out[b, a] = (value[b] - value[a]) * factor


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

    @cached_property
    def factors(self) -> Values:
        """(n_queries,) What the sum over ranks of `document_values` is multiplied by to give the measure."""
        return np.ones(len(self.normalizer))

    @abstractmethod
    def sums(self) -> Values:
        """(n_queries,) The sum over ranks of every list, not yet divided."""

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
        deltas = np.zeros((n, n))
        _swap_deltas(self.kind, self.document_values, self.weight, deltas)
        deltas *= self.factors[0]
        if self.ceiling == np.inf:
            return deltas
        total = float(self.divided(self.sums())[0])
        cut: Values = np.minimum(total + deltas, self.ceiling) - min(total, self.ceiling)
        return np.where(deltas == 0.0, 0.0, cut)


@dataclass(frozen=True, kw_only=True)
class FormMeasure(Measure):
    """A measure of the form `position` or `cascade`, which needs to know what labels and ranks count."""

    form: ClassVar[type[ClosedForm]]

    def values(self, levels: Values) -> Values:
        """The value of a document of each distinct label."""
        raise NotImplementedError

    def weights(self, n: int) -> tuple[Values, Values]:
        """The weights of ranks 1..n (or fewer, if the others are 0) as (numerator, divisor)."""
        raise NotImplementedError

    def normalizer(self, lists: RankedLists) -> Values:
        """What each query's sum is divided by; infinity makes it 0, and 0 gives `empty_value`."""
        return np.ones(lists.n_queries)

    def relevant_levels(self, levels: Values) -> NDArray[np.bool_]:
        """Those whose documents are of value."""
        return self.values(levels) > 0

    @property
    def empty_value(self) -> float:
        """The value of a query whose normalizer is 0: the parameter `empty`, if there is one."""
        return getattr(self, "empty", 0.0)

    def closed_form(self, lists: RankedLists) -> ClosedForm | None:
        """The form, of these lists."""
        self.check_labels(lists)
        numerator, divisor = self.weights(self.depth(lists.longest))
        return self.form(
            lists=lists,
            level_values=self.values(lists.levels),
            numerator=numerator,
            divisor=divisor,
            normalizer=self.normalizer(lists),
            empty_value=self.empty_value,
        )
