"""What a fitted model looks at: the share of every feature, from what the model itself knows.

    forests, stumps     the gain of the splits on a feature
    weighted sums       |coef_j| times the standard deviation of feature j, as the weights see it, in training
    others              whatever `feature_importances_` they have, or nothing

A share tells what a model uses, not what it would lose: of two features that say the same, one may have the
share of both. What a ranking loses without a feature, `pomona features` measures.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.rankers.base import Ranker
from pomona.rankers.linear.linear_ranker import LinearRanker

LEAST = 0.001
"""Smaller shares are not kept."""


def importance_of(ranker: Ranker, train: Dataset) -> dict[str, float]:
    """The shares of the features by name, the largest first; empty where a ranker does not tell.

    >>> from pomona import LinearRegression
    >>> X = [[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]]
    >>> train = Dataset(X, [0, 1, 2], [1, 1, 1], feature_names=["telling", "constant"])
    >>> importance_of(LinearRegression().fit(train), train)
    {'telling': 1.0}
    """
    sizes = np.abs(np.nan_to_num(_sizes(ranker, train)))
    if sizes.shape != (train.n_features,) or not sizes.any():
        return {}
    shares = sizes / sizes.sum()
    order = [j for j in np.argsort(-shares, kind="stable") if shares[j] >= LEAST]
    return {train.feature_names[j]: float(f"{shares[j]:.6g}") for j in order}


def _sizes(ranker: Ranker, train: Dataset) -> Values:
    if isinstance(ranker, LinearRanker):
        weighted: Values = ranker.coef_ * ranker.prepared(train).X.std(axis=0, dtype=np.float64)
        return weighted
    model: Any = getattr(ranker, "model_", None)
    told = getattr(ranker, "feature_importances_", None)
    if told is None and hasattr(model, "importance"):
        told = model.importance()
    return np.zeros(0) if told is None else np.asarray(told, np.float64)
