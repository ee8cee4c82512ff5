"""The rows of a dataset: gathered by query inside, seen from outside in the order in which they came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pomona._types import Offsets
from pomona.data.taken_rows import TakenRows
from pomona.data.text import TextColumn, offsets

if TYPE_CHECKING:
    from pomona.data.dataset import Dataset


def column() -> Any:
    """A column of a dataset: kept with queries gathered, seen in the order in which the rows came.

    Declared as what it gives (`y: Labels = column()`), so that type checkers see no more than an attribute.
    """
    return _Rows()


class _Rows:
    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._kept = name, f"_{name}"

    def __get__(self, data: Dataset | None, owner: type) -> Any:
        if data is None:
            return self
        column = getattr(data, self._kept)
        if isinstance(column, TakenRows):
            column = np.asarray(column)
            setattr(data, self._kept, column)
        if data.input_order is None or column is None:
            return column
        if self._name not in data._as_it_came:
            data._as_it_came[self._name] = _rows(column, np.argsort(data.input_order))
        return data._as_it_came[self._name]

    def __set__(self, data: Dataset, column: Any) -> None:
        data._as_it_came.pop(self._name, None)
        setattr(data, self._kept, column if data.input_order is None else _rows(column, data.input_order))


def _rows(column: Any, rows: Offsets) -> Any:
    """These rows of a column, read only, as they are a copy: what is written there is lost."""
    if column is None or isinstance(column, TextColumn):
        return None if column is None else column.take(rows)
    return read_only(column[rows])


def ranks_of(places: Offsets) -> Offsets | None:
    """The place of each among those given; None if they rise."""
    ranks = np.empty_like(places)
    ranks[np.argsort(places, kind="stable")] = np.arange(len(places))
    return ranks if (np.diff(ranks) < 0).any() else None


def gather(query_ids: NDArray[Any]) -> tuple[Offsets | None, Offsets, NDArray[Any]]:
    """Group rows by query: (row order or None when already grouped, query_ptr, the distinct ids).

    Queries come in order of first appearance, rows of a query in input order.
    """
    n = len(query_ids)
    if n == 0:
        return None, np.zeros(1, np.int64), query_ids
    starts = np.flatnonzero(np.concatenate(([True], query_ids[1:] != query_ids[:-1])))
    run_ids = query_ids[starts]
    distinct, first, which = np.unique(run_ids, return_index=True, return_inverse=True)
    if len(distinct) == len(run_ids):
        return None, np.append(starts, n).astype(np.int64), run_ids
    place = np.empty(len(distinct), np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(distinct))
    run_lengths = np.diff(np.append(starts, n))
    query_of_row = np.repeat(place[which], run_lengths)
    order = np.argsort(query_of_row, kind="stable").astype(np.int64)
    return order, offsets(np.bincount(query_of_row)), run_ids[np.sort(first)]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array as one that is not written to.

    Arrays mapped from disk are read-only, others are not, and a kernel compiles anew for each kind: given all
    its inputs through here, it compiles once.
    """
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view
