"""Frames of pandas and polars that hold nothing but numbers, as requests do: their values taken at once.

Ten documents would otherwise wait for every column, and longer for the names of the columns than for their
scores. A service is asked with the same columns again and again, so those of pandas are remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_REMEMBERED = 4
_remembered: tuple[tuple[Any, tuple[str, ...]], ...] = ()  # replaced as a whole: threads may read it


def plain_values(frame: Any) -> tuple[tuple[str, ...], NDArray[Any]] | None:
    """The columns and numbers of a frame that holds nothing else; None for any other.

    >>> import polars as pl
    >>> names, values = plain_values(pl.DataFrame({"bm25": [1.5], "clicks": [3]}))
    >>> names, values.tolist()
    (('bm25', 'clicks'), [[1.5, 3.0]])
    """
    library = type(frame).__module__.partition(".")[0]
    names: tuple[str, ...] = ()
    if library == "pandas" and not _has_categories(frame):
        names = _pandas_names(frame.columns)
    elif library == "polars" and hasattr(frame, "to_numpy") and _are_numbers(frame.dtypes):
        names = tuple(frame.columns)
    values = frame.to_numpy() if names else None
    return (names, values) if values is not None and values.dtype.kind in "iuf" else None


def _has_categories(frame: Any) -> bool:
    """Whether a frame of pandas has a column of categories, which might look like numbers."""
    # `dtypes` makes a series of them, which takes longer than all the rest.
    blocks = getattr(getattr(frame, "_mgr", None), "blocks", None)
    dtypes = frame.dtypes.tolist() if blocks is None else [block.dtype for block in blocks]
    return any(type(dtype).__name__ == "CategoricalDtype" for dtype in dtypes)


def _pandas_names(columns: Any) -> tuple[str, ...]:
    """The names of columns as texts; none, if one stands twice."""
    global _remembered
    for known, names in _remembered:
        if known.equals(columns):
            return names
    if not columns.is_unique:
        return ()
    given = columns.to_numpy().tolist()
    names = tuple(map(str, given))
    if all(isinstance(name, str) for name in given):  # 1 and 1.0 are equal, but not as texts
        _remembered = ((columns, names), *_remembered[: _MOST_REMEMBERED - 1])
    return names


def _are_numbers(dtypes: Sequence[Any]) -> bool:
    # Their types first, which are few: asking each column would take as long as all the rest.
    kinds: set[Any] = set(map(type, dtypes))
    return all(kind.is_integer() or kind.is_float() for kind in kinds)


def as_table(plain: NDArray[Any], dtype: Any) -> NDArray[Any] | None:
    """The numbers row by row in this type; None if it cannot hold a finite one."""
    with np.errstate(over="ignore"):
        out = plain.astype(dtype, order="C")
    if np.can_cast(plain.dtype, dtype) or np.isfinite(out).all():
        return out
    return None if (np.isinf(out) & np.isfinite(plain)).any() else out
