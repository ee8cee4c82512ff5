"""RankNet (Burges et al. 2005): a network learns which of two documents should stand above the other.

The chance that i stands above j is 1 / (1 + exp(−σ (s_i − s_j))); the loss is its cross entropy with the
truth, over all pairs of differently labelled documents of a query. Pushes of all pairs are summed by document
before they reach the network, so a query of n documents costs n backward passes, not n².
"""

from __future__ import annotations

from pomona._types import Labels, Offsets, Values
from pomona.objectives.base import Objective
from pomona.objectives.ranknet import RankNetObjective
from pomona.rankers.neural.neural_ranker import NeuralRanker
from pomona.rankers.parameter import PositiveFloat


class RankNet(NeuralRanker):
    """RankNet: a network trained on pairs of documents.

    Parameters
    ----------
    sigma : steepness of the pairwise logistic.
    average : whether a query's loss is the mean over its pairs, or their sum.

    The others are those of every `NeuralRanker`.

    Departures
    ----------
    - Each query counts alike (the mean over its pairs) unless `average=False`.
    - The output is linear: RankLib's is logistic, which bounds |s_i − s_j| by 1.
    - The network is that of every `NeuralRanker`: a hidden layer of 64 rectified units with dropout of 0.3,
      features on a logarithmic scale; it is trained by Adam on batches of 16 queries, and the weights are
      averaged over about an epoch. The paper's has hyperbolic or logistic units, without dropout, by gradient
      descent.
    """

    name = "ranknet"
    family = "pair-wise"
    optimizes = "surrogate"
    paper = "Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton & Hullender, ICML 2005"

    sigma: PositiveFloat = 1.0
    average: bool = True

    def objective(
        self,
        labels: Labels,
        query_ptr: Offsets,
        weights: Values,
        seed: int,
        relative: Values | None = None,
    ) -> Objective:
        """Pairwise cross entropy."""
        return RankNetObjective(
            labels, query_ptr, sigma=self.sigma, average=self.average, weights=weights, relative=relative
        )
