"""What float32 makes of the features: said where it loses something that a model could have learned.

Pomona keeps features in float32, which has 24 binary digits. Most columns lose nothing that matters. Two
kinds do: whole numbers beyond 2^24 (ids, times in seconds), where more than one in twenty is rounded; and
columns whose values lie so close together, far from 0, that float32 has few steps between the least and the
greatest. For those the reader warns, with the name of the column and what to do.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features

_LARGEST_WHOLE, _LARGEST_ID = 1 << 24, 2.0**64
_FEWEST_STEPS = 1 << 16
_ROWS_AT_ONCE = 1 << 14
_MOST_NAMED = 3
_NOWHERE = np.float32(np.inf)
_ARRAYS = (
    *("lowest", "highest", "is_fractional"),
    *("n_rounded", "n_values", "is_changed", "varies"),
)
_SHARE_ROUNDED = 0.05


class Rounding:
    """The columns of a table, in one piece or several, before and after they became float32.

    >>> times = np.array([[1700000000.0], [1700000060.0]])
    >>> rounding = Rounding(1)
    >>> rounding.add(times, times.astype(np.float32))
    >>> rounding.note(["time"])[:70]
    "float32 rounds whole numbers beyond 2^24 (16777216) in column 'time': "
    """

    def __init__(self, n_columns: int = 0) -> None:
        self.lowest = np.full(n_columns, _NOWHERE)
        self.highest = np.full(n_columns, -_NOWHERE)
        self.is_fractional = np.zeros(n_columns, np.bool_)
        """Whether some value is no whole number; known where a column holds numbers beyond 2^24."""
        self.n_rounded = np.zeros(n_columns, np.int64)
        """How many whole numbers beyond 2^24 were changed."""
        self.n_values = np.zeros(n_columns, np.int64)
        """Of how many but 0; known where a column holds numbers beyond 2^24."""
        self.is_changed = np.zeros(n_columns, np.bool_)
        """Whether any value was changed; known where float32 has few steps in the column."""
        self.some: dict[int, float] = {}
        """A value of each column that has few steps: if it has no other, nothing is lost."""
        self.varies = np.zeros(n_columns, np.bool_)

    def add(self, before: NDArray[Any], after: Features) -> None:
        """Rows as they were given, and as float32."""
        lowest, highest = self.add_ranges(after)
        if before.dtype.kind == "O":
            before = _plain(before)
        is_large = np.maximum(np.abs(lowest), np.abs(highest)) >= _LARGEST_WHOLE
        is_large &= lowest <= highest
        # Whether the column has fractions must be known of every piece, as another may have large numbers.
        may_be_whole = np.flatnonzero(~self.is_fractional)
        head = before[:64, may_be_whole]
        with np.errstate(invalid="ignore"):
            is_whole = ((head == np.floor(head)) | ~_finite(head)).all(axis=0)
        self.is_fractional[may_be_whole[~is_whole]] = True
        few = (_steps(lowest, highest) < _FEWEST_STEPS) & (lowest <= highest)
        few &= (lowest != 0) | (highest != 0)  # there are many columns of nothing but 0
        for j in np.flatnonzero((is_large & ~self.is_fractional) | few | self._watched()).tolist():
            self._look_at(j, np.asarray(before[:, j]), after[:, j], bool(few[j]))

    def add_column(self, place: int, before: NDArray[Any], after: NDArray[np.float32]) -> None:
        """The same of one column."""
        self._widen(place + 1)
        alone = Rounding(1)
        for name in _ARRAYS:
            getattr(alone, name)[0] = getattr(self, name)[place]
        alone.some = {0: self.some[place]} if place in self.some else {}
        alone.add(before[:, None], after[:, None])
        for name in _ARRAYS:
            getattr(self, name)[place] = getattr(alone, name)[0]
        if 0 in alone.some:
            self.some[place] = alone.some[0]

    def add_ranges(self, after: Features) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Note, and give, the least and the greatest value of each column of some rows."""
        self._widen(after.shape[1])
        lowest, highest = _range_of(after)
        self.lowest, self.highest = np.fmin(self.lowest, lowest), np.fmax(self.highest, highest)
        return lowest, highest

    def add_range(self, place: int, after: NDArray[np.float32]) -> None:
        """The same of all values of a column of which `add_column` is told only some."""
        lowest, highest = _range_of(after[:, None])
        self.lowest[place] = min(self.lowest[place], lowest[0])
        self.highest[place] = max(self.highest[place], highest[0])

    def _watched(self) -> NDArray[np.bool_]:
        """Columns that have large whole numbers in an earlier piece: they must have no fraction here."""
        return (self.n_rounded > 0) & ~self.is_fractional

    def _look_at(self, j: int, before: NDArray[Any], after: NDArray[np.float32], few: bool) -> None:
        present = _finite(before)
        before, after = before[present], after[present].astype(np.float64)
        doubles = before.astype(np.float64)
        changed = is_changed(before, after)
        self.is_fractional[j] |= bool((doubles != np.floor(doubles)).any())
        # Beyond, every float is a whole number, and few are meant as one.
        large = (np.abs(doubles) > _LARGEST_WHOLE) & (np.abs(doubles) <= _LARGEST_ID)
        rounded = changed & large
        self.n_rounded[j] += int(rounded.sum())
        self.n_values[j] += int((before != 0).sum())
        if few and len(before):
            self.is_changed[j] |= bool(changed.any())
            one = before.item(0)
            self.varies[j] |= bool((before != one).any()) or self.some.setdefault(j, one) != one

    def _widen(self, n_columns: int) -> None:
        """Columns that earlier pieces did not have."""
        if (missing := n_columns - len(self.lowest)) > 0:
            for name, filling in (("lowest", _NOWHERE), ("highest", -_NOWHERE)):
                setattr(self, name, np.append(getattr(self, name), np.full(missing, filling)))
            for name in _ARRAYS[2:]:
                present = getattr(self, name)
                setattr(self, name, np.append(present, np.zeros(missing, present.dtype)))

    def note(self, names: Sequence[str]) -> str:
        """What is lost and what to do, in words; empty if nothing is."""
        # A few large ones among counts, each less than a millionth off, do no harm.
        whole = (self.n_rounded > _SHARE_ROUNDED * self.n_values) & ~self.is_fractional
        few = self.is_changed & self.varies & (_steps(self.lowest, self.highest) < _FEWEST_STEPS) & ~whole
        notes = []
        if whole.any():
            notes.append(
                f"float32 rounds whole numbers beyond 2^24 (16777216) in {_named(whole, names)}: leave out "
                "what is an id; of a time give the difference to a recent one, or a larger unit"
            )
        if few.any():
            notes.append(
                f"float32 has fewer than {_FEWEST_STEPS} steps between the least and the greatest value of "
                f"{_named(few, names)}, so values that differ may become equal: subtract a constant, such as "
                "the least value, first"
            )
        return "; ".join(notes)


def is_changed(before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.bool_]:
    """Which numbers another type does not hold as they were."""
    doubles = before.astype(np.float64)
    changed: NDArray[np.bool_] = doubles != after
    if before.dtype.kind in "iu":  # a float64 holds not all of them either
        with np.errstate(invalid="ignore"):
            changed |= doubles.astype(before.dtype) != before
    return changed


def columns_in_doubt(some: Features, table: Features) -> tuple[list[int], list[int]]:
    """The columns of a table of float32 in which something may have been lost, told from some of its rows.

    (those of whole numbers, some beyond 2^24; those of few steps)
    """
    lowest, highest = _range_of(some)
    is_large = np.maximum(np.abs(lowest), np.abs(highest)) >= _LARGEST_WHOLE
    is_large &= ((some == np.floor(some)) | ~np.isfinite(some)).all(axis=0)
    few = (_steps(lowest, highest) < _FEWEST_STEPS) & ((lowest != 0) | (highest != 0))
    for j in np.flatnonzero(few & ~is_large).tolist():
        few[j] = (_steps(*_range_of(table[:, j : j + 1])) < _FEWEST_STEPS)[0]
    is_large &= lowest <= highest
    return np.flatnonzero(is_large).tolist(), np.flatnonzero(few & ~is_large & (lowest <= highest)).tolist()


def warn_of(note: str, stacklevel: int = 3) -> None:
    """Say a note, if there is one."""
    if note:
        warnings.warn(note, UserWarning, stacklevel=stacklevel)


def _named(chosen: NDArray[np.bool_], names: Sequence[str]) -> str:
    places = np.flatnonzero(chosen).tolist()
    shown = ", ".join(repr(str(names[j])) for j in places[:_MOST_NAMED])
    more = f" and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
    return f"column{'s' if len(places) > 1 else ''} {shown}{more}"


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Objects as whole numbers, if they are some, or as floats."""
    if all(issubclass(kind, int) for kind in set(map(type, values.ravel().tolist()))):
        for kind in (np.int64, np.uint64):
            with contextlib.suppress(OverflowError):
                return values.astype(kind)
    return values.astype(np.float64)


def _finite(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isfinite(values) if values.dtype.kind == "f" else np.ones(values.shape, np.bool_)


def _range_of(values: Features) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The least and the greatest finite value of each column; inf and -inf where there is none."""
    lowest, highest = np.full(values.shape[1], _NOWHERE), np.full(values.shape[1], -_NOWHERE)
    for first in range(0, len(values), _ROWS_AT_ONCE):
        some = values[first : first + _ROWS_AT_ONCE]
        low, high = np.fmin.reduce(some, axis=0), np.fmax.reduce(some, axis=0)
        if np.isinf(low).any() or np.isinf(high).any():
            finite = np.isfinite(some)
            low = np.min(some, axis=0, where=finite, initial=np.inf)
            high = np.max(some, axis=0, where=finite, initial=-np.inf)
        lowest, highest = np.fmin(lowest, low), np.fmax(highest, high)
    return lowest, highest


def _steps(lowest: NDArray[np.float32], highest: NDArray[np.float32]) -> NDArray[np.int64]:
    """How many steps of float32 lead from one to the other."""
    return _rank(highest) - _rank(lowest)


def _rank(values: NDArray[np.float32]) -> NDArray[np.int64]:
    bits = np.ascontiguousarray(values, np.float32).view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)
