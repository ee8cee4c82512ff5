"""The best single feature: the least that a method which combines features must beat.

    score = δ · x_j,   δ ∈ {+1, −1},   the (j, δ) with the greatest mean measure over the training queries

Busa-Fekete et al. 2012; BestSingleFeature in Tax et al. 2015. Equal means: the first feature, unreversed. How
tied documents and undefined values are judged: `feature_values`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.measures.base import Measure
from pomona.rankers.base import Ranker
from pomona.rankers.feature_values import as_scores, feature_values, lowest
from pomona.rankers.inputs import means_of_queries
from pomona.rankers.learnt import FINITE, Array


class BestFeature(Ranker):
    """Best single feature: ranks by the one feature, rising or falling, that does best alone.

    Parameters
    ----------
    measure : what the features are compared by, and what `score` reports; any measure, any convention.
    allow_reversed : whether a feature may also rank from its lowest value to its highest.

    The feature is chosen on the training queries alone: a validation set goes unused.

    Departures
    ----------
    The papers leave open how ties and undefined values are judged: by the mean over all orders of tied
    documents, and as the last of the training data. A feature may also rank from its lowest value
    (`allow_reversed`), which RankLib's may not.
    """

    name = "bestfeature"
    aliases = ("best_feature", "best-feature", "bestsinglefeature")
    family = "baseline"
    optimizes = "direct"
    paper = "Busa-Fekete, Szarvas, Éltető & Kégl, ECAI workshop 2012"
    learnt_attributes = {
        "feature_": int,
        "direction_": Literal[1, -1],
        "lowest_": FINITE,
        "feature_values_": Array("n_features", 2),
    }

    measure: str | Measure = "ndcg@10"
    allow_reversed: bool = True

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        reason = "a measure is of a whole ranking"
        by_query = None if weights is None else means_of_queries(weights, train, type(self).__name__, reason)
        self.feature_values_: Values = feature_values(train, self.parsed_measure, by_query)
        choices = self.feature_values_[:, : 1 + self.allow_reversed]
        self.feature_, is_reversed = divmod(int(choices.argmax()), choices.shape[1])
        self.direction_ = -1 if is_reversed else 1
        self.lowest_ = float(lowest(as_scores(train.X[:, self.feature_], self.direction_))[0])

    def predict_rows(self, X: Features) -> Scores:
        scores = as_scores(X[:, self.feature_], self.direction_)
        return np.where(np.isnan(scores), self.lowest_, scores)

    @property
    def feature_name_(self) -> str:
        """The name of the chosen feature."""
        self.check_fitted()
        name: str = self.feature_names_[self.feature_]
        return name

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().set_state(facts, arrays)
        if not 0 <= self.feature_ < self.n_features_in_:
            raise ValueError(f"feature number {self.feature_} of {self.n_features_in_}")
