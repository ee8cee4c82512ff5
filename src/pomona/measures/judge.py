"""Judging: many measures, under many conventions, of one set of scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._html import html_table
from pomona._types import Offsets, Values
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.conventions import convention_named
from pomona.measures.lists import RankedLists, ScoredQueries
from pomona.measures.parse import measure


class Labelled(Protocol):
    """Documents with labels, grouped by query: a `Dataset`, or anything alike.

    One whose queries may stand scattered has the methods `from_input_order` and `gathered`.
    """

    @property
    def y(self) -> NDArray[Any]:
        """Labels."""

    @property
    def query_ptr(self) -> Offsets:
        """Offsets of the queries."""

    @property
    def doc_ids(self) -> Sequence[str] | None:
        """Document ids, if known."""


@dataclass(frozen=True)
class Judgement:
    """One measure's value for every query, and what to know beside their mean.

    Attributes
    ----------
    values : one a query.
    n_empty : queries without a relevant document (no label above 0), whose value is mere convention.
    n_short : queries with fewer documents than the cut-off.
    """

    measure: Measure
    values: Values
    n_empty: int
    n_short: int

    @property
    def mean(self) -> float:
        """The mean over all queries, summed in order, as every tool does it."""
        return mean_in_order(self.values)


def sum_in_order(values: Values) -> float:
    """Add left to right: pairwise and compensated sums differ in the last digits that tools print.

    >>> sum_in_order(np.array([0.1, 0.2, 0.3])) == (0.1 + 0.2) + 0.3
    True
    """
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


def mean_in_order(values: Values) -> float:
    """The mean, with the values added from first to last."""
    return sum_in_order(values) / len(values)


def judge(judged: ScoredQueries, measures: Sequence[Measure]) -> list[Judgement]:
    """The value of every query by every measure; scores are sorted once for each tie rule and precision."""
    if len(judged.query_ptr) < 2:
        raise InputError("there is no query to judge")
    ranked: dict[tuple[str, type], RankedLists] = {}
    pool = judged.labels if judged.pool_labels is None else judged.pool_labels
    pool_ptr = judged.query_ptr if judged.pool_ptr is None else judged.pool_ptr
    n_empty = int((_count_positive(pool, pool_ptr) == 0).sum())
    lengths = np.diff(judged.query_ptr)
    judgements = []
    for wanted in measures:
        key = (wanted.tie_rule, convention_named(wanted.convention).score_type)
        if key not in ranked:
            ranked[key] = judged.ranked(*key)
        values = np.asarray(wanted.of_lists(ranked[key]), np.float64)
        if values.shape != (len(lengths),):
            raise InputError(f"{wanted} gave {values.size} values for {len(lengths)} queries")
        if not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(f"{wanted} gave a value that is not finite for query number {bad + 1}")
        n_short = 0 if wanted.k is None else int((lengths < wanted.k).sum())
        judgements.append(Judgement(wanted, values, n_empty, n_short))
    return judgements


def _count_positive(labels: NDArray[Any], query_ptr: Offsets) -> NDArray[np.int64]:
    running = np.concatenate(([0], np.cumsum(labels > 0)))
    counts: NDArray[np.int64] = running[query_ptr[1:]] - running[query_ptr[:-1]]
    return counts


class Evaluation(dict[str, Any]):
    """Values by measure string; prints as a table with the numbers of empty and short queries."""

    def __init__(self, values: dict[str, Any], judgements: Sequence[Judgement]) -> None:
        super().__init__(values)
        self.judgements = tuple(judgements)

    @property
    def n_queries(self) -> int:
        """How many queries the means are over."""
        return len(self.judgements[0].values)

    @property
    def n_empty(self) -> int:
        """How many queries have no relevant document."""
        return self.judgements[0].n_empty

    def _repr_html_(self) -> str:
        rows = [
            (name, f"{one.mean:.4f}", str(one.n_short))
            for name, one in zip(self, self.judgements, strict=True)
        ]
        caption = f"{self.n_queries} queries, {self.n_empty} empty"
        return html_table(["measure", "mean", "short queries"], rows, caption)

    def __str__(self) -> str:
        lines = [f"{'measure':<24} {'mean':>8}   of {self.n_queries} queries, {self.n_empty} empty"]
        for name, judgement in zip(self, self.judgements, strict=True):
            short = f"   {judgement.n_short} short" if judgement.n_short else ""
            lines.append(f"{name:<24} {judgement.mean:8.4f}{short}")
        return "\n".join(lines)


def evaluate(
    data: Labelled,
    scores: ArrayLike,
    measures: str | Measure | Iterable[str | Measure],
    *,
    convention: str | None = None,
    ties: str | None = None,
    per_query: bool = False,
) -> Evaluation:
    """Judge scores, one a document in the order in which the rows of `data` came, by measures.

    (A column of `data.X`, or `data.y`, stands in the order of `data` itself, and is known by that.)

    Parameters
    ----------
    measures : strings such as `ndcg@10`, `letor4:ndcg@10`, `rbp(p=0.8)`, or measure objects.
    convention : whose rules hold for measures that name none.
    ties : a tie rule that replaces the convention's: stable, docid, expected, worst or best.
    per_query : return an array aligned with `data.qids` instead of the mean.

    >>> from pomona import Dataset
    >>> data = Dataset([[0.0], [0.0], [0.0]], [0, 2, 1], [1, 1, 1])
    >>> evaluate(data, [3, 2, 1], ["ap", "p@2"])
    {'ap': 0.5833333333333333, 'p@2': 0.5}
    """
    each = [measures] if isinstance(measures, str | Measure) else measures
    wanted = {str(one): one for one in each}  # one that is asked for twice is judged once
    if not wanted:
        raise InputError("no measure was asked for")
    parsed = [measure(one, convention) for one in wanted.values()]
    if ties is not None:
        parsed = [dataclasses.replace(one, ties=ties) for one in parsed]
    judgements = judge(scored_queries(data, scores), parsed)
    values = {
        asked: judgement.values if per_query else judgement.mean
        for asked, judgement in zip(wanted, judgements, strict=True)
    }
    return Evaluation(values, judgements)


def scored_queries(data: Labelled, scores: ArrayLike) -> ScoredQueries:
    """Check scores against the data they belong to, and put them into the order of the labels."""
    try:
        array = np.ascontiguousarray(scores, np.float64)
    except (TypeError, ValueError):
        raise InputError("scores must be numbers, one a document") from None
    if array.shape != data.y.shape:
        raise InputError(f"found {array.size} scores for {data.y.size} documents")
    if np.isnan(array).any():
        raise InputError(f"the score of document {int(np.flatnonzero(np.isnan(array))[0]) + 1} is NaN")
    if hasattr(data, "from_input_order") and hasattr(data, "gathered"):
        array, data = np.ascontiguousarray(data.from_input_order(array)), data.gathered()
    return ScoredQueries(data.y, array, data.query_ptr, data.doc_ids)
