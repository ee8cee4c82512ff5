"""What a trace of a training shows: the journey of every document, and what its query gained by it.

A trace (`pomona.rankers.trace`) has a row for every iteration and document. Here it is told what became of
each document, how the queries fared, and which part of it a picture has room for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from pomona.rankers.trace import Trace

MOST_DOCUMENTS = 40
"""Documents of a query that a picture has room for."""

MOST_ITERATIONS = 100
"""Iterations that it has room for."""


@dataclass(frozen=True)
class Drawn:
    """The part of a query's trace that can be drawn.

    Attributes
    ----------
    bars : a document that keeps a place for some iterations: row, rank, label, iteration (when it comes
        there), and the edges `begin` and `end` between iterations.
    places : the rows of `Trace.documents` among the first ranks, at the iterations drawn.
    documents : those of the documents that have a line; the least relevant first.
    measures : `Trace.measures` of the query and of all.
    n_documents, n_iterations : how many there are in the trace.
    """

    qid: str
    bars: pl.DataFrame
    places: pl.DataFrame
    documents: pl.DataFrame
    measures: pl.DataFrame
    n_documents: int
    n_iterations: int


@dataclass(frozen=True)
class Watched:
    """A trace, read: its facts, what queries gained, what became of documents, and what to draw."""

    facts: dict[str, Any]
    gains: pl.DataFrame
    journeys: pl.DataFrame
    queries: list[Drawn]


def watched(trace: Trace) -> Watched:
    """Read a trace."""
    return Watched(trace.facts, gains(trace), journeys(trace), [drawn(trace, qid) for qid in trace.qids])


def watched_in(directory: Path | None, comparison: str) -> Watched | None:
    """The trace that was made for a comparison, if one lies in its directory."""
    if directory is None or not (directory / "trace.parquet").is_file():
        return None
    trace = Trace.read(directory)
    return watched(trace) if trace.facts.get("comparison") == comparison else None


def journeys(trace: Trace) -> pl.DataFrame:
    """Every document of the queries: where it began and ended, and how hard it was pushed; the best first.

    `moves` counts the iterations after which it stood elsewhere than before.
    """
    in_time = pl.col("rank", "score", "lambda").sort_by("iteration")
    has_moved = pl.col("rank").sort_by("iteration").diff().fill_null(0) != 0
    order = {qid: place for place, qid in enumerate(trace.qids)}
    return (
        trace.documents.group_by("qid", "row", "doc", "label", maintain_order=True)
        .agg(
            in_time.first().name.suffix("_first"),
            in_time.last().name.suffix("_last"),
            rank_best=pl.col("rank").min(),
            moves=has_moved.sum().cast(pl.Int64),
        )
        .with_columns(climbed=pl.col("rank_first") - pl.col("rank_last"))
        .sort(pl.col("qid").replace_strict(order), "rank_last")
        .select(
            *("qid", "doc", "label", "rank_first", "rank_last", "climbed", "rank_best", "moves"),
            *("score_last", "lambda_first", "lambda_last"),
        )
    )


def gains(trace: Trace) -> pl.DataFrame:
    """The measure of every query, and last the mean of all training queries: first, best and last."""
    return (
        trace.measures.sort("iteration", maintain_order=True)
        .group_by("qid", "measure", maintain_order=True)
        .agg(
            first=pl.col("value").first(),
            best=pl.col("value").max(),
            best_iteration=pl.col("iteration").get(pl.col("value").arg_max()),
            last=pl.col("value").last(),
        )
        .with_columns(pl.col("qid").fill_null("mean of all training queries"))
    )


def drawn(trace: Trace, qid: str) -> Drawn:
    """What a picture of a query has room for.

    Of many documents those have a line that end highest, and as many that have the best labels; of many
    iterations, evenly spaced ones, with the first and the last.
    """
    documents = trace.documents.filter(qid=qid)
    iterations = documents["iteration"].unique().sort()
    n = len(iterations)
    if n > MOST_ITERATIONS:
        iterations = iterations[[round(i * (n - 1) / (MOST_ITERATIONS - 1)) for i in range(MOST_ITERATIONS)]]
    ends = documents.filter(iteration=iterations[-1])
    chosen = ends
    if len(ends) > MOST_DOCUMENTS:
        highest = ends.sort("rank").head(MOST_DOCUMENTS // 2)
        others = ends.join(highest, on="row", how="anti").sort("label", "rank", descending=[True, False])
        chosen = pl.concat([highest, others.head(MOST_DOCUMENTS - len(highest))])
    columns = _columns(iterations)
    kept = documents.join(columns.select("iteration"), on="iteration", how="semi")
    places = kept.filter(pl.col("rank") <= MOST_DOCUMENTS)
    of_query = (pl.col("qid") == qid) | pl.col("qid").is_null()
    return Drawn(
        qid,
        _bars(places, columns),
        places,
        kept.join(chosen.select("row"), on="row", how="semi").sort("label", "row", "iteration"),
        trace.measures.filter(of_query).join(columns.select("iteration"), on="iteration", how="semi"),
        len(ends),
        n,
    )


def _columns(iterations: pl.Series) -> pl.DataFrame:
    """The iterations as columns of a picture: their number, and their edges midway to their neighbours."""
    t = pl.col("iteration").cast(pl.Float64)
    before, after = t.shift(1), t.shift(-1)
    return (
        iterations.alias("iteration")
        .to_frame()
        .with_row_index("column")
        .with_columns(
            begin=((t + before) / 2).fill_null((t * 3 - after) / 2).fill_null(t - 0.5),
            end=((t + after) / 2).fill_null((t * 3 - before) / 2).fill_null(t + 0.5),
        )
    )


def _bars(places: pl.DataFrame, columns: pl.DataFrame) -> pl.DataFrame:
    """A row for every document that keeps a place for some columns."""
    is_new = pl.col("row") != pl.col("row").shift(1).over("rank")
    return (
        places.join(columns, on="iteration")
        .sort("rank", "iteration")
        .with_columns(bar=is_new.fill_null(True).cum_sum().over("rank"))
        .group_by("rank", "bar", maintain_order=True)
        .agg(pl.col("row", "label", "iteration", "begin").first(), pl.col("end").last())
        .drop("bar")
    )
