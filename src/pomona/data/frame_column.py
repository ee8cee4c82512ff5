"""One column of a data frame, as narwhals has it: checked, and as an array."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona.data.text import is_number
from pomona.errors import InputError


def check_column(name: str, columns: list[str], use: str) -> None:
    """Refuse a frame that lacks a column, with the name that was perhaps meant."""
    if name not in columns:
        by_lower_case = {str(column).lower(): str(column) for column in columns}
        near = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=0.5)
        first = ", ".join(map(repr, columns[:5]))
        hint = f": did you mean {by_lower_case[near[0]]!r}?" if near else f" (the first columns: {first})"
        raise InputError(f"no column {name!r}{hint}; the option {use} names it")


def check_no_null(column: Any, name: str) -> None:
    """Refuse a column with a value missing."""
    missing = column.is_null().to_numpy()
    if missing.any():
        row = int(np.flatnonzero(missing)[0]) + 1
        raise InputError(
            f"column {name!r} is null in {int(missing.sum())} rows (first: row {row}), expected a value"
        )


def numbers_of(column: Any, use: str) -> NDArray[np.float64]:
    """A column as float64, null as NaN."""
    import narwhals as nw

    if column.null_count() == len(column):  # of no kind, or of whatever kind the reader took it for
        return np.full(len(column), np.nan)
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        others = ((row, value) for row, value in enumerate(column.to_list(), 1) if value is not None)
        first = next((f" (row {row}: {value!r})" for row, value in others if not is_number(value)), "")
        raise InputError(f"column {column.name!r} ({use}) holds {column.dtype}, expected numbers{first}")
    numbers: NDArray[np.float64] = column.cast(nw.Float64).fill_null(float("nan")).to_numpy()
    return numbers


def exact_values(column: Any) -> NDArray[Any]:
    """A column as an array that holds the same values: numbers as such, others as objects."""
    kind = column.dtype
    if kind.is_float() or kind.is_temporal() or (kind.is_integer() and "128" not in str(kind)):
        exact: NDArray[Any] = column.to_numpy()
        return exact
    return np.array(column.to_list(), object)
