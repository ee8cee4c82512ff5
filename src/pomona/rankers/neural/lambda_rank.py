"""LambdaRank (Burges, Ragno & Le 2006): a network trained towards any measure.

Every pair of differently labelled documents is pushed apart, the harder the more the measure would change if
the two traded places. There is no loss, only its gradient.
"""

from __future__ import annotations

from pomona._types import Labels, Offsets, Values
from pomona.objectives.base import Objective
from pomona.objectives.lambdas import LambdaObjective
from pomona.rankers.neural.neural_ranker import NeuralRanker
from pomona.rankers.parameter import PositiveFloat, PositiveInt
from pomona.rankers.truncation import deepened


class LambdaRank(NeuralRanker):
    """LambdaRank: a network trained towards any measure, under any tool's rules.

    Parameters
    ----------
    sigma : steepness of the pairwise logistic.
    truncation : as in `LambdaMART`: only pairs with a document among the first so many ranks push, and a
        discounted measure with a smaller cut-off is trained as if cut here. None trains exactly towards the
        measure.
    normalize : damp pairs that are far apart and queries with large lambdas, as LightGBM does.

    The others are those of every `NeuralRanker`.

    Departures
    ----------
    - A discounted measure with a cut-off below 30 is trained as if cut at 30, and no pair beyond pushes
      (`truncation`); lambdas are damped as LightGBM does (`normalize`). `truncation=None, normalize=False`
      trains exactly towards the measure, as published.
    - Any measure under any convention, Yilmaz & Robertson's (2009) average precision and precision among
      them, with their signs put right: the more relevant document of a pair rises, wherever the two rank. The
      discount beyond a cut-off is exactly 0.
    - No pair counts twice, as RankLib's do, whose two contributions cancel.
    - The network is that of every `NeuralRanker`: a hidden layer of 64 rectified units with dropout of 0.3,
      features on a logarithmic scale; it is trained by Adam on batches of 16 queries, and the weights are
      averaged over about an epoch. Yilmaz & Robertson's has ten hyperbolic units, and a step is a query.
    """

    name = "lambdarank"
    family = "list-wise"
    optimizes = "direct"
    paper = "Burges, Ragno & Le, NIPS 2006"

    sigma: PositiveFloat = 1.0
    truncation: PositiveInt | None = 30
    normalize: bool = True

    def objective(
        self,
        labels: Labels,
        query_ptr: Offsets,
        weights: Values,
        seed: int,
        relative: Values | None = None,
    ) -> Objective:
        """Lambda gradients of the measure."""
        return LambdaObjective(
            deepened(self.parsed_measure, self.truncation),
            labels,
            query_ptr,
            sigma=self.sigma,
            truncation=self.truncation,
            normalize=self.normalize,
            weights=weights,
            relative=relative,
            seed=seed,
        )
