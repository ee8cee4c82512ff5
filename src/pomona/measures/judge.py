"""Judging: many measures, under many conventions, of one set of scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._html import html_table
from pomona._types import Offsets, Values
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.conventions import convention_named
from pomona.measures.lists import RankedLists, ScoredQueries
from pomona.measures.parse import measure, trec_name

_CUT_OFF = re.compile(r"\s*@\s*\d+\s*$")
"""The cut-off at the end of a measure's string."""


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
    n_empty : queries without a document that is worth anything to the measure, such as a relevant one, whose
        value is mere convention.
    n_short : queries with fewer documents than the cut-off.
    notes : what else to know, a sentence each.
    """

    measure: Measure
    values: Values
    n_empty: int
    n_short: int
    notes: tuple[str, ...] = ()

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
    n_empty: dict[bytes, int] = {}
    lengths = np.diff(judged.query_ptr)
    judgements = []
    for wanted in measures:
        key = (wanted.tie_rule, convention_named(wanted.convention).score_type)
        if key not in ranked:
            averaged = ranked.get(("expected", key[1])) if key[0] == "stable" else None
            # The order that is averaged over ties keeps the input order inside them.
            ranked[key] = judged.ranked(*key) if averaged is None else replace(averaged, block_end=None)
        lists = ranked[key]
        wanted.check_labels(lists)
        values = np.asarray(wanted.of_lists(lists), np.float64)
        if values.shape != (len(lengths),):
            raise InputError(f"{wanted} gave {values.size} values for {len(lengths)} queries")
        if not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values))[0])
            is_unjudged = np.isnan(lists.levels[lists.single(bad)]).any()
            why = ", which has documents that are not judged (label NaN)" if is_unjudged else ""
            raise InputError(f"{wanted} gave a value that is not finite for query number {bad + 1}{why}")
        worth = wanted.relevant_levels(lists.levels)
        if (which := worth.tobytes()) not in n_empty:
            n_empty[which] = int((lists.pool_count(worth) == 0).sum())
        n_short = 0 if wanted.k is None else int((lengths < wanted.k).sum())
        judgements.append(Judgement(wanted, values, n_empty[which], n_short, tuple(wanted.notes(lists))))
    return judgements


class Evaluation(dict[str, Any]):
    """Values by measure string; prints as a table with the numbers of empty and short queries, and notes.

    A measure stands under the name by which it was asked for, without the cut-off if its tool ignores that.

    Attributes
    ----------
    judgements : of each measure, its value for every query, and what to know beside.
    notes : what to know beside the values, a line each, with the name of its measure.
    """

    def __init__(
        self, values: dict[str, Any], judgements: Sequence[Judgement], notes: Sequence[str] = ()
    ) -> None:
        super().__init__(values)
        self.judgements = tuple(judgements)
        beside = [f"{name}: {note}" for name, one in zip(self, judgements, strict=True) for note in one.notes]
        self.notes = (*notes, *beside)

    @property
    def n_queries(self) -> int:
        """How many queries the means are over."""
        return len(self.judgements[0].values)

    @property
    def n_empty(self) -> int:
        """How many queries have no document that is worth anything to the first measure."""
        return self.judgements[0].n_empty

    @property
    def _empty(self) -> list[str]:
        """The number of empty queries: of all measures, or, where they differ, of each."""
        each = [f"{one.n_empty} empty" for one in self.judgements]
        return each[:1] if len(set(each)) == 1 else each

    def _repr_html_(self) -> str:
        rows = [
            (name, f"{one.mean:.4f}", str(one.n_empty), str(one.n_short))
            for name, one in zip(self, self.judgements, strict=True)
        ]
        caption = "; ".join((f"{self.n_queries} queries", *self.notes))
        return html_table(["measure", "mean", "empty queries", "short queries"], rows, caption)

    def __str__(self) -> str:
        empty = self._empty
        of_all = f", {empty[0]}" if len(empty) == 1 else ""
        lines = [f"{'measure':<24} {'mean':>8}   of {self.n_queries} queries{of_all}"]
        for i, (name, judgement) in enumerate(zip(self, self.judgements, strict=True)):
            beside = [f"{judgement.n_short} short"] if judgement.n_short else []
            beside += [empty[i]] if len(empty) > 1 and judgement.n_empty else []
            said = f"   {', '.join(beside)}" if beside else ""
            lines.append(f"{name:<24} {judgement.mean:8.4f}{said}")
        lines += [f"note: {note}" for note in self.notes]
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
    ties : a tie rule that replaces the convention's, but not one that a measure names: stable, docid,
        expected, worst or best.
    per_query : return an array aligned with `data.qids` instead of the mean.

    >>> from pomona import Dataset
    >>> data = Dataset([[0.0], [0.0], [0.0]], [0, 2, 1], [1, 1, 1])
    >>> evaluate(data, [3, 2, 1], ["ap", "p@2"])
    {'ap': 0.5833333333333333, 'p@2': 0.5}
    """
    each = [measures] if isinstance(measures, str | Measure) else list(measures)
    if not each:
        raise InputError("no measure was asked for")
    parsed, notes = asked_for(each, convention)
    if ties is not None:
        parsed = {name: with_ties(one, ties) for name, one in parsed.items()}
    judgements = judge(scored_queries(data, scores), list(parsed.values()))
    values = {
        name: judgement.values if per_query else judgement.mean
        for name, judgement in zip(parsed, judgements, strict=True)
    }
    return Evaluation(values, judgements, notes)


def asked_for(
    each: Iterable[str | Measure], convention: str | None = None
) -> tuple[dict[str, Measure], list[str]]:
    """Measures by the names that their results have, and what to know of the names.

    One that is asked for twice is there once, and two different ones never have one name.

    >>> asked_for(["letor4:ap@1", "ndcg@3"])[0].keys()
    dict_keys(['letor4:ap', 'ndcg@3'])
    """
    found: dict[str, Measure] = {}
    notes = []
    for one in each:
        parsed, name = measure(one, convention), str(one)
        name = trec_name(name) or name
        if parsed.k is None and (cut := _CUT_OFF.search(name)):
            name = name[: cut.start()]
            notes.append(f"{name}: {parsed.convention} has no cut-off here, {cut[0].strip()} changes nothing")
        else:
            name = str(one)
        number = 2
        while name in found and found[name] != parsed:
            name, number = f"{one!s}#{number}", number + 1
        found[name] = parsed
    return found, notes


def with_ties(one: Measure, ties: str) -> Measure:
    """The measure with another tie rule than its convention's, unless it names one itself."""
    return one if one.ties is not None else replace(one, ties=ties)


def refuse_one_name(measures: Sequence[Measure]) -> None:
    """Refuse different measures of one name where results are kept by it: two classes of somebody's own."""
    known: dict[str, Measure] = {}
    for one in measures:
        if known.setdefault(str(one), one) != one:
            raise InputError(
                f"two different measures are called {one}: give one of the classes another `name`"
            )


def scored_queries(data: Labelled, scores: ArrayLike) -> ScoredQueries:
    """Check scores against the data they belong to, and put them into the order of the labels."""
    array = _numbers(scores)
    _refuse_other_index(data, scores)
    if array.shape != data.y.shape:
        raise InputError(f"found {array.size} scores for {data.y.size} documents")
    if np.isnan(array).any():
        raise InputError(f"the score of document {int(np.flatnonzero(np.isnan(array))[0]) + 1} is NaN")
    if hasattr(data, "from_input_order") and hasattr(data, "gathered"):
        array, data = np.ascontiguousarray(data.from_input_order(array)), data.gathered()
    return ScoredQueries(data.y, array, data.query_ptr, data.doc_ids)


def _numbers(scores: ArrayLike) -> Values:
    """Scores as float64; what NumPy would change in silence is refused."""
    expected = "scores must be numbers, one a document"
    if np.ma.is_masked(scores):
        raise InputError(f"{expected}: found a masked one")
    try:
        given = np.asarray(scores)
        if given.dtype.kind not in "fiubO":
            raise InputError(f"{expected}: found {given.dtype}")
        if given.dtype.kind == "O" and any(isinstance(one, str | bytes) for one in given.ravel()):
            raise InputError(f"{expected}: found texts")
        return np.ascontiguousarray(given, np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(expected) from None


def _refuse_other_index(data: Labelled, scores: Any) -> None:
    """Refuse a pandas column whose rows are named otherwise than those of the data: which belong together?"""
    index: Any = getattr(data, "index", None)
    other: Any = getattr(scores, "index", None)
    if hasattr(index, "equals") and hasattr(other, "equals") and not index.equals(other):
        raise InputError(
            "the index of scores is not that of the data: align them, or give scores.to_numpy() if the rows "
            "belong together as they stand"
        )
