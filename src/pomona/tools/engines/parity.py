"""How an engine's ranking differs from the model's own, and what is to blame, feature by feature."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Scores
from pomona.data.dataset import Dataset
from pomona.measures.judge import evaluate
from pomona.tools.engines.engine import Served
from pomona.trees.forest import Forest

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


@dataclass(frozen=True)
class Causes:
    """Why an engine's scores differ.

    Attributes
    ----------
    way : what becomes of an undefined value there.
    undefined : by feature, what changes if its undefined values, and no others, go that way.
    infinite : the same of infinite values, where the engine takes them for undefined.
    besides : what is left if all of them do: its thresholds, limits and precision.
    """

    way: str
    undefined: dict[str, Difference]
    infinite: dict[str, Difference]
    besides: Difference

    @classmethod
    def of(cls, data: Dataset, model: Any, served: Served, names: Sequence[str]) -> Causes:
        """Of a model, and what an engine makes of it."""
        X, ours, infinite = data.X, model.score(data.X), np.isinf(data.X) & served.compensated
        as_undefined = np.where(infinite, np.float32(np.nan), X)

        def by_feature(values: NDArray[np.bool_], rows: Features) -> dict[str, Difference]:
            differences = {}
            for place in np.flatnonzero(values.any(axis=0)).tolist():
                changed = X.copy()
                changed[:, place] = rows[:, place]
                difference = Difference.of(data, ours, _engine_way(changed, model, served, [place]))
                if difference.documents:
                    differences[names[place]] = difference
            return differences

        every = _engine_way(as_undefined, model, served, range(X.shape[1]))
        return cls(
            "is 0 there" if served.absent == "zero" else "goes right there",
            by_feature(np.isnan(X), X),
            by_feature(infinite, as_undefined),
            Difference.of(data, every, served.score(X)),
        )


def _engine_way(X: Features, model: Any, served: Served, places: Sequence[int]) -> Scores:
    """The model's scores, the undefined values of these features going where the engine sends them."""
    if served.absent == "zero":
        rows, at = X.copy(), list(places)
        rows[:, at] = np.nan_to_num(X[:, at], posinf=np.inf, neginf=-np.inf)
        X = rows
    elif isinstance(model, Forest) and isinstance(served.model, Forest) and not served.model.nan_left.any():
        model = replace(model, nan_left=model.nan_left & ~np.isin(model.feature, list(places)))
    scores: Scores = model.score(X)
    return scores


def _n_rankings(before: Scores, after: Scores, query_ptr: NDArray[np.int64]) -> int:
    n_differing = 0
    for first, last in itertools.pairwise(query_ptr):
        orders = [np.argsort(-scores[first:last], kind="stable") for scores in (before, after)]
        n_differing += not np.array_equal(orders[0], orders[1])
    return n_differing
