"""Winner takes all.   WTA = 1 if the first document is relevant, else 0"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pomona._types import Values
from pomona.measures.conventions import Relevant, relevant_of
from pomona.measures.position import PositionMeasure


@dataclass(frozen=True, kw_only=True)
class WTA(PositionMeasure):
    """Winner takes all: whether the first document is relevant.

    Parameters
    ----------
    relevant : the smallest relevant label, or the set of relevant labels.

    >>> WTA().of_query([1, 0]), WTA().of_query([0, 1])
    (1.0, 0.0)
    """

    name: ClassVar[str] = "wta"
    user_model: ClassVar[str] = "position"
    relevant: Relevant = 1.0

    def values(self, levels: Values) -> Values:
        """1 for a relevant label."""
        return relevant_of(levels, self.relevant).astype(np.float64)

    def weights(self, n: int) -> tuple[Values, Values]:
        """Only the first rank counts."""
        return np.ones(min(n, 1)), np.ones(min(n, 1))
