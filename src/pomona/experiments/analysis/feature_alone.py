"""How well each feature ranks by itself, from its highest value down or from its lowest up.

Ties are judged by their expectation (unless the measure names a tie rule), so that the order of the file
tells nothing; undefined values rank last, whichever way the others do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.measures.base import Measure
from pomona.rankers.evaluator import RankingEvaluator, with_fair_ties
from pomona.rankers.feature_values import as_scores
from pomona.stats.bootstrap import Resampled

_BATCH = 16
_BELOW_ALL = -1e39
"""A score below that of every float32."""
_RANDOM_ORDERS = 64


@dataclass(frozen=True)
class Alone:
    """`table`: a row a feature with `up`, `down`, the larger as `alone`, its direction and interval.

    random : the mean measure of a random order, which a useless feature has.
    """

    table: pl.DataFrame
    random: float


def features_alone(
    data: Dataset, measure: Measure, watch: Callable[[int], Any] = lambda n_done: None
) -> Alone:
    """Judge every feature alone; `watch` hears how many are done.

    >>> from pomona import measure
    >>> data = Dataset([[3.0], [1.0], [2.0]], [0, 1, 0], [7, 7, 7])
    >>> features_alone(data, measure("p@1")).table.select("up", "down", "direction").rows()
    [(0.0, 1.0, 'down')]
    """
    evaluator = RankingEvaluator(data, with_fair_ties(measure))
    up, down = (np.empty((data.n_features, data.n_queries)) for _ in range(2))
    for start in range(0, data.n_features, _BATCH):
        columns = np.ascontiguousarray(data.X[:, start : start + _BATCH].T)
        for j, column in enumerate(columns, start):
            for side, direction in ((up, 1), (down, -1)):
                side[j] = evaluator.values(_ranked_last(as_scores(column, direction)))
        watch(start + len(columns))
    means = {"up": up.mean(axis=1), "down": down.mean(axis=1)}
    is_up = means["up"] >= means["down"]
    better = np.where(is_up[:, None], up, down)
    low, high = (_finite_or_none(ends) for ends in Resampled.of(better).intervals())
    table = pl.DataFrame(
        {
            "number": np.arange(1, data.n_features + 1),
            **means,
            "alone": np.maximum(*means.values()),
            "direction": np.where(is_up, "up", "down").tolist(),
            "low": pl.Series(low, dtype=pl.Float64),
            "high": pl.Series(high, dtype=pl.Float64),
        }
    )
    return Alone(table, random_value(data, measure))


def random_value(data: Dataset, measure: Measure) -> float:
    """The mean measure of a random order: exact where ties are judged by their expectation."""
    fair = with_fair_ties(measure)
    evaluator = RankingEvaluator(data, fair)
    if not fair.is_averaged_by_trying:
        return evaluator.mean(np.zeros(data.n_docs))
    random = np.random.default_rng(0)
    return float(np.mean([evaluator.mean(random.random(data.n_docs)) for _ in range(_RANDOM_ORDERS)]))


def _ranked_last(scores: Scores) -> Scores:
    return np.where(np.isnan(scores), _BELOW_ALL, scores)


def _finite_or_none(values: Values) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]
