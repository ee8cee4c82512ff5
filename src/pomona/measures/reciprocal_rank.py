"""Reciprocal rank; its mean over queries is MRR.   RR = 1 / rank of the first relevant document"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pomona._types import Values
from pomona.measures.cascade import CascadeMeasure
from pomona.measures.conventions import NOT_NEGATIVE, Relevant, relevant_of
from pomona.measures.precision import ABOVE_HALF, ANY_POSITIVE, RELEVANT_SPELLINGS


@dataclass(frozen=True, kw_only=True)
class ReciprocalRank(CascadeMeasure):
    """Reciprocal rank: one over the rank of the first relevant document, 0 if there is none.

    A cascade whose user is satisfied by any relevant document for certain.

    Parameters
    ----------
    relevant : the smallest relevant label, or the set of relevant labels.
    single : divide in single precision, as RankLib does.

    >>> ReciprocalRank().of_query([0, 1, 1])
    0.5
    """

    name: ClassVar[str] = "rr"
    aliases: ClassVar[tuple[str, ...]] = ("mrr", "recip_rank", "reciprocal_rank")
    user_model: ClassVar[str] = "cascade"
    relevant: Relevant = 1.0
    single: bool = False

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ranklib": {"relevant": ANY_POSITIVE, "single": True, "labels": NOT_NEGATIVE},
        "trec_eval": {},
        "catboost": {"relevant": ABOVE_HALF},
    }
    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = RELEVANT_SPELLINGS

    def satisfies(self, levels: Values) -> Values:
        """1 for a relevant label."""
        return relevant_of(levels, self.relevant).astype(np.float64)

    def weights(self, n: int) -> tuple[Values, Values]:
        """1 / rank."""
        ranks = np.arange(1, n + 1)
        if self.single:
            return (np.float32(1) / ranks.astype(np.float32)).astype(np.float64), np.ones(n)
        return np.ones(n), ranks.astype(np.float64)
