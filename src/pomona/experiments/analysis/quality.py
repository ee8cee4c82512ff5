"""How good every ranker is: means with intervals, NDCG by cut-off, and the main measure of every query."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pomona._types import Values
from pomona.experiments.analysis.pairs import both_ways
from pomona.experiments.analysis.pooled import Pooled
from pomona.experiments.findings import Analysis, Findings, columns
from pomona.measures.parse import measure as parse_measure
from pomona.stats.bootstrap import Resampled
from pomona.stats.norm import avg_norm, norm_performance

ABOVE, BELOW = "▲", "▼"


class Quality(Analysis):
    """Means over queries with bootstrap intervals, of every ranker by every measure; bounds included.

    `mark` is ▲ or ▼ where the ranker differs significantly from the baseline, by `is_significant` of their
    pair. `is_comparable` are those judged on the same queries as the ranker with the most: only their means
    can be ranked. `norm` is AVG_Norm over these measures, `norm_performance` is NormPerformance, of which the
    bounds have none; both only of means over the same queries.
    """

    name = "quality"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "ranker", "measure"),
        **columns(pl.Float64, "mean", "low", "high"),
        "n_queries": pl.Int64,
        "mark": pl.String,
        **columns(pl.Float64, "norm", "norm_performance"),
        **columns(pl.Boolean, "is_bound", "is_comparable"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        marks, rows = _marks(findings), []
        for data in findings.pooled:
            chosen = np.array([data.measures.index(measure) for measure in findings.measures])
            means = np.nanmean(data.values[:, :, chosen], axis=1)
            low, high = _intervals(data, chosen, findings)
            n_queries = data.present.sum(axis=1)
            # Means over other queries would move the ends of the scale for all.
            norms, performance = np.full(len(means), np.nan), np.full(len(means), np.nan)
            norms[data.is_comparable] = avg_norm(means[data.is_comparable])
            ranked = data.is_comparable & ~data.is_bound
            performance[ranked] = norm_performance(means[ranked])
            rows += [
                {
                    "dataset": data.dataset,
                    "ranker": ranker,
                    "measure": measure,
                    "mean": means[r, m],
                    "low": low[r, m],
                    "high": high[r, m],
                    "n_queries": n_queries[r],
                    "mark": marks.get((data.dataset, measure, ranker), ""),
                    "norm": norms[r],
                    "norm_performance": performance[r],
                    "is_bound": data.is_bound[r],
                    "is_comparable": data.is_comparable[r],
                }
                for m, measure in enumerate(findings.measures)
                for r, ranker in enumerate(data.rankers)
            ]
        return cls.table(rows)


def _marks(findings: Findings) -> dict[tuple[str, str, str], str]:
    """(dataset, measure, ranker) → the mark of those that differ significantly from the baseline."""
    pairs = both_ways(findings.pairs).filter("is_significant", b=findings.baseline)
    return {
        (dataset, measure, ranker): ABOVE if difference > 0 else BELOW
        for dataset, measure, ranker, difference in pairs.select(
            "dataset", "measure", "a", "difference"
        ).iter_rows()
    }


def _intervals(data: Pooled, measures: NDArray[np.int64], findings: Findings) -> Values:
    """(2 × rankers × measures) ends of intervals."""
    ends = np.full((2, len(data.rankers), len(measures)), np.nan)
    for queries in np.unique(data.present, axis=0):
        chosen = np.flatnonzero((data.present == queries).all(axis=1))
        rows = np.moveaxis(data.values[np.ix_(chosen, np.flatnonzero(queries), measures)], 2, 1)
        resampled = Resampled.of(rows.reshape(-1, rows.shape[2]), findings.n_resamples, findings.seed)
        intervals = resampled.intervals(1 - findings.alpha)
        ends[:, chosen] = np.reshape(intervals, (2, len(chosen), len(measures)))
    return ends


class Cutoffs(Analysis):
    """Mean NDCG@1 … @10 of every ranker under each convention, with its standard error.

    As Busa-Fekete et al. (2012, note 15) have it, `error` is of the mean over folds, of which each has a
    standard error of its own: (1/F) √(Σ_f sd_f² / n_f). Null where a fold has one query.
    """

    name = "cutoffs"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "ranker", "convention"),
        "k": pl.Int64,
        **columns(pl.Float64, "mean", "error"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        return cls.table(
            (data.dataset, ranker, convention, k, data.mean(ranker, name), fold_error(data, ranker, name))
            for data in findings.pooled
            for convention in findings.results.spec.conventions
            for ranker in data.real
            for k in range(1, 11)
            if (name := str(parse_measure(f"ndcg@{k}", convention))) in data.measures
        )


def fold_error(data: Pooled, ranker: str, measure: str) -> float:
    """The standard error of the mean over the folds that the ranker has; NaN if one has a single query."""
    values, fold = data.of_measure(measure)[data.rankers.index(ranker)], data.queries["fold"].to_numpy()
    judged = np.isfinite(values)
    folds = [values[judged & (fold == f)] for f in np.unique(fold[judged])]
    if min(map(len, folds)) < 2:
        return float("nan")
    return float(np.sqrt(sum(part.var(ddof=1) / len(part) for part in folds)) / len(folds))


class Queries(Analysis):
    """The main measure of every query, a column for each ranker; null where it was not judged."""

    name = "queries"
    schema: ClassVar = {"dataset": pl.String, "fold": pl.Int64, "qid": pl.String}

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        frames = [
            data.queries.select(pl.lit(data.dataset).alias("dataset"), "fold", "qid").with_columns(
                pl.Series(ranker, row)
                for ranker, row in zip(data.rankers, data.of_measure(findings.main), strict=True)
                if ranker in data.real
            )
            for data in findings.pooled
        ]
        return pl.concat(frames, how="diagonal").fill_nan(None)
