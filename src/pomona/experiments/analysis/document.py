"""The documents of the queries that rankers disagree on most: labels, scores, ranks and features."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pomona._types import Features, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError, PomonaError
from pomona.experiments.analysis.explain import shared_ranks
from pomona.experiments.analysis.pooled import Pooled
from pomona.experiments.findings import Analysis, Findings, columns

if TYPE_CHECKING:
    from pomona.experiments.results import Results

N_QUERIES = 30
"""Queries of a dataset that are shown."""

N_DOCUMENTS = 20
"""Documents of a query that are shown."""

N_FEATURES = 5
"""Features of a document that are shown."""


class Documents(Analysis):
    """The documents of the queries with the largest spread between rankers by the main measure.

    Of long queries those are kept that a ranker, or the labels, put highest. Scores (`score:RANKER`) and
    ranks (`rank:RANKER`) are of a ranker's first seed; null where it has no finished run. Documents of the
    same score share the best of their ranks. `features` (JSON) are those in which a document differs most
    from the others of its query, in standard deviations.
    """

    name = "documents"
    schema: ClassVar = {
        "dataset": pl.String,
        "fold": pl.Int64,
        **columns(pl.String, "qid", "doc"),
        "label": pl.Float64,
        "features": pl.String,
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        frames = []
        for data in findings.pooled:
            rows: list[dict[str, Any]] = []
            try:
                rows = _rows(findings, data)
            except (PomonaError, OSError) as error:
                findings.warnings.append(f"documents of {data.dataset} cannot be shown: {error}")
            scores = {f"score:{ranker}": pl.Float64 for ranker in data.real}
            ranks = {f"rank:{ranker}": pl.Int64 for ranker in data.real}
            frames.append(pl.DataFrame(rows, schema={**cls.schema, **scores, **ranks}))
        return pl.concat(frames, how="diagonal")


def _rows(findings: Findings, data: Pooled) -> list[dict[str, Any]]:
    """The documents of a dataset, those of the query with the largest spread first."""
    values = data.of_measure(findings.main)[~data.is_bound]
    lowest, highest = (np.where(np.isnan(values), other, values) for other in (np.inf, -np.inf))
    spread = highest.max(axis=0, initial=-np.inf) - lowest.min(axis=0, initial=np.inf)
    chosen = [q for q in np.argsort(-spread, kind="stable")[:N_QUERIES] if spread[q] > 0]
    by_fold: dict[int, list[tuple[int, str]]] = {}
    for place, q in enumerate(chosen):
        fold, qid = data.queries.row(int(q))
        by_fold.setdefault(fold, []).append((place, qid))
    rows: list[tuple[int, dict[str, Any]]] = []
    for fold, queries in by_fold.items():
        test = findings.results.test_data(data.dataset, fold)
        scores = _scores(findings.results, data, fold)
        position = {str(qid): q for q, qid in enumerate(test.qids)}
        if not position.keys() >= {qid for _, qid in queries}:
            raise InputError(f"the test data of fold {fold} are not those that were judged")
        for place, qid in queries:
            head = {"dataset": data.dataset, "fold": fold, "qid": qid}
            rows += [(place, head | row) for row in _documents(test, position[qid], scores)]
    rows.sort(key=lambda row: row[0])
    return [row for _, row in rows]


def _scores(results: Results, data: Pooled, fold: int) -> dict[str, Values]:
    """The test scores of every ranker that has any in this fold."""
    done = results.runs.filter(dataset=data.dataset, fold=fold, state="done").sort("seed")
    seeds = dict(reversed(done.select("ranker", "seed").rows()))
    return {r: results.scores(data.dataset, fold, r, seeds[r]) for r in data.real if r in seeds}


def _documents(test: Dataset, query: int, scores: dict[str, Values]) -> list[dict[str, Any]]:
    """The documents of a query, the best label first."""
    begin, end = int(test.query_ptr[query]), int(test.query_ptr[query + 1])
    labels = test.y[begin:end].astype(np.float64)
    ideal = _last_ranks(np.where(np.isnan(labels), -np.inf, labels))
    ranks = {ranker: shared_ranks(values[begin:end]) for ranker, values in scores.items()}
    # A document is put as high as it stands in the worst order of those it ties with.
    highest = np.min([ideal, *(_last_ranks(values[begin:end]) for values in scores.values())], axis=0)
    kept = np.argsort(highest, kind="stable")[:N_DOCUMENTS]
    distance = _distances(test.X[begin:end].astype(np.float64))
    return [
        {
            "doc": (test.doc_ids[begin + i] if test.doc_ids else "") or str(i + 1),
            "label": None if np.isnan(labels[i]) else labels[i],
            **{f"score:{ranker}": values[begin + i] for ranker, values in scores.items()},
            **{f"rank:{ranker}": rank[i] for ranker, rank in ranks.items()},
            "features": _telling(test.X[begin + i], distance[i], test.feature_names),
        }
        for i in kept[np.argsort(ideal[kept], kind="stable")]
    ]


def _last_ranks(scores: Values) -> NDArray[np.int64]:
    """The worst rank of the documents of the same score."""
    return np.searchsorted(np.sort(-scores), -scores, side="right")


def _distances(X: Values) -> Values:
    """How many standard deviations each value is from its column's mean; 0 where that cannot be said."""
    known = np.isfinite(X)
    count = np.maximum(known.sum(axis=0), 1)
    centered = np.where(known, X, 0.0) - np.where(known, X, 0.0).sum(axis=0) / count
    deviation = np.sqrt((centered**2 * known).sum(axis=0) / count)
    return np.where(known, np.abs(centered), 0.0) / np.where(deviation > 0, deviation, np.inf)


def _telling(values: Features, distance: Values, names: tuple[str, ...]) -> str:
    """The values of the features that are farthest from the query's others."""
    chosen = [j for j in np.argsort(-distance, kind="stable")[:N_FEATURES] if distance[j] > 0]
    return json.dumps({names[j]: float(f"{values[j]:.6g}") for j in chosen}, ensure_ascii=False)
