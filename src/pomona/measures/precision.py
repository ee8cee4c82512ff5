"""Precision at k.   P@k = relevant documents among the first k / k"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from pomona._types import Values
from pomona.measures.conventions import NOT_NEGATIVE, LabelRange, Relevant, relevant_of
from pomona.measures.lists import RankedLists
from pomona.measures.position import PositionMeasure

RELEVANT_SPELLINGS: Mapping[str, tuple[str, Mapping[str, Any]]] = {"rel": ("relevant", {})}  # ir_measures
ANY_POSITIVE = 1e-45
"""RankLib's threshold, any label above 0: no smaller positive number is a float32."""
ABOVE_HALF = float(np.nextafter(np.float32(0.5), np.float32(1)))
"""CatBoost's threshold, and that of LightGBM's MAP, any label above 0.5."""


@dataclass(frozen=True, kw_only=True)
class Precision(PositionMeasure):
    """Precision: the share of relevant documents among the first k (all, without a cut-off).

    Parameters
    ----------
    relevant : the smallest relevant label, or the set of relevant labels.
    short : with fewer than k documents, `pad` divides by k, `whole` by their number, `zero` gives 0.

    >>> Precision(k=2).of_query([1, 0, 1])
    0.5
    """

    name: ClassVar[str] = "p"
    aliases: ClassVar[tuple[str, ...]] = ("precision", "prec")
    user_model: ClassVar[str] = "position"
    relevant: Relevant = 1.0
    short: Literal["pad", "whole", "zero"] = "pad"

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "letor3": {"relevant": (1.0, 2.0), "short": "zero"},
        "letor4": {"relevant": (1.0, 2.0)},
        "mslr": {"relevant": (2.0, 3.0, 4.0)},
        "ranklib": {"relevant": ANY_POSITIVE, "short": "whole", "labels": NOT_NEGATIVE},
        "trec_eval": {},
        "xgboost": {"short": "whole", "k": 32, "labels": LabelRange(1, whole=True)},
        "catboost": {"relevant": ABOVE_HALF, "short": "whole"},
    }
    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = RELEVANT_SPELLINGS

    def values(self, levels: Values) -> Values:
        """1 for a relevant label."""
        return relevant_of(levels, self.relevant).astype(np.float64)

    def weights(self, n: int) -> tuple[Values, Values]:
        """Every rank counts alike."""
        return np.ones(n), np.ones(n)

    def normalizer(self, lists: RankedLists) -> Values:
        """The number of ranks judged."""
        lengths = lists.lengths.astype(np.float64)
        if self.k is None:
            return lengths
        if self.short == "whole":
            return np.minimum(lengths, self.k)
        missing = np.inf if self.short == "zero" else float(self.k)
        return np.where(lengths < self.k, missing, float(self.k))
