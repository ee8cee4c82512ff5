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
    """Ideal ranking: documents by falling label, an upper bound.

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
        return data.y.astype(np.float64)
