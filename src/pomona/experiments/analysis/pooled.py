"""The test values of a dataset as one array: seeds averaged for each query, folds side by side.

Queries are the unit of every statistic. A query is known by its fold and its id, so that an id that comes
again in another fold is another query.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pomona._types import Values

if TYPE_CHECKING:
    from pomona.experiments.results import Results

KEYS = ("dataset", "fold", "ranker", "seed", "part", "qid")
"""The columns of a table of values that are no measure."""


@dataclass(frozen=True)
class Pooled:
    """One dataset.

    Attributes
    ----------
    rankers : those with values, the bounds (`is_bound`) last.
    queries : a table of fold and qid.
    values : (rankers × queries × measures), NaN where a ranker has no finished run.
    trainings : for each ranker, its values for each fold: (queries × seeds × measures).
    """

    dataset: str
    rankers: list[str]
    is_bound: NDArray[np.bool_]
    measures: list[str]
    queries: pl.DataFrame
    values: Values
    trainings: dict[str, list[Values]]

    @property
    def real(self) -> list[str]:
        """The rankers without the bounds."""
        return [ranker for ranker, is_bound in zip(self.rankers, self.is_bound, strict=True) if not is_bound]

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """(rankers × queries): whether there is a value."""
        return np.asarray(np.isfinite(self.values).all(axis=2))

    @cached_property
    def is_comparable(self) -> NDArray[np.bool_]:
        """Judged on the same queries as the ranker with the most: only such means can be ranked."""
        if self.is_bound.all():
            return np.zeros(len(self.rankers), np.bool_)
        counts = np.where(self.is_bound, -1, self.present.sum(axis=1))
        return np.asarray((self.present == self.present[counts.argmax()]).all(axis=1))

    @property
    def comparable(self) -> list[str]:
        """The rankers, without the bounds, whose means can be ranked."""
        chosen = self.is_comparable & ~self.is_bound
        return [ranker for ranker, is_chosen in zip(self.rankers, chosen, strict=True) if is_chosen]

    def of_measure(self, measure: str) -> Values:
        """(rankers × queries) values of one measure."""
        return self.values[:, :, self.measures.index(measure)]

    def mean(self, ranker: str, measure: str) -> float:
        """The mean over the queries that the ranker was judged on."""
        return float(np.nanmean(self.of_measure(measure)[self.rankers.index(ranker)]))


def pooled(results: Results) -> list[Pooled]:
    """Every dataset with a finished run, in the order of the runs."""
    measures = [name for name in results.values.columns if name not in KEYS]
    test = results.values.filter(pl.col("part") == "test")
    parts = {key[0]: part for key, part in test.partition_by("dataset", as_dict=True).items()}
    names = results.runs["dataset"].unique(maintain_order=True).to_list()
    return [_pooled(name, parts[name], results.runs, measures) for name in names if name in parts]


def _pooled(dataset: str, frame: pl.DataFrame, runs: pl.DataFrame, measures: list[str]) -> Pooled:
    queries = frame.select("fold", "qid").unique().sort("fold", "qid")
    placed = frame.join(queries.with_row_index("place"), on=["fold", "qid"]).sort("place", "seed")
    parts = {key[0]: part for key, part in placed.partition_by("ranker", as_dict=True).items()}
    known = (
        runs.select("ranker", "is_bound").unique(maintain_order=True).sort("is_bound", maintain_order=True)
    )
    known = known.filter(pl.col("ranker").is_in(list(parts)))
    values = np.full((len(known), len(queries), len(measures)), np.nan)
    trainings = {}
    for r, ranker in enumerate(known["ranker"]):
        part = parts[ranker]
        rows, place = part.select(measures).to_numpy(), part["place"].to_numpy()
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        n_seeds = np.diff(starts, append=len(place))
        values[r, place[starts]] = np.add.reduceat(rows, starts) / n_seeds[:, None]
        trainings[ranker] = _by_fold(rows, part["fold"].to_numpy()[starts], n_seeds)
    is_bound = known["is_bound"].to_numpy()
    return Pooled(dataset, known["ranker"].to_list(), is_bound, measures, queries, values, trainings)


def _by_fold(rows: Values, fold: NDArray[np.int64], n_seeds: NDArray[np.int64]) -> list[Values]:
    """Rows, sorted by fold, query and seed, as an array a fold; as many seeds in each as the poorest has."""
    fewest, ends = int(n_seeds.min()), np.cumsum(n_seeds)
    chosen = (ends - n_seeds)[:, None] + np.arange(fewest)
    return [rows[chosen[fold == f]] for f in np.unique(fold)]
