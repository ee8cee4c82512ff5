"""The best single feature: the least that a method which combines features must beat.

    score = δ · x_j,   δ ∈ {+1, −1},   the (j, δ) with the greatest mean measure over the training queries

Busa-Fekete et al. 2012; BestSingleFeature in Tax et al. 2015. Equal means: the first feature, unreversed.
Features of few distinct values tie most documents, and input order must not decide: a measure that names no
tie rule is judged by its mean over all orders of tied documents, or, where it has no closed form for
that (a user's own), with the least relevant of them first. An undefined value ranks as the last of the
training data would, either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.rankers.base import Ranker, query_weights
from pomona.rankers.evaluator import judged_rankings, with_fair_ties

_BATCH = 4_000_000
"""Values judged at a time: few enough that their rankings fit the memory of any machine."""
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(kw_only=True, eq=False, repr=False)
class BestFeature(Ranker):
    """Best single feature: ranks by the one feature, rising or falling, that does best alone.

    Parameters
    ----------
    measure : what the features are compared by, and what `score` reports; any measure, any convention.
    allow_reversed : whether a feature may also rank from its lowest value to its highest.

    The feature is chosen on the training queries alone: a validation set goes unused.
    """

    name: ClassVar[str] = "bestfeature"
    aliases: ClassVar[tuple[str, ...]] = ("best_feature", "best-feature", "bestsinglefeature")
    family: ClassVar[str] = "baseline"
    paper: ClassVar[str] = "Busa-Fekete, Szarvas, Éltető & Kégl, ECAI workshop 2012"

    measure: str | Measure = "ndcg@10"
    allow_reversed: bool = True

    def _fit(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        if train.n_features == 0:
            raise InputError("there is no feature to choose from")
        by_query = None if weights is None else query_weights(weights, train)
        self.feature_values_: Values = feature_values(train, self._measure, by_query)
        choices = self.feature_values_[:, : 1 + self.allow_reversed]
        self.feature_, is_reversed = divmod(int(choices.argmax()), choices.shape[1])
        self.direction_ = -1 if is_reversed else 1
        self.lowest_ = float(_lowest(_oriented(train.X[:, self.feature_], self.direction_))[0])

    def _predict(self, X: Features) -> Scores:
        scores = _oriented(X[:, self.feature_], self.direction_)
        return np.where(np.isnan(scores), self.lowest_, scores)

    @property
    def feature_name_(self) -> str:
        """The name of the chosen feature."""
        self._check_fitted()
        name: str = self.feature_names_[self.feature_]
        return name

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts = {"feature": self.feature_, "direction": self.direction_, "lowest": self.lowest_}
        return facts, {"feature_values": self.feature_values_}

    def _set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.feature_, self.direction_ = int(facts["feature"]), int(facts["direction"])
        self.lowest_ = float(facts["lowest"])
        self.feature_values_ = arrays["feature_values"]
        if not 0 <= self.feature_ < self.n_features_in_:
            raise ValueError(f"feature number {self.feature_} of {self.n_features_in_}")


def feature_values(data: Dataset, measure: Measure, weights: Values | None = None) -> Values:
    """(n_features, 2) mean measure of ranking by each feature, from its highest value and from its lowest.

    `weights` has one a query.
    """
    means = np.empty((data.n_features, 2))
    for features, side, values in query_values(data, measure):
        means[features, side] = np.average(values, axis=1, weights=weights)
    return means


def query_values(
    data: Dataset, measure: Measure, *, allow_reversed: bool = True
) -> Iterator[tuple[slice, int, Values]]:
    """(features, 0 for their highest value first or 1 for their lowest, (n, n_queries) values), in pieces."""
    measure = with_fair_ties(measure)
    batch = max(1, _BATCH // max(1, data.n_docs))
    for first in range(0, data.n_features, batch):
        columns = np.ascontiguousarray(data.X[:, first : first + batch].T)
        for side, direction in enumerate((1, -1)[: 1 + allow_reversed]):
            scores = _oriented(columns, direction)
            scores = np.where(np.isnan(scores), _lowest(scores), scores)
            yield slice(first, first + batch), side, judged_rankings(data, scores, measure)


def _oriented(values: Features, direction: int) -> Scores:
    """Feature values as scores, finite unless undefined."""
    return np.clip(values * np.float64(direction), -_LARGEST, _LARGEST)


def _lowest(scores: Scores) -> Scores:
    """The lowest score of each row, with an axis to go with it; 0 where all are undefined."""
    return np.nan_to_num(np.fmin.reduce(scores, axis=-1, keepdims=True))
