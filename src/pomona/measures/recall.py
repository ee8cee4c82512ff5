"""Recall at k.   R@k = relevant documents among the first k / all relevant documents"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pomona._kinds import Chance
from pomona._types import Values
from pomona.measures.conventions import Relevant, relevant_of
from pomona.measures.lists import RankedLists
from pomona.measures.position import PositionMeasure
from pomona.measures.precision import ABOVE_HALF, RELEVANT_SPELLINGS


@dataclass(frozen=True, kw_only=True)
class Recall(PositionMeasure):
    """Recall: the share of all relevant documents that the first k hold.

    Parameters
    ----------
    relevant : the smallest relevant label, or the set of relevant labels.
    empty : the value of a query with no relevant document.

    >>> Recall(k=2).of_query([1, 0, 1])
    0.5
    """

    name: ClassVar[str] = "recall"
    aliases: ClassVar[tuple[str, ...]] = ("r",)
    user_model: ClassVar[str] = "none"
    relevant: Relevant = 1.0
    empty: Chance = 0.0

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "trec_eval": {},
        "catboost": {"relevant": ABOVE_HALF, "empty": 1.0},
    }
    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = RELEVANT_SPELLINGS

    def values(self, levels: Values) -> Values:
        """1 for a relevant label."""
        return relevant_of(levels, self.relevant).astype(np.float64)

    def weights(self, n: int) -> tuple[Values, Values]:
        """Every rank counts alike."""
        return np.ones(n), np.ones(n)

    def normalizer(self, lists: RankedLists) -> Values:
        """All relevant documents, ranked or not."""
        return lists.pool_count(relevant_of(lists.levels, self.relevant))
