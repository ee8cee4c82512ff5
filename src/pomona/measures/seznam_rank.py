"""SeznamRank (Modrý 2014, 3.3.2.9).   SR = min(1, Σ_{r≤20} w(r) · v(label_r))

*Reconstructed*: Seznam.cz never published the weights. w(1..4) and v reproduce all 24 values of the
thesis' Table 3.2; that a list of 4s is worth 1.17 makes the weights sum to 1. Rows π_4, π_5 and π_7 of
Table 3.5 fix w(17..20) = 0.004 and, with w(20) = 0.001, w(5..7) = 0.046 in sum; the shape of the rest is our
choice. Lists without any top grade (π_2, π_6, π_8) do not fit: the thesis says that the score depends on
whether one is present, not how, and no such rule is applied here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pomona._types import Values
from pomona.errors import InputError
from pomona.measures.conventions import require_integers
from pomona.measures.position import PositionMeasure

WEIGHTS = (
    *(0.702, 0.134, 0.047, 0.035, 0.020, 0.015, 0.011, 0.0083, 0.006, 0.005),
    *(0.0037, 0.003, 0.002, 0.0016, 0.0013, 0.0011, 0.001, 0.001, 0.001, 0.001),
)
GRADE_VALUES = (0.0, 0.06, 0.33, 0.60, 1.17)
"""Of the five grades, worst to best."""


@dataclass(frozen=True, kw_only=True)
class SeznamRank(PositionMeasure):
    """SeznamRank (reconstructed): weighted labels of the first 20 documents, for labels 1 to 5.

    Parameters
    ----------
    clip : take the smaller of the sum and 1; the thesis' tables show the sum itself.

    With the tie rule `expected`, the clipped mean is exact while at most 1,024 ways to pass 1 are open (some
    14 tied documents), beyond an estimate without random numbers that errs by less than 1e-5: see `ceiling`.

    >>> round(SeznamRank().of_query([5, 4, 3, 2]), 5)
    0.91935
    """

    name: ClassVar[str] = "sr"
    aliases: ClassVar[tuple[str, ...]] = ("seznamrank", "seznam_rank")
    user_model: ClassVar[str] = "position"
    lowest_grade: ClassVar[int] = 1
    clip: bool = True

    def values(self, levels: Values) -> Values:
        """The value of each grade; grades below the lowest are unlabelled documents, of value 0."""
        require_integers(levels, "SeznamRank")
        grades = levels - self.lowest_grade
        if grades.max() >= len(GRADE_VALUES):
            raise InputError(
                f"SeznamRank knows labels {self.lowest_grade} to {self.lowest_grade + 4}, "
                f"found {levels.max():g}: use sr for labels 1 to 5, sr4 for labels 0 to 4"
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


@dataclass(frozen=True, kw_only=True)
class SR4(SeznamRank):
    """SeznamRank4 (reconstructed): SeznamRank with labels shifted to 0 to 4.

    >>> round(SR4().of_query([4, 3, 2, 1]), 5)
    0.91935
    """

    name: ClassVar[str] = "sr4"
    user_model: ClassVar[str] = "position"
    lowest_grade: ClassVar[int] = 0
