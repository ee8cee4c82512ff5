"""XE-NDCG (Bruch 2021): boosted trees towards a cross entropy that bounds NDCG.

The softmax of the scores is matched with the gains of the labels, less a random part that is drawn anew
for every tree: a convex loss, in place of the pairs of LambdaMART.
"""

from __future__ import annotations

from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.objectives.base import Objective
from pomona.objectives.xendcg import XENDCGObjective
from pomona.rankers.forests.forest_ranker import BoostedForest
from pomona.rankers.inputs import weights_in_queries


class XENDCG(BoostedForest):
    """XE-NDCG: boosted trees towards a convex cross entropy that bounds NDCG.

    Parameters are those of every `BoostedForest`.

    Departures
    ----------
    - Queries whose labels are all equal are left out: the loss would only teach them the noise.
    - The Newton step is that of the dense hessian in three terms of its series, as in LightGBM's
      `rank_xendcg`, an implementation by the author of the paper.
    - The measure decides when to stop: the best round on the validation queries is kept.
    """

    name = "xendcg"
    aliases = ("xe-ndcg", "xe_ndcg")
    family = "list-wise"
    optimizes = "bound"
    paper = "Bruch, WWW 2021"

    def make_objective(self, train: Dataset, weights: Values | None) -> Objective:
        by_query, relative = weights_in_queries(weights, train)
        return XENDCGObjective(train.y, train.query_ptr, weights=by_query, relative=relative, seed=self.seed)
