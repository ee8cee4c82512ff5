"""ListMLE (Xia et al. 2008): a network learns to make the order of the labels the likeliest of all orders.

Documents are drawn one after the other with chances in proportion to exp(score); the loss is the negative log
likelihood of drawing them by falling label.
"""

from __future__ import annotations

from pomona._types import Labels, Offsets, Values
from pomona.objectives.base import Objective
from pomona.objectives.listmle import ListMLEObjective
from pomona.rankers.neural.neural_ranker import NeuralRanker
from pomona.rankers.parameter import PositiveInt


class ListMLE(NeuralRanker):
    """ListMLE: a network trained on the likelihood of the true order.

    Parameters
    ----------
    k : only the first k places of the order count; None for all.

    The others are those of every `NeuralRanker`.

    Departures
    ----------
    - Among equal labels, of which the paper has none, the order is drawn anew in every step, so that the
      input's order teaches nothing.
    - `k` stops after the first k places (Xia, Liu & Li 2009).
    - The network is that of every `NeuralRanker`: a hidden layer of 64 rectified units with dropout of 0.3,
      features on a logarithmic scale; it is trained by Adam on batches of 16 queries, and the weights are
      averaged over about an epoch. The paper's is linear (`hidden=0`).
    """

    name = "listmle"
    family = "list-wise"
    optimizes = "surrogate"
    paper = "Xia, Liu, Wang, Zhang & Li, ICML 2008"

    k: PositiveInt | None = None

    def objective(
        self,
        labels: Labels,
        query_ptr: Offsets,
        weights: Values,
        seed: int,
        relative: Values | None = None,
    ) -> Objective:
        """Likelihood of the true order."""
        return ListMLEObjective(labels, query_ptr, k=self.k, weights=weights, relative=relative, seed=seed)
