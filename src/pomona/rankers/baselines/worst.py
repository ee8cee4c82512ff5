"""The worst ranking, documents by rising label: the least that any ranker could reach (thesis, Worst Ranker).

A bound and no method: it reads the labels of the very documents it scores.
"""

from __future__ import annotations

from pomona._types import Scores
from pomona.data.dataset import Dataset
from pomona.rankers.baselines.ideal import IdealRanker


class WorstRanker(IdealRanker):
    """Worst ranking: documents by rising label, those that are not judged first: a lower bound.

    Parameters
    ----------
    measure : what `score` reports.

    Departures
    ----------
    None: the thesis' Worst Ranker. It reads the labels of the very documents it scores.
    """

    name = "worst"
    aliases = ("worst_ranker",)
    family = "baseline"
    optimizes = "nothing"
    paper = "no method: the lower bound of a comparison"

    def predict_queries(self, data: Dataset) -> Scores:
        return -super().predict_queries(data)
