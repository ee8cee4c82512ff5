"""LambdaRank (Burges, Ragno & Le 2006): a network trained towards any measure.

Every pair of differently labelled documents is pushed apart, the harder the more the measure would change if
the two traded places. There is no loss, only its gradient.

What we do differently: any measure under any convention, Yilmaz & Robertson's (2010) average precision and
precision among them, with their signs put right: the more relevant document of a pair rises, wherever the
two rank. The discount beyond a cut-off is exactly 0. No pair counts twice, as RankLib's do, whose two
contributions cancel.
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
    """

    name = "lambdarank"
    family = "list-wise"
    paper = "Burges, Ragno & Le, NIPS 2006"

    sigma: PositiveFloat = 1.0
    truncation: PositiveInt | None = 30
    normalize: bool = True

    def objective(self, labels: Labels, query_ptr: Offsets, weights: Values, seed: int) -> Objective:
        """Lambda gradients of the measure."""
        return LambdaObjective(
            deepened(self.parsed_measure, self.truncation),
            labels,
            query_ptr,
            sigma=self.sigma,
            truncation=self.truncation,
            normalize=self.normalize,
            weights=weights,
            seed=seed,
        )
