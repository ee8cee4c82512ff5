"""Success at k, the hit rate.   1 if a relevant document is among the first k, else 0"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pomona._types import Values
from pomona.measures.cascade import CascadeMeasure
from pomona.measures.conventions import Relevant, relevant_of
from pomona.measures.precision import RELEVANT_SPELLINGS


@dataclass(frozen=True, kw_only=True)
class Success(CascadeMeasure):
    """Success: whether any of the first k documents is relevant. Known as hit rate in recommendation.

    A cascade whose user is satisfied by any relevant document, wherever it stands.

    Parameters
    ----------
    relevant : the smallest relevant label, or the set of relevant labels.

    >>> Success(k=2).of_query([0, 1, 1]), Success(k=2).of_query([0, 0, 1])
    (1.0, 0.0)
    """

    name: ClassVar[str] = "success"
    aliases: ClassVar[tuple[str, ...]] = ("hit", "hit_rate", "hr")
    user_model: ClassVar[str] = "cascade"
    relevant: Relevant = 1.0

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"trec_eval": {}}
    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = RELEVANT_SPELLINGS

    def satisfies(self, levels: Values) -> Values:
        """1 for a relevant label."""
        return relevant_of(levels, self.relevant).astype(np.float64)

    def weights(self, n: int) -> tuple[Values, Values]:
        """Every rank counts alike."""
        return np.ones(n), np.ones(n)
