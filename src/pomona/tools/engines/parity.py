"""How an engine's ranking differs from the model's own, and which undefined feature is to blame."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Scores
from pomona.data.dataset import Dataset
from pomona.measures.judge import evaluate
from pomona.tools.engines.engine import Served
from pomona.trees.forest import Forest
from pomona.trees.formats.layers import Layers
from pomona.trees.formats.weighted_sum import WeightedSum

_DIGITS = 1e-5  # what float32 sums of a thousand trees may be off by
_MEASURE = "ndcg@10"


@dataclass(frozen=True)
class Difference:
    """Between two scorings of the same documents.

    Attributes
    ----------
    documents : whose scores differ by more than rounding (and more than a constant, which ranks nothing).
    queries : that have such documents.
    rankings : of queries, that are not the same.
    before, after : the mean NDCG@10 of either.
    """

    documents: int
    queries: int
    rankings: int
    before: float
    after: float

    @classmethod
    def of(cls, data: Dataset, before: Scores, after: Scores) -> Difference:
        """Of scores in the order of `data.X`."""
        apart = after - before
        differs = np.abs(apart - np.median(apart)) > _DIGITS * np.maximum(1.0, np.abs(before))
        query = np.repeat(np.arange(data.n_queries), np.diff(data.query_ptr))
        means = [evaluate(data, scores, _MEASURE)[_MEASURE] for scores in (before, after)]
        n_differing = _n_rankings(before, after, data.query_ptr)
        return cls(int(differs.sum()), len(np.unique(query[differs])), n_differing, *means)


def undefined_features(
    data: Dataset, model: Forest | WeightedSum | Layers, served: Served, names: Sequence[str]
) -> dict[str, Difference]:
    """What each feature changes whose undefined values, and no others, go the engine's way."""
    if not isinstance(model, Forest) or not isinstance(served.model, Forest):
        return {}
    ours, found = model.score(data.X), {}
    for place in np.flatnonzero(np.isnan(data.X).any(axis=0)).tolist():
        difference = Difference.of(data, ours, _engine_way(data.X, model, served, place))
        if difference.documents:
            found[names[place]] = difference
    return found


def _engine_way(X: Features, model: Forest, served: Served, place: int) -> Scores:
    if served.absent == "zero":
        rows = X.copy()
        rows[:, place] = np.where(np.isnan(X[:, place]), 0.0, X[:, place])
        return model.score(rows)
    always_right = isinstance(served.model, Forest) and not served.model.nan_left.any()
    nan_left: NDArray[np.bool_] = model.nan_left & ~((model.feature == place) & always_right)
    return replace(model, nan_left=nan_left).score(X)


def _n_rankings(before: Scores, after: Scores, query_ptr: NDArray[np.int64]) -> int:
    n_differing = 0
    for first, last in itertools.pairwise(query_ptr):
        orders = [np.argsort(-scores[first:last], kind="stable") for scores in (before, after)]
        n_differing += not np.array_equal(orders[0], orders[1])
    return n_differing
