"""Rows of a large table in another order, without a copy of it: they are fetched when they are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import over_chunks
from pomona._lazy import cached_property
from pomona._scratch import large_zeros
from pomona._types import Features, Offsets


@dataclass(frozen=True)
class TakenRows:
    """Rows `rows` of a table, itself like a table as long as only some of its rows are looked at.

    >>> taken = TakenRows(np.array([[1.0], [2.0], [3.0]], np.float32), np.array([2, 0]))
    >>> taken.shape, taken[1:].tolist(), np.asarray(taken).tolist()
    ((2, 1), [[1.0]], [[3.0], [1.0]])
    """

    source: Features
    rows: Offsets

    @cached_property
    def places(self) -> Offsets:
        """The inverse of `rows`, of which each is taken once: where row i of the table has gone."""
        places = np.empty_like(self.rows)
        places[self.rows] = np.arange(len(self.rows))
        return places

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)"""
        return len(self.rows), self.source.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the values."""
        return self.source.dtype

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: slice | NDArray[Any]) -> Features:
        return take(self.source, self.rows[rows])

    @cached_property
    def copied(self) -> Features:
        """All rows in their order, copied once; not to be written to if the table is not."""
        made = take(self.source, self.rows)
        made.flags.writeable = self.source.flags.writeable
        return made

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Features:
        return np.array(self.copied, dtype) if copy else np.asarray(self.copied, dtype)


def take(X: Features, rows: Offsets) -> Features:
    """A copy of rows of a large table, which several threads make faster than one."""
    out: Features = large_zeros((len(rows), X.shape[1]), X.dtype)
    over_chunks(_take, len(rows), X, rows, out, smallest=1 << 14)
    return out


def _take(first: int, last: int, X: Features, rows: Offsets, out: Features) -> None:
    np.take(X, rows[first:last], axis=0, out=out[first:last], mode="clip")
