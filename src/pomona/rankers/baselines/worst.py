"""The worst ranking, documents by rising label: the least that any ranker could reach (thesis, Worst Ranker).

A bound and no method: it reads the labels of the very documents it scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pomona._types import Scores
from pomona.data.dataset import Dataset
from pomona.rankers.baselines.ideal import IdealRanker


@dataclass(kw_only=True, eq=False, repr=False)
class WorstRanker(IdealRanker):
    """Worst ranking: documents by rising label, a lower bound.

    Parameters
    ----------
    measure : what `score` reports.
    """

    name: ClassVar[str] = "worst"
    aliases: ClassVar[tuple[str, ...]] = ("worst_ranker",)
    family: ClassVar[str] = "baseline"
    paper: ClassVar[str] = "no method: the lower bound of a comparison"

    def predict_queries(self, data: Dataset) -> Scores:
        return -super().predict_queries(data)
