"""ListNet (Cao et al. 2007): a network learns the chances of coming first that the labels give.

Labels and scores each make a distribution over which documents come first, of which the loss is the cross
entropy. With `k = 1` that is a softmax over the documents of a query.
"""

from __future__ import annotations

from pomona._types import Labels, Offsets, Values
from pomona.objectives.base import Objective
from pomona.objectives.listnet import ListNetObjective
from pomona.rankers.neural.neural_ranker import NeuralRanker
from pomona.rankers.parameter import PositiveInt


class ListNet(NeuralRanker):
    """ListNet: a network trained on which documents come first.

    Parameters
    ----------
    k : how many first documents are compared; exact up to 2, by random prefixes beyond.
    n_samples : prefixes drawn for each query in each step, when k is above 2.

    The others are those of every `NeuralRanker`.

    Departures
    ----------
    - k = 2 is exact and as fast as k = 1, larger k is sampled (Luo et al. 2015).
    - The output is linear; RankLib's is logistic, and its update leaves out that derivative.
    - The network is that of every `NeuralRanker`: a hidden layer of 64 rectified units with dropout of 0.3,
      features on a logarithmic scale; it is trained by Adam on batches of 16 queries, and the weights are
      averaged over about an epoch. The paper's is linear (`hidden=0, dropout=0, averaged=False,
      log_features=False`), by steps of gradient descent on one query (`optimizer="sgd", batch_size=1`).
    """

    name = "listnet"
    family = "list-wise"
    optimizes = "surrogate"
    paper = "Cao, Qin, Liu, Tsai & Li, ICML 2007"

    k: PositiveInt = 1
    n_samples: PositiveInt = 10

    def objective(
        self,
        labels: Labels,
        query_ptr: Offsets,
        weights: Values,
        seed: int,
        relative: Values | None = None,
    ) -> Objective:
        """Cross entropy of top-k distributions."""
        return ListNetObjective(
            labels,
            query_ptr,
            k=self.k,
            n_samples=self.n_samples,
            weights=weights,
            relative=relative,
            seed=seed,
        )
