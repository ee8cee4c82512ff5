"""Learning curves: the training measure after each iteration, mean and spread over folds × seeds."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pomona._types import Values
from pomona.experiments.findings import Analysis, Findings, columns
from pomona.stats.bootstrap import interval_clustered


class Learning(Analysis):
    """Mean curves; a run that stopped early keeps its last value, so that every mean is over all runs."""

    name = "learning"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "ranker", "part"),
        "iteration": pl.Int64,
        **columns(pl.Float64, "mean", "low", "high"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        frames = [pl.DataFrame(schema=cls.schema)]
        curves, level = findings.results.curves, 1 - findings.alpha
        for key, part in curves.group_by("dataset", "ranker", "part", maintain_order=True):
            runs = part.sort("fold", "seed", "iteration").partition_by("fold", "seed", maintain_order=True)
            iterations = np.unique(part["iteration"].to_numpy())
            values = np.array([_held(run, iterations) for run in runs])
            folds = [run["fold"][0] for run in runs]
            low, high = interval_clustered(values, folds, seed=findings.seed, level=level)
            named = dict(zip(("dataset", "ranker", "part"), key, strict=True))
            curve = {"iteration": iterations, "mean": values.mean(axis=0), "low": low, "high": high}
            frames.append(pl.DataFrame({**named, **curve}, schema=cls.schema))
        return pl.concat(frames).fill_nan(None)


def _held(run: pl.DataFrame, iterations: NDArray[np.int64]) -> Values:
    """The value at each iteration, or the one before it, or the first."""
    place = np.searchsorted(run["iteration"].to_numpy(), iterations, side="right") - 1
    return run["value"].to_numpy()[np.maximum(place, 0)]
