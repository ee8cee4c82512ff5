"""SeznamRank (Modrý 2014, 3.3.2.9).   SR = min(1, Σ_{r≤20} w(r) · v(label_r))

*Reconstructed*: Seznam.cz never published the weights. w(1..4) and v reproduce all 24 values of the
thesis' Table 3.2; that a list of 4s is worth 1.17 makes the weights sum to 1. Rows π_4, π_5 and π_7 of
Table 3.5 fix w(17..20) = 0.004 and, with w(20) = 0.001, w(5..7) = 0.046 in sum; the shape of the rest is our
choice.

All these lists hold the top grade. Those without it (π_2, π_6, π_8) are worth more than these weights give:
the thesis says that the measure "modifies the score according to whether the list contains the perfectly
relevant document", and not how. *Our reading, one of several that fit*: the values of the grades are divided
by that of the second-best grade (0.55 for the middle one), and the weights of the ranks are flatter. The
rows then fix sums of these weights: 0.80 of six ranks, 0.83 of seven, 0.9038 of twelve, 1 of twenty; the rest
of their shape is our choice. "The list" is the whole query: no order of its documents changes the rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona._types import Values
from pomona.errors import InputError
from pomona.measures.closed_form import ClosedForm
from pomona.measures.conventions import judged_levels, require_integers
from pomona.measures.lists import RankedLists
from pomona.measures.position import PositionMeasure

WEIGHTS = (
    *(0.702, 0.134, 0.047, 0.035, 0.020, 0.015, 0.011, 0.0083, 0.006, 0.005),
    *(0.0037, 0.003, 0.002, 0.0016, 0.0013, 0.0011, 0.001, 0.001, 0.001, 0.001),
)
FLAT_WEIGHTS = (
    *(0.40, 0.16, 0.10, 0.06, 0.045, 0.035, 0.030, 0.0165, 0.0155, 0.0145),
    *(0.0138, 0.0135, 0.0130, 0.0127, 0.0124, 0.0121, 0.0119, 0.0116, 0.0114, 0.0111),
)
"""Of lists without the top grade."""
GRADE_VALUES = (0.0, 0.06, 0.33, 0.60, 1.17)
"""Of the five grades, worst to best."""
_FLATTER = np.array(FLAT_WEIGHTS) / WEIGHTS


@dataclass(frozen=True, kw_only=True)
class SeznamRank(PositionMeasure):
    """SeznamRank (reconstructed): weighted labels of the first 20 documents, for labels 1 to 5.

    A query without the top grade has its own rule: values divided by that of the second-best grade, and
    flatter weights (our reading of three printed values, one of several that fit).

    Parameters
    ----------
    clip : take the smaller of the sum and 1; the thesis' tables show the sum itself.

    With the tie rule `expected`, the clipped mean is exact while at most 1,024 ways to pass 1 are open (some
    14 tied documents), beyond an estimate without random numbers that errs by less than 1e-5: see `ceiling`.

    >>> round(SeznamRank().of_query([5, 4, 3, 2]), 5)
    0.91935
    >>> round(SeznamRank().of_query([4, 3]), 5)  # 0.40 · 1 + 0.16 · 0.55
    0.488
    """

    name: ClassVar[str] = "sr"
    aliases: ClassVar[tuple[str, ...]] = ("seznamrank", "seznam_rank")
    user_model: ClassVar[str] = "position"
    enumerates_ties: ClassVar[bool] = False
    lowest_grade: ClassVar[int] = 1
    clip: bool = True

    @property
    def top_grade(self) -> int:
        """The label of a perfectly relevant document."""
        return self.lowest_grade + len(GRADE_VALUES) - 1

    def values(self, levels: Values) -> Values:
        """The value of each grade; grades below the lowest are unlabelled documents, of value 0."""
        require_integers(levels, "SeznamRank")
        grades = judged_levels(levels) - self.lowest_grade
        if grades.max() >= len(GRADE_VALUES):
            raise InputError(
                f"SeznamRank knows labels {self.lowest_grade} to {self.top_grade}, "
                f"found {judged_levels(levels).max():g}: use sr for labels 1 to 5, sr4 for labels 0 to 4"
            )
        return np.where(grades < 0, 0.0, np.array(GRADE_VALUES)[np.maximum(grades, 0).astype(int)])

    def weights(self, n: int) -> tuple[Values, Values]:
        """The weights of the first 20 ranks."""
        weights = np.array(WEIGHTS[:n])
        return weights, np.ones(len(weights))

    @property
    def ceiling(self) -> float:
        """1, unless the sum itself is asked for."""
        return 1.0 if self.clip else np.inf

    def notes(self, lists: RankedLists) -> list[str]:
        """That labels are on another scale than the measure's."""
        notes = super().notes(lists)
        present = judged_levels(lists.levels[np.unique(lists.pool_codes)])
        largest, outside = present.max(initial=-1.0), (present >= 0) & (present < self.lowest_grade)
        if outside.any():
            notes.append(
                f"label {present[outside][0]:g} counts as unlabelled: SeznamRank is for labels "
                f"{self.lowest_grade} to {self.top_grade}, sr4 for labels 0 to 4"
            )
        if 0 < largest < self.top_grade:
            notes.append(
                f"the largest label is {largest:g}, below the top grade {self.top_grade}: every query has "
                "the rule of those without it, and SeznamRank is not made for fewer than five grades"
            )
        return notes

    def of_lists(self, lists: RankedLists) -> Values:
        """The value of every list, by the rule of those that hold the top grade or of those that do not."""
        holds_top = self._holds_top(lists)
        if holds_top.all():
            return self._form(lists).evaluate()
        flat = self._flat_form(lists).evaluate()
        return np.where(holds_top, self._form(lists).evaluate(), flat) if holds_top.any() else flat

    def closed_form(self, lists: RankedLists) -> ClosedForm | None:
        """A sum over ranks, where all lists hold the top grade or none does: others differ in weights."""
        holds_top = self._holds_top(lists)
        if holds_top.all():
            return self._form(lists)
        return None if holds_top.any() else self._flat_form(lists)

    def closed_forms(self, lists: RankedLists) -> list[tuple[NDArray[np.bool_], ClosedForm]]:
        """The sum over ranks of the lists with the top grade, and of those without."""
        holds_top = self._holds_top(lists)
        both = [(holds_top, self._form), (~holds_top, self._flat_form)]
        return [(which, form(lists)) for which, form in both if which.any()]

    def _form(self, lists: RankedLists) -> ClosedForm:
        form = super().closed_form(lists)
        assert form is not None
        return form

    def _flat_form(self, lists: RankedLists) -> ClosedForm:
        """The form of lists without the top grade."""
        form = self._form(lists)
        flatter = np.ones(len(form.numerator))
        flatter[: len(_FLATTER)] = _FLATTER[: len(flatter)]
        second_best = GRADE_VALUES[-2]
        return replace(form, level_values=form.level_values / second_best, numerator=form.numerator * flatter)

    def _holds_top(self, lists: RankedLists) -> NDArray[np.bool_]:
        """Which queries have a document of the top grade, retrieved or not."""
        return lists.pool_count(lists.levels >= self.top_grade) > 0


@dataclass(frozen=True, kw_only=True)
class SR4(SeznamRank):
    """SeznamRank4 (reconstructed): SeznamRank with labels shifted to 0 to 4.

    >>> round(SR4().of_query([4, 3, 2, 1]), 5)
    0.91935
    """

    name: ClassVar[str] = "sr4"
    user_model: ClassVar[str] = "position"
    lowest_grade: ClassVar[int] = 0
