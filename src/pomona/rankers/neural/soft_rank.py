"""SoftRank (Taylor et al. 2008): a network trained on a measure made smooth by noisy scores.

If scores carry normal noise, a document has not a rank but a distribution over ranks, and the expected NDCG
is smooth in the scores. Yilmaz & Robertson (2009) add average precision and precision at k.
"""

from __future__ import annotations

from pomona._types import Labels, Offsets, Values
from pomona.objectives.base import Objective
from pomona.objectives.softrank import SoftRankObjective
from pomona.rankers.neural.neural_ranker import NeuralRanker
from pomona.rankers.parameter import PositiveFloat


class SoftRank(NeuralRanker):
    """SoftRank: a network trained on a smooth NDCG, precision or average precision.

    Parameters
    ----------
    measure : what is trained towards: a sum over ranks (`ndcg@10`, `p@10`, `rbp` …) or `ap`.
    sigma : deviation of the scores' noise: smaller is closer to the measure, and rougher.

    The others are those of every `NeuralRanker`.

    Departures
    ----------
    - Any position measure under any convention, besides NDCG; average precision and precision are Yilmaz &
      Robertson's (2009), with their two slips put right (`objectives.softrank` says which).
    - The noise `sigma` is 1 and stays so, where the paper's is tuned.
    - Ranks beyond the cut-off are never computed.
    - The network is that of every `NeuralRanker`: a hidden layer of 64 rectified units with dropout of 0.3,
      features on a logarithmic scale; it is trained by Adam on batches of 16 queries, and the weights are
      averaged over about an epoch. The paper's has ten hidden units, by gradient ascent.
    """

    name = "softrank"
    family = "list-wise"
    optimizes = "direct"
    paper = "Taylor, Guiver, Robertson & Minka, WSDM 2008"
    search_space = {
        **NeuralRanker.search_space,
        "sigma": (0.1, 3.0, "log"),
    }

    sigma: PositiveFloat = 1.0

    def objective(
        self,
        labels: Labels,
        query_ptr: Offsets,
        weights: Values,
        seed: int,
        relative: Values | None = None,
    ) -> Objective:
        """Minus the soft measure."""
        return SoftRankObjective(
            self.parsed_measure, labels, query_ptr, sigma=self.sigma, weights=weights, relative=relative
        )
