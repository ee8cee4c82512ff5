"""Learning curves: the training measure after each iteration, mean and spread over folds × seeds."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pomona._types import Values
from pomona.stats.bootstrap import interval_clustered

_SCHEMA = {
    **dict.fromkeys(("dataset", "ranker", "part"), pl.String),
    "iteration": pl.Int64,
    **dict.fromkeys(("mean", "low", "high"), pl.Float64),
}


def learning_table(curves: pl.DataFrame, *, alpha: float, seed: int) -> pl.DataFrame:
    """Mean curves; a run that stopped early keeps its last value, so that every mean is over all runs."""
    frames = [pl.DataFrame(schema=_SCHEMA)]
    for key, part in curves.group_by("dataset", "ranker", "part", maintain_order=True):
        runs = part.sort("fold", "seed", "iteration").partition_by("fold", "seed", maintain_order=True)
        iterations = np.unique(part["iteration"].to_numpy())
        values = np.array([_held(run, iterations) for run in runs])
        low, high = interval_clustered(values, [run["fold"][0] for run in runs], seed=seed, level=1 - alpha)
        columns = {"iteration": iterations, "mean": values.mean(axis=0), "low": low, "high": high}
        named = dict(zip(("dataset", "ranker", "part"), key, strict=True))
        frames.append(pl.DataFrame({**named, **columns}, schema=_SCHEMA))
    return pl.concat(frames).fill_nan(None)


def _held(run: pl.DataFrame, iterations: NDArray[np.int64]) -> Values:
    """The value at each iteration, or the one before it, or the first."""
    place = np.searchsorted(run["iteration"].to_numpy(), iterations, side="right") - 1
    return run["value"].to_numpy()[np.maximum(place, 0)]
