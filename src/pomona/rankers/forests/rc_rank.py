"""RC-Rank (Modrý 2014, 3.4.4.5): point-wise boosting of oblivious trees. *Reconstructed.*

It won the thesis' comparison. `enhanced=True` grows some context trees first, and regresses on gains.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from pomona._types import Labels, Values
from pomona.data.dataset import Dataset
from pomona.objectives.base import Objective
from pomona.objectives.regression import RegressionObjective
from pomona.rankers.forests.forest_ranker import BoostedForest
from pomona.rankers.inputs import weights_in_queries
from pomona.rankers.parameter import NonNegativeFloat, PositiveInt


class RCRank(BoostedForest):
    """RC-Rank (reconstructed): boosted oblivious regression trees.

    Parameters
    ----------
    enhanced : regress on gains, after context trees on within-query deviations (our reading).

    The others are those of every `BoostedForest`.

    Departures
    ----------
    *Reconstructed*: certain, from section 3.4.4.5 of the thesis, are MART-like boosting, oblivious decision
    trees and greedy growth. The program is proprietary.

    - Depth, learning rate and shrinkage are those of the same family of rankers elsewhere: six levels, leaf
      values shrunk by L2.
    - `enhanced` is our reading of "manipulates labels and pre-computes a small forest of context trees":
      labels become gains 2^label − 1, and a first tenth of the trees is grown on the labels' deviation from
      their query's mean, so that what a query has in common is learnt apart from what tells its documents
      apart. Context trees are described nowhere.
    """

    name = "rcrank"
    aliases = ("rc-rank", "rc_rank")
    family = "point-wise"
    optimizes = "surrogate"
    paper = "Modrý, thesis 2014 (reconstructed)"

    search_space = {
        "learning_rate": (0.02, 0.3, "log"),
        "max_depth": (3, 8, "int"),
        "l2": (0.1, 30.0, "log"),
        "feature_fraction": (0.3, 1.0, "linear"),
    }

    growth: Literal["auto", "leafwise", "oblivious"] = "oblivious"
    l2: NonNegativeFloat = 3.0
    min_docs: PositiveInt = 1
    enhanced: bool = False

    def make_objective(self, train: Dataset, weights: Values | None) -> Objective:
        return RegressionObjective(train.y, target="gain" if self.enhanced else "label", weights=weights)

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        if not self.enhanced or self._goes_on:
            super().learn(train, valid, weights)
            return
        config = self._config(train)
        context = RegressionObjective(_within_query(train, weights), weights=weights)
        few = replace(config, n_trees=max(1, config.n_trees // 10))
        if not self._boost(train, None, context, few, start=[]).ended:
            self._boost(train, valid, self.make_objective(train, weights), config, start=self.models_)


def _within_query(train: Dataset, weights: Values | None) -> Labels:
    """Labels less their query's mean, by weights."""
    sizes, relative = np.diff(train.query_ptr), weights_in_queries(weights, train)[1]
    if relative is None:
        means = np.add.reduceat(train.y, train.query_ptr[:-1]) / sizes
    else:
        sums, total = (np.add.reduceat(each, train.query_ptr[:-1]) for each in (relative * train.y, relative))
        means = sums / total
    return (train.y - np.repeat(means, sizes)).astype(np.float32)
