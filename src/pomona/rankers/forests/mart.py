"""MART (Friedman 2001): boosted regression trees on the labels, point-wise.

Each round fits a tree to the residuals y − F(x); leaves hold their mean. The measure only decides when to
stop.
"""

from __future__ import annotations

from typing import Literal

from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.objectives.base import Objective
from pomona.objectives.regression import RegressionObjective
from pomona.rankers.forests.forest_ranker import BoostedForest


class MART(BoostedForest):
    """MART: boosted regression trees on the labels.

    Parameters
    ----------
    target : what is regressed on: the `label`, or its `gain` 2^label − 1.

    The others are those of every `BoostedForest`.

    Departures
    ----------
    - Features are put into 255 bins of equal counts; RankLib's thresholds are equally wide, which skewed
      features do not suffer well. Trees grow by the leaf of the largest gain, RankLib's by the largest
      deviance.
    - The measure decides when to stop: the best round on the validation queries is kept.
    """

    name = "mart"
    family = "point-wise"
    optimizes = "surrogate"
    paper = "Friedman, Annals of Statistics 2001"

    target: Literal["label", "gain"] = "label"

    def make_objective(self, train: Dataset, weights: Values | None) -> Objective:
        return RegressionObjective(train.y, target=self.target, weights=weights)
