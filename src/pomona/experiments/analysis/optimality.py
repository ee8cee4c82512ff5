"""Is a model locally optimal? Monte-Carlo search around its parameters (Donmez, Svore & Burges 2009).

    M(w + η v_i),   v_i ~ N(0, I) / norm,   i = 1 … 460,   η = 0.1, 0.2 … 1.0

w are all trained parameters. When none of the points has a measure above M(w) + ε, at most 1 % of all
directions have a better point, with a confidence of 1 − 0.99^460 = 99 %: the model is *ε-optimal*. Yilmaz &
Robertson 2009 compare models so (Table 5), on training and on test queries.

The directions come from the seed, so that models with as many parameters see the same ones. The ranking of a
linear model does not depend on ‖w‖, so its weights are scaled to ‖w‖ = 1 first; of a forest the leaf values
are moved (our choice). η is absolute, or relative to ‖w‖.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.parse import measure as parse_measure
from pomona.rankers.base import Ranker
from pomona.rankers.evaluator import RankingEvaluator
from pomona.rankers.movable import Movable

N_DIRECTIONS = 460
STEPS = tuple(round(0.1 * i, 1) for i in range(1, 11))
EPSILON = 0.003


@dataclass(frozen=True)
class LocalOptimality:
    """What was found around a model.

    Attributes
    ----------
    value : the measure of the model itself.
    values : (n_directions, n_steps) the measure of every point around it.
    what, n_parameters, norm : what was moved, how many numbers, and their length as trained.
    was_scaled : whether the parameters were first scaled to length 1.
    interrupted : whether Ctrl-C left some directions out.
    """

    measure: str
    value: float
    values: Values
    steps: tuple[float, ...]
    epsilon: float
    what: str
    n_parameters: int
    norm: float
    was_scaled: bool
    is_relative: bool
    interrupted: bool = False

    @property
    def n_better(self) -> int:
        """How many points are better than the model."""
        return int((self.values > self.value).sum())

    @property
    def n_clearly_better(self) -> int:
        """How many are better by more than ε."""
        return int((self.values > self.value + self.epsilon).sum())

    @property
    def is_optimal(self) -> bool:
        """Whether no point is better by more than ε."""
        return self.n_clearly_better == 0

    @property
    def confidence(self) -> float:
        """That at most 1 % of all directions have a point better by ε, if none of these has."""
        return 1.0 - 0.99 ** len(self.values)

    def row(self) -> dict[str, Any]:
        """One row of a table."""
        return {
            "measure": self.measure,
            "value": self.value,
            "points": self.values.size,
            "better": self.n_better,
            "better_by_epsilon": self.n_clearly_better,
            "highest": float(self.values.max()) if self.values.size else None,
            "epsilon_optimal": self.is_optimal,
            "confidence": self.confidence,
            "parameters": self.n_parameters,
            "norm": self.norm,
        }

    @property
    def by_step(self) -> pl.DataFrame:
        """For each step: how many points are better, and how the change of the measure is spread."""
        change = self.values - self.value
        spread = np.quantile(change, (0.0, 0.25, 0.5, 0.75, 1.0), axis=0) if change.size else np.zeros((5, 0))
        names = ("lowest", "lower_quartile", "median", "upper_quartile", "highest")
        return pl.DataFrame(
            {
                "step": self.steps if change.size else [],
                "better": (change > 0).sum(axis=0) if change.size else [],
                "better_by_epsilon": (self.values > self.value + self.epsilon).sum(axis=0)
                if change.size
                else [],
                **dict(zip(names, spread, strict=True)),
            }
        )


def local_optimality(
    ranker: Ranker,
    data: Dataset,
    measure: str | Measure | None = None,
    *,
    n_directions: int = N_DIRECTIONS,
    steps: Sequence[float] = STEPS,
    epsilon: float = EPSILON,
    relative: bool = False,
    seed: int = 0,
    watch: Callable[[int], Any] = lambda n_done: None,
) -> LocalOptimality:
    """Look around a fitted linear, neural or forest ranker for better parameters.

    Parameters
    ----------
    measure : what is judged; None for the ranker's own.
    n_directions, steps : how many random directions, and how far along each.
    epsilon : what counts as clearly better.
    relative : steps are shares of the length of the parameters.
    watch : hears how many directions are done. Ctrl-C ends the search with those.

    >>> from pomona import Dataset, LinearRegression
    >>> data = Dataset([[3.0, 0.0], [2.0, 1.0], [1.0, 0.5]], [2, 1, 0], [1, 1, 1])
    >>> local_optimality(LinearRegression().fit(data), data, "ndcg").n_better
    0
    """
    lengths = _checked_steps(steps)
    if n_directions < 1:
        raise InputError(f"found {n_directions} directions, expected at least 1")
    if not epsilon >= 0:
        raise InputError(f"found epsilon {epsilon}, expected 0 or more")
    if data.n_queries == 0:
        raise InputError("found no query to judge the ranker by")
    parsed = parse_measure(ranker.measure if measure is None else measure)
    movable, data = ranker.movable(data), data.gathered()
    norm = float(np.linalg.norm(movable.parameters))
    if norm == 0:
        raise InputError(f"all {movable.what} of the model are 0: there is nothing to look around")
    was_scaled = movable.is_free_of_scale
    start = movable.parameters / norm if was_scaled else movable.parameters
    unit = norm if relative and not was_scaled else 1.0
    evaluator = RankingEvaluator(data, parsed)
    value, rows, interrupted = evaluator.mean(movable.score(start)), [], False
    try:
        for scores_at in _lines(movable, start, n_directions, seed):
            rows.append([evaluator.mean(scores_at(unit * length)) for length in lengths])
            watch(len(rows))
    except KeyboardInterrupt:
        interrupted = True
    return LocalOptimality(
        str(parsed),
        value,
        np.array(rows).reshape(len(rows), len(lengths)),
        lengths,
        epsilon,
        movable.what,
        len(start),
        norm,
        was_scaled,
        relative,
        interrupted,
    )


def _lines(
    movable: Movable, start: Values, n_directions: int, seed: int
) -> Iterator[Callable[[float], Scores]]:
    """For each random direction, the scores at a distance along it."""
    random = np.random.default_rng(seed)
    at_start = movable.score(start)
    for _ in range(n_directions):
        direction = random.standard_normal(len(start))
        direction /= np.linalg.norm(direction)
        if movable.is_affine:  # then one more score a document gives the whole line
            slope = movable.score(start + direction) - at_start
            yield lambda distance, slope=slope: at_start + distance * slope  # type: ignore[misc]
        else:
            yield lambda distance, direction=direction: movable.score(start + distance * direction)  # type: ignore[misc]


def _checked_steps(steps: Sequence[float]) -> tuple[float, ...]:
    lengths = tuple(float(step) for step in steps)
    if not lengths or not all(0 < step < np.inf for step in lengths):
        raise InputError(f"found steps {list(steps)}, expected one or more numbers above 0")
    return lengths
