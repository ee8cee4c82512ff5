"""The ideal ranking, documents by falling label: the most that any ranker could reach (thesis, Best Ranker).

A bound and no method: it reads the labels of the very documents it scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.rankers.base import Ranker


class IdealRanker(Ranker):
    """Ideal ranking: documents by falling label, those that are not judged last: an upper bound.

    Parameters
    ----------
    measure : what `score` reports.

    Departures
    ----------
    None: the thesis' Best Ranker. It reads the labels of the very documents it scores.
    """

    name = "ideal"
    aliases = ("best_ranker",)
    family = "baseline"
    optimizes = "nothing"
    paper = "no method: the upper bound of a comparison"
    is_bound = True
    reads_categories = True  # and no other feature either

    measure: str | Measure = "ndcg@10"

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        """There is nothing to learn."""

    def predict(self, X: Any, qid: Any = None) -> Scores:
        """The labels of a dataset's documents; rows without labels are refused."""
        if not isinstance(X, Dataset):
            raise InputError(
                f"{type(self).__name__} ranks by labels, which rows of features do not have: give a Dataset"
            )
        return super().predict(X, qid)

    def predict_queries(self, data: Dataset) -> Scores:
        scores = data.y.astype(np.float64)
        is_unjudged = np.isnan(scores)
        if is_unjudged.any():
            least = min(0.0, scores[~is_unjudged].min(initial=0.0))
            scores[is_unjudged] = 2 * least - 1  # below all that are judged: measures give them no gain
        return scores
