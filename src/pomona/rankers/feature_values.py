"""How well each feature ranks by itself, from its highest value to its lowest or the other way round.

Features of few distinct values tie most documents, and input order must not decide: a measure that names no
tie rule is judged by its mean over all orders of tied documents, or, where these would have to be tried (a
user's own), in one order drawn from the content of the documents. An undefined value ranks as the last of the
training data would, either way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.measures.base import Measure
from pomona.rankers.evaluator import judged_rankings, with_fair_ties

_BATCH = 4_000_000
"""Values judged at a time: few enough that their rankings fit the memory of any machine."""
_LARGEST = float(np.finfo(np.float32).max)


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
            scores = as_scores(columns, direction)
            scores = np.where(np.isnan(scores), lowest(scores), scores)
            yield slice(first, first + batch), side, judged_rankings(data, scores, measure)


def as_scores(values: Features, direction: int) -> Scores:
    """Feature values as scores, finite unless undefined."""
    return np.clip(values * np.float64(direction), -_LARGEST, _LARGEST)


def lowest(scores: Scores) -> Scores:
    """The lowest score of each row, with an axis to go with it; 0 where all are undefined."""
    return np.nan_to_num(np.fmin.reduce(scores, axis=-1, keepdims=True))
