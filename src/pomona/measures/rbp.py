"""Rank-biased precision (Moffat & Zobel 2008).   RBP = (1 − p) Σ_r rel_r · p^(r−1)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pomona._kinds import PositiveFloat, Probability
from pomona._types import Values
from pomona.errors import InputError
from pomona.measures.conventions import Relevant, judged_levels, relevant_of
from pomona.measures.position import PositionMeasure
from pomona.measures.precision import RELEVANT_SPELLINGS


@dataclass(frozen=True, kw_only=True)
class RBP(PositionMeasure):
    """Rank-biased precision: utility to a user who goes on to the next document with probability p.

    Parameters
    ----------
    p : the user's persistence, between 0 and 1.
    relevant : the smallest relevant label, or the set of relevant labels.
    max_grade : when given, a label counts label / max_grade instead of 0 or 1.

    >>> RBP(p=0.5).of_query([1, 0, 1])
    0.625
    """

    name: ClassVar[str] = "rbp"
    user_model: ClassVar[str] = "position"
    is_discounted: ClassVar[bool] = True
    p: Probability = 0.8
    relevant: Relevant = 1.0
    max_grade: PositiveFloat | None = None
    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = RELEVANT_SPELLINGS

    def values(self, levels: Values) -> Values:
        """0 or 1, or the label's share of the highest grade."""
        if self.max_grade is None:
            return relevant_of(levels, self.relevant).astype(np.float64)
        judged = np.maximum(judged_levels(levels), 0.0)
        if np.float32(judged.max()) > np.float32(self.max_grade):
            raise InputError(f"RBP: label {judged.max():g} is above max_grade={self.max_grade:g}")
        return judged / self.max_grade

    def weights(self, n: int) -> tuple[Values, Values]:
        """The chance of reading each rank, times 1 − p."""
        return (1.0 - self.p) * np.power(self.p, np.arange(n, dtype=np.float64)), np.ones(n)
