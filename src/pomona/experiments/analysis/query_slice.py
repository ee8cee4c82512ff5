"""Slices of queries: what each query is like, cut into a few groups that can be compared.

A number with more than `MOST_VALUES` values is cut at its quartiles; a text with more than `MOST_TEXTS`
values (the query itself, say) by its number of words; anything else has a group a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona.data.dataset import Dataset
from pomona.errors import InputError

MOST_VALUES = 6
MOST_TEXTS = 12
UNKNOWN = "unknown"
LENGTH, RELEVANT = "documents", "relevant documents"
"""What queries are always sliced by."""


@dataclass(frozen=True)
class QuerySlice:
    """A property of queries, and the group of each query.

    Attributes
    ----------
    groups : what they are called, in their order.
    group_of : (n_queries,) the place of each query's group.
    """

    name: str
    groups: tuple[str, ...]
    group_of: NDArray[np.intp]

    def dependence(self, differences: NDArray[np.float64]) -> float:
        """p of Kruskal & Wallis's test that these numbers, one a query, are spread alike in all groups."""
        rounded = np.round(differences, 12)
        groups = [rounded[self.group_of == g] for g in np.unique(self.group_of)]
        if len(groups) == 1 or np.ptp(rounded) == 0:
            return 1.0
        from scipy.stats import kruskal  # slow to load

        return float(kruskal(*groups).pvalue)


def n_relevant_of(data: Dataset) -> NDArray[np.int64]:
    """The number of documents of every query that have a label above 0."""
    rows = data.gathered()
    counts: NDArray[np.int64] = np.add.reduceat(rows.y > 0, rows.query_ptr[:-1], dtype=np.int64)
    return counts


def slice_of(name: str, values: Iterable[Any]) -> QuerySlice:
    """Cut queries by one value each.

    >>> slice_of("length", [1, 5, 9, 9, 30, 40, 41, 99]).groups
    ('1–5', '6–9', '10–40', '41–99')
    >>> slice_of("market", ["de", "fr", "de"]).groups
    ('de', 'fr')
    """
    known = [None if _is_missing(value) else value for value in values]
    given = [value for value in known if value is not None]
    is_number = bool(given) and all(_is_number(value) for value in given)
    if not is_number and len({str(value) for value in given}) > MOST_TEXTS:
        name, is_number = f"words of {name}", True
        known = [None if value is None else len(str(value).split()) for value in known]
        given = [value for value in known if value is not None]
    if not is_number:
        words = sorted({str(value) for value in given})
        return _grouped(name, words, [None if value is None else words.index(str(value)) for value in known])
    distinct = sorted({float(value) for value in given})
    if len(distinct) <= MOST_VALUES:
        places = [None if value is None else distinct.index(float(value)) for value in known]
        return _grouped(name, [f"{value:g}" for value in distinct], places)
    return _quartiles(name, known)


def slices_of_data(data: Dataset, by: str | Sequence[str] | Mapping[str, Any]) -> list[QuerySlice]:
    """Cut the queries of a dataset by features (their names), or by values that are given.

    by : names of features with one value a query; or values by name, one a query in the order of `data.qids`
        or as a mapping from query id.
    """
    if isinstance(by, Mapping):
        return [slice_of(name, _given(data, name, values)) for name, values in by.items()]
    return [slice_of(name, _feature(data, name)) for name in ([by] if isinstance(by, str) else by)]


def _given(data: Dataset, name: str, values: Any) -> list[Any]:
    if isinstance(values, Mapping):
        texts = {str(qid): value for qid, value in values.items()}
        return [texts.get(str(qid)) for qid in data.qids.tolist()]
    listed = list(values)
    if len(listed) != data.n_queries:
        raise InputError(
            f"found {len(listed)} values of {name!r} for {data.n_queries} queries: give one a query, in the "
            "order of data.qids"
        )
    return listed


def _feature(data: Dataset, name: str) -> list[float]:
    if name not in data.feature_names:
        first = ", ".join(data.feature_names[:5])
        raise InputError(f"no feature {name!r} to slice by (the first are {first}): name one, or give values")
    data = data.gathered()
    column = data.X[:, data.feature_names.index(name)]
    return one_a_query(name, column.tolist(), data.query_ptr.tolist(), data.qids.tolist())


def one_a_query(name: str, values: Sequence[Any], query_ptr: Sequence[int], qids: Sequence[Any]) -> list[Any]:
    """The value of each query, from one a document; refused where the documents of a query differ."""
    found = []
    for qid, begin, end in zip(qids, query_ptr[:-1], query_ptr[1:], strict=True):
        distinct = {None if _is_missing(value) else value for value in values[begin:end]}
        if len(distinct) > 1:
            raise InputError(
                f"{name!r} has {len(distinct)} values in query {qid}, expected one: "
                "slices are of whole queries"
            )
        found.append(distinct.pop())
    return found


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _grouped(name: str, groups: Sequence[str], places: Sequence[int | None]) -> QuerySlice:
    """Groups that hold a query, with one more for queries whose value is unknown."""
    has_unknown = any(place is None for place in places)
    names = (*groups, UNKNOWN) if has_unknown else tuple(groups)
    return QuerySlice(name, names, np.array([len(groups) if p is None else p for p in places], np.intp))


def _quartiles(name: str, known: Sequence[Any]) -> QuerySlice:
    """Four groups of about as many queries each, named by the values at their ends."""
    numbers = np.array([math.nan if value is None else float(value) for value in known])
    given = numbers[~np.isnan(numbers)]
    is_whole = bool((given == np.floor(given)).all())
    ends = np.unique(np.quantile(given, (0.25, 0.5, 0.75), method="lower" if is_whole else "linear"))
    ends = _apart(given, ends[ends < given.max()])
    places = np.searchsorted(ends, numbers, side="left")
    lows, highs = np.concatenate(([given.min()], ends)), np.concatenate((ends, [given.max()]))
    if is_whole:
        lows = lows + (np.arange(len(lows)) > 0)
        titles = [f"{a:g}" if a == b else f"{a:g}–{b:g}" for a, b in zip(lows, highs, strict=True)]
    else:
        titles = [f"{a:.3g} to {b:.3g}" for a, b in zip(lows, highs, strict=True)]
    return _grouped(
        name, titles, [None if math.isnan(x) else int(p) for x, p in zip(numbers, places, strict=True)]
    )


def _apart(given: NDArray[np.float64], ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ends of groups, without those that would leave fewer than a tenth of the queries in one."""
    kept: list[float] = []
    below = 0
    for end in ends:
        so_far = int((given <= end).sum())
        if min(so_far - below, len(given) - so_far) >= 0.1 * len(given):
            kept.append(float(end))
            below = so_far
    return np.array(kept)
