"""Normalized discounted cumulative gain.   NDCG = DCG / DCG of the best possible order

The most reported number of the field, and the one whose published tools differ most: see `conventions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from pomona._kinds import Chance
from pomona._types import Values
from pomona.measures.conventions import NOT_NEGATIVE, LabelRange
from pomona.measures.dcg import DCG
from pomona.measures.lists import RankedLists
from pomona.measures.position import sum_over_ranks

_LETOR = {"gain": (0.0, 1.0, 3.0), "discount": "letor", "short": "zero"}


@dataclass(frozen=True, kw_only=True)
class NDCG(DCG):
    """Normalized discounted cumulative gain: DCG as a share of the best possible.

    Parameters
    ----------
    gain, discount : as for DCG.
    empty : the value of a query with no relevant document (no gain to be had).
    short : a query with fewer than k documents counts `whole` (judged on what it has) or `zero`.

    >>> NDCG().of_query([2, 1, 0]), NDCG(k=1, gain="linear").of_query([1, 0, 2]) == 1 / 2
    (1.0, True)
    """

    name: ClassVar[str] = "ndcg"
    aliases: ClassVar[tuple[str, ...]] = ("ndcg_cut",)
    user_model: ClassVar[str] = "position"
    empty: Chance = 0.0
    short: Literal["whole", "zero"] = "whole"

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "letor3": _LETOR,
        "letor4": _LETOR,
        "mslr": {**_LETOR, "gain": (0.0, 1.0, 3.0, 7.0, 15.0)},
        "yahoo": {"gain": "exp2_int", "discount": "ln", "empty": 1.0, "labels": NOT_NEGATIVE},
        "ranklib": {"gain": "exp2_int", "discount": "ranklib", "labels": NOT_NEGATIVE},
        "trec_eval": {"gain": "linear_int"},
        "gdeval": {"k": 20, "labels": (0.0, 1.0, 2.0, 3.0, 4.0)},
        "lightgbm": {"empty": 1.0, "labels": LabelRange(30, whole=True)},
        "xgboost": {"empty": 1.0, "k": 32, "labels": LabelRange(31, whole=True)},  # k of its objective
        "sklearn": {"gain": "linear", "labels": NOT_NEGATIVE},
        "catboost": {"gain": "linear", "empty": 1.0, "labels": NOT_NEGATIVE},
    }

    @property
    def labels_taken(self) -> tuple[float, ...] | LabelRange | None:
        """LightGBM and XGBoost want few whole numbers for their exponential gain, which may be another."""
        taken = super().labels_taken
        return NOT_NEGATIVE if isinstance(taken, LabelRange) and "gain" in self.given else taken

    def normalizer(self, lists: RankedLists) -> Values:
        """DCG of the judged documents, best first; infinity for a short query that counts 0."""
        gains = self.values(lists.levels)
        weights = self.weights(self.depth(lists.longest))
        ideal = lists.each_query(sum_over_ranks, lists.pool_by(gains), lists.pool_ptr, gains, *weights)
        if self.short == "zero" and self.k is not None:
            ideal[lists.lengths < self.k] = np.inf
        return ideal
