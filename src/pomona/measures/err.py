"""Expected reciprocal rank (Chapelle et al. 2009).   ERR = Σ_r (1/r) R_r Π_{t<r} (1 − R_t)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from pomona._kinds import Interval
from pomona._types import Values
from pomona.errors import InputError
from pomona.measures.cascade import CascadeMeasure, beyond_chance
from pomona.measures.conventions import NOT_NEGATIVE, gains_of, judged_levels
from pomona.measures.lists import RankedLists


@dataclass(frozen=True, kw_only=True)
class ERR(CascadeMeasure):
    """Expected reciprocal rank: of the document at which a user who reads down the list stops.

    A label satisfies with probability R = (2^label − 1) / 2^max_grade.

    Parameters
    ----------
    max_grade : the highest label the judges could give; 4 in most tools, so say 2 for LETOR's labels.
    gain : `exp2`, or `exp2_int` for tools that cut labels to integers; `label` if the label itself is the
        chance, as CatBoost has it.
    beyond : whether labels above max_grade are computed with all the same (then ERR may pass 1).

    >>> ERR(max_grade=1).of_query([0, 1]) == (1 / 2) / 2
    True
    """

    name: ClassVar[str] = "err"
    user_model: ClassVar[str] = "cascade"
    is_discounted: ClassVar[bool] = True
    max_grade: Annotated[int, Interval(1, 1_000_000_000, "[]")] = 4
    gain: Literal["exp2", "exp2_int", "label"] = "exp2"
    beyond: bool = False

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "yahoo": {"gain": "exp2_int", "beyond": True, "k": None, "labels": NOT_NEGATIVE},
        "ranklib": {"gain": "exp2_int", "beyond": True, "labels": NOT_NEGATIVE},
        "gdeval": {"k": 20, "labels": (0.0, 1.0, 2.0, 3.0, 4.0)},
        "catboost": {"gain": "label", "beyond": True, "labels": NOT_NEGATIVE},
    }
    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {"max_rel": ("max_grade", {})}

    def satisfies(self, levels: Values) -> Values:
        """(2^label − 1) / 2^max_grade, or the label."""
        who, largest = type(self).__name__, judged_levels(levels).max()
        if self.gain == "label":
            if not self.beyond and largest > 1:
                raise InputError(f"{who}: label {largest:g} is no chance, expected labels from 0 to 1")
            return gains_of(levels, "linear")
        if not self.beyond and largest > self.max_grade:
            raise InputError(
                f"{who}: label {largest:g} is above max_grade={self.max_grade}: "
                f"give the highest possible label, as in err(max_grade={int(np.ceil(largest))})"
            )
        chances: Values = np.ldexp(gains_of(levels, self.gain), -self.max_grade)
        return chances

    def notes(self, lists: RankedLists) -> list[str]:
        """That no label of these lists is the highest grade, unless that was set; that one is no chance."""
        notes, largest = super().notes(lists), judged_levels(lists.levels).max()
        if self.gain == "label" and largest > 1:
            notes.append(beyond_chance(self.convention, largest))
        if "max_grade" not in self.given and self.gain != "label" and 0 < largest < self.max_grade:
            notes.append(
                f"the largest label is {largest:g}, below max_grade={self.max_grade}, and satisfies with a "
                f"chance of {self.satisfies(np.array([largest]))[0]:g}: if no document could have a higher "
                f"label, give max_grade={int(np.ceil(largest))}"
            )
        return notes

    def weights(self, n: int) -> tuple[Values, Values]:
        """1 / rank."""
        return np.ones(n), np.arange(1.0, n + 1.0)
