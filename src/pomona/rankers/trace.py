"""Watching a ranker learn (Modrý 2014, 4.1.2, Figures 4.1–4.3): the documents of some queries, step by step.

    λ_i = Σ_{j: y_i > y_j} λ_ij − Σ_{j: y_j > y_i} λ_ji,   λ_ij = |ΔZ_ij| / (1 + exp(s_i − s_j))

is the force on a document at the scores of an iteration, *plus is pushed up* (the thesis' signs, which do not
agree with each other, are put right): minus the gradient that the ranker learns from. For MART it is the
residual y_i − s_i. Its weight is the second derivative, here Σ_j |ΔZ_ij| ρ (1 − ρ).

Equal scores stand in the order in which the training ranks them: a random one, drawn once. In the order of
the file, at the start, where all scores are equal, a file sorted by label would seem to be ranked perfectly.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pomona._extras import naming_extras
from pomona._types import Offsets, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.objectives.base import Objective
from pomona.objectives.lambdas import shuffled_rows
from pomona.rankers.evaluator import RankingEvaluator, judged_rankings, labels_to_judge

if TYPE_CHECKING:
    import polars as pl

_DOCUMENTS, _MEASURES, _FACTS = "trace.parquet", "trace-measures.parquet", "trace.json"


@dataclass(frozen=True)
class _Snapshot:
    """The chosen documents after an iteration, and what their queries, and all, are worth."""

    iteration: int
    score: Scores
    rank: NDArray[np.int64]
    force: Values
    weight: Values
    values: Values
    mean: float


class Trace:
    """What happens to the documents of some training queries, iteration by iteration.

    Give it to `fit(…, trace=…)` of a ranker that learns step by step. Iteration 0 is the start; where several
    trainings are tried (several learning rates, say), the trace is that of the one that is kept.

    Parameters
    ----------
    queries : ids of training queries; None chooses one that shows much (see `instructive_query`).
    every : record every so many iterations; the first and the last always.

    Attributes
    ----------
    documents : a row for each iteration and document: iteration, qid, doc (its id, or else its number in the
        query), row (its place among the rows given), label, score, rank, lambda and weight.
    measures : a row for each iteration and query: iteration, qid, measure, value. Where `qid` is null, the
        value is the mean of all training queries.
    facts : ranker, measure, unit (what an iteration is called), kept (the iteration of the model), number of
        training queries, least and highest label among them.

    >>> import pomona as pm
    >>> data, trace = pm.simulate(20, seed=1), Trace(every=5)
    >>> _ = pm.LambdaMART(n_trees=10).fit(data, trace=trace)
    >>> sorted(set(trace.documents["iteration"]))
    [0, 5, 10]
    """

    def __init__(self, queries: Iterable[Any] | None = None, *, every: int = 1) -> None:
        if isinstance(queries, str):
            queries = [queries]
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise InputError(f"every must be a whole number of at least 1, found {every!r}")
        self._asked = None if queries is None else [str(query) for query in queries]
        if self._asked == []:
            raise InputError("no query is named: give the id of one, or queries=None to have one chosen")
        self.every = every
        self.facts: dict[str, Any] = {}
        self._frames: tuple[pl.DataFrame, pl.DataFrame] | None = None

    # ---- What rankers tell it

    def start(self, train: Dataset, ranker: str, measure: Measure) -> None:
        """A training of a ranker begins: find the queries."""
        came = np.arange(train.n_docs) if train.input_order is None else train.input_order
        train = train.gathered()
        labels = labels_to_judge(train)
        qids = [str(qid) for qid in train.qids.tolist()]
        asked = [qids[instructive_query(train)]] if self._asked is None else list(dict.fromkeys(self._asked))
        self._queries = np.array([_place(query, qids) for query in asked])
        lengths = np.diff(train.query_ptr)[self._queries]
        begins = train.query_ptr[self._queries]
        parts = [b + np.argsort(came[b : b + n]) for b, n in zip(begins, lengths, strict=True)]
        self._rows = np.concatenate(parts)
        rows = came[self._rows]
        number = np.concatenate([np.arange(1, n + 1) for n in lengths]).astype(str).tolist()
        ids = [""] * len(rows) if train.doc_ids is None else list(train.doc_ids.take(self._rows))
        self._columns = {
            "qid": np.repeat(np.array(asked, object), lengths).tolist(),
            "doc": [name or place for name, place in zip(ids, number, strict=True)],
            "row": rows.tolist(),
            "label": labels[self._rows].astype(np.float64).tolist(),
        }
        # Values are those of the places that are shown: where documents are tied, of one random order.
        self._qids, self._measure = asked, measure
        if measure.tie_rule == "expected":
            self._measure = replace(measure, ties="stable")
        self._path: list[_Snapshot] = []
        self._kept, self._frames = self._path, None
        self.facts = {
            "ranker": ranker,
            "measure": str(measure),
            "n_queries": train.n_queries,
            "labels": [float(np.nanmin(labels)), float(np.nanmax(labels))],
        }

    def follow(
        self, iteration: int, train: Dataset, scores: Callable[[], Scores], objective: Objective | None
    ) -> None:
        """From this iteration on, `scores` tells those of all training documents, `objective` the forces."""
        self._path = [snapshot for snapshot in self._path if snapshot.iteration < iteration]
        self._kept = self._kept or self._path
        self._scores, self._objective, self._query_ptr = scores, objective, train.query_ptr
        order = None if objective is None else objective.tie_order
        if order is None:
            order = shuffled_rows(train.query_ptr, np.random.default_rng(0))[0]
        self._in_order = np.repeat(train.query_ptr[:-1], np.diff(train.query_ptr)) + order
        ranked = Dataset.from_parts(
            np.empty((train.n_docs, 0), np.float32),
            train.y[self._in_order],
            train.query_ptr,
            train.qids,
            weight=None if train.weight is None else train.weight[self._in_order],
            given_y=None if train.given_y is None else train.given_y[self._in_order],
            doc_ids=None if train.doc_ids is None else train.doc_ids.take(self._in_order),
        )
        self._chosen, self._evaluator = ranked.take(self._queries), RankingEvaluator(ranked, self._measure)
        self.see(iteration)

    def keep(self) -> None:
        """The path that is followed has the best iteration so far."""
        self._kept = self._path

    def see(self, iteration: int) -> None:
        """Record the documents after an iteration."""
        scores = self._scores()
        force, weight = self._forces(scores)
        in_order = scores[self._in_order]
        rows = _rows_of(self._query_ptr, self._queries)
        rank = np.empty(len(scores), np.int64)
        for begin, end in rows:
            order = np.argsort(-in_order[begin:end], kind="stable")
            rank[self._in_order[begin:end][order]] = np.arange(1, end - begin + 1)
        chosen = np.concatenate([in_order[begin:end] for begin, end in rows])
        self._path.append(
            _Snapshot(
                iteration,
                scores[self._rows].copy(),
                rank[self._rows],
                force,
                weight,
                judged_rankings(self._chosen, chosen[None], self._measure)[0],
                self._evaluator.mean(in_order),
            )
        )

    def _forces(self, scores: Scores) -> tuple[Values, Values]:
        """(λ, weight) of the chosen documents; undefined where the ranker has no single force."""
        if self._objective is None or self._objective.n_outputs > 1:
            unknown = np.full(len(self._rows), np.nan)
            return unknown, unknown
        gradient, hessian = np.empty((2, len(scores)), np.float32)
        self._objective.gradients(scores, gradient, hessian)
        # Zero is nobody's minus: −0 would be written as such.
        return 0.0 - gradient[self._rows].astype(np.float64), hessian[self._rows].astype(np.float64)

    def finish(self, unit: str, kept: int) -> None:
        """The training has ended."""
        self.facts |= {"unit": unit, "kept": kept}

    # ---- What a reader asks it

    @property
    def documents(self) -> pl.DataFrame:
        """A row for each iteration and document."""
        return self._tables()[0]

    @property
    def measures(self) -> pl.DataFrame:
        """A row for each iteration and query, and one for the mean of all."""
        return self._tables()[1]

    @property
    def qids(self) -> list[str]:
        """The queries."""
        return self.documents["qid"].unique(maintain_order=True).to_list()

    @naming_extras()
    def _tables(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        import polars as pl

        if self._frames is None:
            if not self.facts:
                raise InputError("nothing was recorded yet: give the trace to fit(…, trace=trace)")
            steps = self._kept
            documents = [
                pl.DataFrame(
                    {
                        "iteration": pl.Series([step.iteration] * len(self._rows), dtype=pl.Int64),
                        **self._columns,
                        "score": step.score,
                        "rank": step.rank,
                        "lambda": step.force,
                        "weight": step.weight,
                    }
                ).with_columns(pl.col("lambda", "weight").fill_nan(None))
                for step in steps
            ]
            measures = [
                pl.DataFrame(
                    {
                        "iteration": pl.Series([step.iteration] * (len(self._qids) + 1), dtype=pl.Int64),
                        "qid": [*self._qids, None],
                        "measure": self.facts["measure"],
                        "value": [*step.values.tolist(), step.mean],
                    }
                )
                for step in steps
            ]
            self._frames = pl.concat(documents), pl.concat(measures)
        return self._frames

    def write(self, directory: str | Path) -> Path:
        """Write `trace.parquet` (documents), `trace-measures.parquet` and `trace.json` into a directory."""
        folder = Path(directory)
        self.documents.write_parquet(folder / _DOCUMENTS)
        self.measures.write_parquet(folder / _MEASURES)
        (folder / _FACTS).write_text(json.dumps(self.facts, ensure_ascii=False), encoding="utf-8")
        return folder / _DOCUMENTS

    @classmethod
    @naming_extras()
    def read(cls, directory: str | Path) -> Self:
        """The trace that was written into a directory."""
        import polars as pl

        folder, trace = Path(directory), cls()
        try:
            trace._frames = pl.read_parquet(folder / _DOCUMENTS), pl.read_parquet(folder / _MEASURES)
            trace.facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError(f"no trace can be read here: {error}", directory) from None
        return trace


def _place(query: str, qids: Sequence[str]) -> int:
    """Where a query stands among the training queries."""
    if query in qids:
        return qids.index(query)
    near = difflib.get_close_matches(query, qids, n=1, cutoff=0.0)
    hint = f"did you mean {near[0]!r}?" if near else "there are none"
    raise InputError(f"no training query has the id {query!r}: {hint} ({len(qids)} queries)")


def _rows_of(query_ptr: Offsets, queries: NDArray[np.int64]) -> list[tuple[int, int]]:
    """First and last row of each query."""
    return [(int(query_ptr[q]), int(query_ptr[q + 1])) for q in queries]


def instructive_query(data: Dataset) -> int:
    """The place of a query that shows much: of three grades or more, 15 to 30 documents, and many grades.

    >>> data = Dataset(np.ones((23, 1)), [0, 1, 2] * 7 + [0, 1], [1] * 3 + [2] * 4 + [3] * 16)
    >>> data.qids[instructive_query(data)].item()
    3
    """
    data = data.gathered()
    lengths = data.query_lengths
    query = np.repeat(np.arange(data.n_queries), lengths)
    order = np.lexsort((data.y, query))
    is_new = np.append(True, (np.diff(data.y[order]) != 0) | (np.diff(query[order]) != 0))
    grades = np.bincount(query[order][is_new], minlength=data.n_queries)
    off = np.maximum(np.maximum(15 - lengths, lengths - 30), 0)
    return int(np.lexsort((-grades, off, -np.minimum(grades, 3)))[0])
