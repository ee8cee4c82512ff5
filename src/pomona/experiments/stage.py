"""What a ranker does on the test queries after every iteration; to be looked at, nothing is chosen by it.

A forest is scored tree by tree. Since trees grown beyond the iteration that the validation queries chose
weigh less in it, or are gone, all are grown once more, without those queries: the same, by the same seed.
Judged are the first hundred iterations and every fifth after them; at some of them (`KEPT`, the chosen one
and the last) the value of every query is kept, for tests.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from pomona._sklearn import clone
from pomona._types import Scores
from pomona.data.dataset import Dataset
from pomona.measures.judge import judge, scored_queries
from pomona.rankers.base import Ranker
from pomona.rankers.forests.forest_ranker import ForestRanker

N_EVERY, STEP = 100, 5
"""So many iterations are all judged, and then each that this divides."""

KEPT = (1, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
"""The iterations at which the values of queries are kept."""


def judged_stages(ranker: Ranker, train: Dataset, test: Dataset) -> dict[str, Any]:
    """The record of the test queries, by the ranker's measure: `test_curve`, and `stages` with every query.

    Of a ranker whose steps cannot be scored, nothing, and a warning.
    """
    if not isinstance(ranker, ForestRanker):
        warnings.warn("has no curve of test queries: only forests are scored step by step", stacklevel=2)
        return {}
    best = ranker.best_iteration_
    last = max([best, *map(len, ranker.evals_.values())])
    if last > best:
        longer = {**ranker.chosen_, "n_trees": last, "early_stopping": None, "warm_start": False}
        ranker = clone(ranker).set_params(**longer).fit(train)
    chosen = {best, last, *range(1, min(last, N_EVERY) + 1), *range(N_EVERY, last + 1, STEP)}
    kept = {best, last, *KEPT}
    measure = ranker.parsed_measure
    curve: dict[str, list[Any]] = {"iteration": [], "value": []}
    stages: dict[str, list[Any]] = {"iteration": [], "values": []}
    for iteration, scores in enumerate(_staged_scores(ranker, test, last), 1):
        if iteration in chosen:
            values = judge(scored_queries(test, scores), [measure])[0].values
            curve["iteration"].append(iteration)
            curve["value"].append(float(np.mean(values)))
            if iteration in kept:
                stages["iteration"].append(iteration)
                stages["values"].append(values.tolist())
    return {"test_curve": curve, "stages": {**stages, "chosen": best, "last": last}}


def _staged_scores(ranker: Any, data: Dataset, n_iterations: int) -> Iterator[Scores]:
    """The scores after each iteration, of a ranker of one forest or several."""
    every = max(1, ranker.models_[0].n_trees // n_iterations)
    rows = data.gathered()
    for outputs in zip(*(forest.staged_scores(rows.X, every) for forest in ranker.models_), strict=True):
        yield rows.to_input_order(ranker.combine_outputs(np.stack(outputs)))
