"""What a caller may hand over as features, labels and query ids: checked, and turned into arrays."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._machine import require_memory
from pomona._types import Features, Labels, Values
from pomona.data.text import text_array
from pomona.errors import InputError

LARGEST_LABEL = 1 << 24
"""Up to here float32 holds every whole number; beyond, only those that it does not round are taken."""


def refuse_other_index(X: Any, **columns: Any) -> None:
    """Refuse pandas columns whose rows are named otherwise than those of X: which belong together?"""
    index: Any = getattr(X, "index", None)
    for name, column in columns.items():
        other: Any = getattr(column, "index", None)
        if hasattr(index, "equals") and hasattr(other, "equals") and not index.equals(other):
            raise InputError(
                f"the index of {name} is not that of X: align them, or give {name}.to_numpy() if the rows "
                "belong together as they stand"
            )


def checked_query_ids(qid: ArrayLike, n_docs: int) -> NDArray[Any]:
    """The query ids of so many rows as integers or strings; what cannot tell queries apart is refused."""
    query_ids = _told_apart(qid)
    if query_ids.shape != (n_docs,):
        raise InputError(f"found {query_ids.size} query ids for {n_docs} documents")
    return query_ids


def _told_apart(qid: ArrayLike) -> NDArray[Any]:
    if np.ma.is_masked(qid):
        raise InputError("query ids must be integers or strings, found a masked one")
    query_ids = _array(qid, "query ids must be integers or strings")
    if query_ids.dtype.kind == "f":
        exact = 2.0 ** (np.finfo(query_ids.dtype).nmant + 1)
        if not np.all(np.isfinite(query_ids) & (query_ids == np.floor(query_ids))):
            raise InputError("query ids must be integers or strings, found a fraction or NaN")
        if np.any(np.abs(query_ids) >= exact):
            raise InputError(
                f"query ids must be integers or strings, found {query_ids.dtype} beyond {exact:.0f}, "
                "which may be the same for different ids"
            )
        return query_ids.astype(np.int64)
    if query_ids.dtype.kind == "O" or (query_ids.dtype.kind in "SU" and not isinstance(qid, np.ndarray)):
        return _query_ids_of_objects(np.asarray(qid, object))
    return query_ids if query_ids.dtype.kind in "iu" else query_ids.astype(np.str_)


def ids_of_rows(qid: ArrayLike | None, group: ArrayLike | None, n_docs: int) -> NDArray[Any]:
    """The query id of every row, from the ids or from the sizes of queries, whichever was given."""
    if group is not None and qid is None:
        return ids_of_sizes(group, n_docs)
    if qid is not None and group is None:
        return checked_query_ids(qid, n_docs)
    given = "neither" if qid is None else "both"
    raise InputError(f"found {given} of qid and group: give the query ids, or the sizes of queries")


def ids_of_sizes(group: ArrayLike, n_docs: int) -> NDArray[np.int64]:
    """The query ids of rows whose queries have these sizes, one after the other, numbered from 0.

    >>> ids_of_sizes([2, 1, 3], 6).tolist()
    [0, 0, 1, 2, 2, 2]
    """
    sizes = _array(group, "group must be the sizes of queries, whole numbers")
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes <= 0).any():
        raise InputError(f"group must be the sizes of queries, whole numbers above 0, found {group!r:.60}")
    if (total := int(sizes.sum())) != n_docs:
        raise InputError(
            f"group has the sizes of {sizes.size} queries, {total} documents in all, for {n_docs}: "
            "one size a query; ids, one a document, are given as qid"
        )
    return np.repeat(np.arange(sizes.size), sizes)


def _query_ids_of_objects(query_ids: NDArray[Any]) -> NDArray[Any]:
    values = query_ids.ravel().tolist()
    strange = {
        kind.__name__ for kind in set(map(type, values)) if not issubclass(kind, str | int | np.integer)
    }
    if strange:
        raise InputError(f"query ids must be integers or strings, found {', '.join(sorted(strange))}")
    if not any(isinstance(value, str) for value in values):
        for kind in (np.int64, np.uint64):
            with contextlib.suppress(OverflowError):
                return query_ids.astype(kind)
    texts = list(map(str, values))
    # NumPy drops zeros at the end of a text.
    if len(set(values)) > len({text.rstrip("\0") for text in texts}):
        raise InputError("different query ids, such as 1 and '1', would become one: write them differently")
    return text_array(texts).reshape(query_ids.shape)


def checked_features(X: Any) -> Features:
    """Features as a table of float32; what it cannot hold is refused with its place."""
    if np.ma.isMaskedArray(X):  # masked is undefined
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if hasattr(X, "toarray"):
        require_memory(4 * int(np.prod(X.shape, dtype=object)), what=f"a table of shape {X.shape}")
    else:
        X = _array(X, "X must be a table of numbers")
    try:
        with np.errstate(over="raise"):
            if hasattr(X, "toarray"):  # SciPy sparse: absent is 0, as everywhere in that world
                X = X.astype(np.float32).toarray()
            array = np.ascontiguousarray(X, dtype=np.float32)
    except (FloatingPointError, OverflowError):
        raise InputError(
            f"X holds a finite value beyond float32 (3.4e38){_place_beyond(X)}: rescale that feature"
        ) from None
    except (TypeError, ValueError) as error:
        raise InputError(f"X must be a table of numbers: {error}") from None
    if array.ndim != 2:
        raise InputError(
            f"X must have two dimensions, found {array.ndim}: Reshape your data (documents × features)"
        )
    return array


def _array(values: Any, expected: str) -> NDArray[Any]:
    """What was given as an array; whatever its library raises becomes one clear error."""
    try:
        array = np.asarray(values)
    except MemoryError:
        raise
    except Exception as error:
        raise InputError(f"{expected}: {str(error).partition(chr(10))[0]}") from None
    if array.dtype.kind in "cmM" and "numbers" in expected:
        kind = "Complex data" if array.dtype.kind == "c" else "dates"
        raise InputError(f"{expected}: {kind} not supported, found {array.dtype}")
    return array


def _place_beyond(X: Any) -> str:
    """Where the first finite value that float32 cannot hold stands, in words."""
    values = np.asarray(X)
    if values.dtype.kind != "f":
        return ""
    with np.errstate(over="ignore"):
        row, *column = np.argwhere(np.isinf(values.astype(np.float32)) & np.isfinite(values))[0].tolist()
    return f" in row {row + 1}{f', column {column[0] + 1}' if column else ''}"


def checked_labels(y: ArrayLike, n_docs: int) -> Labels:
    """Labels as float32: finite, and none that it would round to another whole number."""
    if np.ma.is_masked(y):
        raise InputError("y must be numbers: found a masked label")
    values = _array(y, "y must be numbers")
    try:
        with np.errstate(over="ignore"):  # becomes infinite, and is refused below
            labels = np.ascontiguousarray(values, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"y must be numbers: {error}") from None
    if labels.shape != (n_docs,):
        raise InputError(f"found {labels.size} labels (shape {labels.shape}) for {n_docs} documents")
    if not np.isfinite(labels).all():
        raise InputError(f"label of document {int(np.flatnonzero(~np.isfinite(labels))[0])} is not finite")
    for row in np.flatnonzero(np.abs(labels) >= LARGEST_LABEL).tolist():
        if int(labels[row]) != values[row]:
            raise InputError(
                f"label {values[row]} of document {row} is beyond what float32 holds ({LARGEST_LABEL})"
            )
    return labels


def checked_numbers(given: ArrayLike, n_docs: int, name: str, what: str = "numbers") -> Values:
    """Finite numbers, one a row, such as weights or scores: `what`; `name` is what the caller calls them."""
    if np.ma.is_masked(given):
        raise InputError(f"{name} must be numbers: found a masked one")
    values = _array(given, f"{name} must be numbers")
    try:
        numbers = np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be numbers: {error}") from None
    if numbers.shape != (n_docs,):
        raise InputError(
            f"{name}: expected {n_docs} finite {what}, one a document, found shape {numbers.shape}"
        )
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise InputError(f"{name}: expected finite {what}, found {numbers[row]:g} for document {row}")
    return numbers


def checked_weights(given: ArrayLike, n_docs: int, name: str = "weight") -> Values:
    """Weights, one a row: numbers of at least 0, the sum of which is finite."""
    weights = checked_numbers(given, n_docs, name, "weights")
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise InputError(f"{name}: weights must not be below 0, found {weights[row]:g} for document {row}")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise InputError(f"{name} has a sum beyond float64: divide the weights by their mean")
    return weights
