"""LambdaMART (Wu, Burges, Svore & Gao 2010): boosted trees towards any measure.

Each round fits a tree to the lambdas: for every pair of differently labelled documents, how strongly they
should be pushed apart, weighted by what swapping them would change in the measure. Leaf values are Newton
steps.
"""

from __future__ import annotations

from typing import Any, Literal

from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.objectives.base import Objective
from pomona.objectives.lambdaloss import LambdaLossObjective
from pomona.objectives.lambdas import LambdaObjective
from pomona.objectives.noisy import NoisyObjective
from pomona.rankers.forests.forest_ranker import BoostedForest
from pomona.rankers.inputs import weights_in_queries
from pomona.rankers.parameter import NonNegativeFloat, PositiveFloat, PositiveInt
from pomona.rankers.truncation import deepened


class LambdaMART(BoostedForest):
    """LambdaMART: boosted trees towards any measure, under any tool's rules.

    Parameters
    ----------
    sigma : steepness of the pairwise logistic.
    truncation : only pairs with a document among the first so many ranks push, and a discounted measure with
        a smaller cut-off (ndcg@10, say) is trained as if cut here: pairs below its cut-off teach too, and
        the top is ranked at least as well. None trains exactly towards the measure.
    normalize : damp pairs that are far apart and queries with large lambdas, as LightGBM does.
    weighting : what a pair weighs: what the measure changes by when the two trade places (`swap`), or
        NDCG-Loss2++ of Wang et al. 2018 (`lambdaloss`), for measures of gains and discounts: this, and ten
        times what one rank more between the two costs. The cut-off of the measure then does not matter.
    noise : the scale of Gumbel noise on the scores; lambdas are then the mean over `noise_draws` rankings
        near the current one. 0 for the ranking itself, as published; None for what suits the data.
    noise_draws : how many rankings; each costs as much as all lambdas without noise. One is as good with many
        trees, more with few.

    The others are those of every `BoostedForest`.

    Departures
    ----------
    - A discounted measure with a cut-off below 30 is trained as if cut at 30, and no pair beyond pushes
      (`truncation`); lambdas are damped as LightGBM does (`normalize`). `truncation=None, normalize=False,
      noise=0` trains exactly towards the measure, as published.
    - Any measure under any convention, where LightGBM and XGBoost train towards NDCG and MAP only. The
      discount beyond a cut-off is exactly 0; RankLib and LightGBM keep the tail's.
    - Splits are chosen by second-order gain as in LightGBM, not by the variance of the lambdas as in RankLib
      (which `splits="gradient"` is), of features in 255 bins.
    - Equal scores (as in the first round) are ranked in a seeded random order, so that label-sorted files
      leak nothing.
    - Pairs can be weighted as in LambdaLoss (`weighting`).
    - Lambdas of small data are averaged over random rankings near the current one (`noise`), YetiRank's idea,
      and trees are oblivious there (`growth`); `growth="leafwise"` grows the paper's.
    - Training starts at 0 or from an earlier forest (`warm_start`), not from any other model, and the best
      round by the validation measure is kept.
    """

    name = "lambdamart"
    family = "list-wise"
    optimizes = "direct"
    paper = "Wu, Burges, Svore & Gao, Information Retrieval 2010"

    sigma: PositiveFloat = 1.0
    truncation: PositiveInt | None = 30
    normalize: bool = True
    weighting: Literal["swap", "lambdaloss"] = "swap"
    noise: NonNegativeFloat | None = None
    noise_draws: PositiveInt = 2

    def make_objective(self, train: Dataset, weights: Values | None) -> Objective:
        by_query, relative = weights_in_queries(weights, train)
        options: dict[str, Any] = {
            "sigma": self.sigma,
            "truncation": self.truncation,
            "normalize": self.normalize,
            "weights": by_query,
            "relative": relative,
            "seed": self.seed,
        }
        objective: Objective
        if self.weighting == "lambdaloss":
            objective = LambdaLossObjective(self.parsed_measure, train.y, train.query_ptr, **options)
        else:
            measure = deepened(self.parsed_measure, self.truncation)
            objective = LambdaObjective(measure, train.y, train.query_ptr, **options)
        noise = self.choose(train)["noise"]
        if noise == 0:
            return objective
        return NoisyObjective(objective, scale=noise, n_draws=self.noise_draws, seed=self.seed)
