"""How good every ranker is: means with intervals, NDCG by cut-off, and the main measure of every query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pomona._types import Values
from pomona.experiments.analysis.pooled import Pooled
from pomona.measures.parse import measure as parse_measure
from pomona.stats.bootstrap import Resampled
from pomona.stats.norm import avg_norm

_TABLE = {
    **dict.fromkeys(("dataset", "ranker", "measure"), pl.String),
    **dict.fromkeys(("mean", "low", "high"), pl.Float64),
    "n_queries": pl.Int64,
    "mark": pl.String,
    "norm": pl.Float64,
    "is_bound": pl.Boolean,
}
_CUTOFFS = {
    **dict.fromkeys(("dataset", "ranker", "convention"), pl.String),
    "k": pl.Int64,
    "mean": pl.Float64,
}


def quality_table(
    datasets: Sequence[Pooled],
    measures: Sequence[str],
    marks: Mapping[tuple[str, str, str], str],
    *,
    alpha: float,
    n_resamples: int,
    seed: int,
) -> pl.DataFrame:
    """Means over queries with bootstrap intervals; AVG_Norm is over these measures, bounds included."""
    rows: list[dict[str, Any]] = []
    for data in datasets:
        columns = np.array([data.measures.index(measure) for measure in measures])
        means = np.nanmean(data.values[:, :, columns], axis=1)
        ends = _intervals(data, columns, alpha, n_resamples, seed)
        norms, n_queries = avg_norm(means), data.present.sum(axis=1)
        rows += [
            {
                "dataset": data.dataset,
                "ranker": ranker,
                "measure": measure,
                "mean": means[r, m],
                "low": ends[0, r, m],
                "high": ends[1, r, m],
                "n_queries": n_queries[r],
                "mark": marks.get((data.dataset, measure, ranker), ""),
                "norm": norms[r],
                "is_bound": data.is_bound[r],
            }
            for m, measure in enumerate(measures)
            for r, ranker in enumerate(data.rankers)
        ]
    return pl.DataFrame(rows, schema=_TABLE).fill_nan(None)


def _intervals(data: Pooled, columns: NDArray[np.int64], alpha: float, n_resamples: int, seed: int) -> Values:
    """(2 × rankers × measures) ends of intervals; rankers with the same queries are resampled together."""
    ends = np.full((2, len(data.rankers), len(columns)), np.nan)
    for queries in np.unique(data.present, axis=0):
        chosen = np.flatnonzero((data.present == queries).all(axis=1))
        rows = np.moveaxis(data.values[np.ix_(chosen, np.flatnonzero(queries), columns)], 2, 1)
        found = Resampled.of(rows.reshape(-1, rows.shape[2]), n_resamples, seed).intervals(1 - alpha)
        ends[:, chosen] = np.reshape(found, (2, len(chosen), len(columns)))
    return ends


def cutoff_table(datasets: Sequence[Pooled], conventions: Sequence[str]) -> pl.DataFrame:
    """Mean NDCG@1 … @10 of every ranker under each convention."""
    rows = [
        (data.dataset, ranker, convention, k, data.mean(ranker, name))
        for data in datasets
        for convention in conventions
        for ranker in data.real
        for k in range(1, 11)
        if (name := str(parse_measure(f"ndcg@{k}", convention))) in data.measures
    ]
    return pl.DataFrame(rows, schema=_CUTOFFS, orient="row")


def query_table(datasets: Sequence[Pooled], main: str) -> pl.DataFrame:
    """The main measure of every query, a column for each ranker; null where it was not judged."""
    frames = [
        data.queries.select(pl.lit(data.dataset).alias("dataset"), "fold", "qid").with_columns(
            pl.Series(ranker, row)
            for ranker, row in zip(data.rankers, data.of_measure(main), strict=True)
            if ranker in data.real
        )
        for data in datasets
    ]
    return pl.concat(frames, how="diagonal").fill_nan(None)
