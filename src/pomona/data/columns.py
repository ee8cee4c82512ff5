"""What a caller may hand over as features, labels and query ids: checked, and turned into arrays."""

from __future__ import annotations

import contextlib
import datetime
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._machine import require_memory
from pomona._types import Features, Labels, Values
from pomona.data.precision import Rounding, is_changed
from pomona.data.text import TextColumn, text_array
from pomona.errors import InputError

LARGEST_LABEL = 1 << 24
"""Up to here float32 holds every whole number; beyond, only those that it does not round are taken."""


def refuse_other_index(X: Any, **columns: Any) -> None:
    """Refuse pandas columns whose rows are named otherwise than those of X: which belong together?

    X : a frame, or a `Dataset`, which knows how the rows of its frame were named. Where the rows of X have no
        names, those of the columns must be the same.
    """
    index: Any = getattr(X, "index", None)
    whose = "X"
    for name, column in columns.items():
        other: Any = getattr(column, "index", None)
        if not hasattr(other, "equals"):
            continue
        if not hasattr(index, "equals"):
            index, whose = other, name
        elif not index.equals(other):
            raise InputError(
                f"the index of {name} is not that of {whose}: align them, or give {name}.to_numpy() if the "
                "rows belong together as they stand"
            )


def numbers_of_rows(values: Any, name: str, rows: Any = None, n_rows: int | None = None) -> Values:
    """One number a row as float64, such as weights or scores; what would change in silence is refused.

    That is a pandas column with another index than `rows`, a masked value, texts, dates, complex numbers,
    true and false, and whole numbers beyond 2^53 that float64 rounds. NaN and infinity are for the caller.

    rows : what the numbers belong to: the frame, or the `Dataset`.
    n_rows : how many there must be.

    >>> numbers_of_rows([1, 2.5], "scores").tolist()
    [1.0, 2.5]
    """
    refuse_other_index(rows, **{name: values})
    array = _numbers(values, f"{name} must be numbers", takes_booleans=False)
    numbers: Values = array.astype(np.float64)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size:
        with np.errstate(invalid="ignore"):
            rounded = np.flatnonzero(numbers.astype(array.dtype) != array)
        if rounded.size:
            raise InputError(
                f"{name} must be numbers that float64 holds: it would round {array.flat[rounded[0]]} (value "
                f"{rounded[0] + 1})"
            )
    if n_rows is not None and numbers.shape != (n_rows,):
        raise InputError(f"found {numbers.size} values (shape {numbers.shape}) as {name} for {n_rows} rows")
    return numbers


def document_ids(ids: Any, n_docs: int) -> TextColumn:
    """The ids of so many documents as texts: strings, whole numbers, or empty where one is missing."""
    if isinstance(ids, TextColumn):
        texts = ids
    else:
        if isinstance(ids, str | bytes):
            raise InputError(f"document ids must be one a document, found the text {ids!r:.40}")
        if np.ma.is_masked(ids):
            raise InputError("document ids must be strings or integers, found a masked one")
        values = ids.tolist() if isinstance(ids, np.ndarray) or hasattr(ids, "tolist") else list(ids)
        texts = TextColumn.of([_document_id(value) for value in values])
    if len(texts) != n_docs:
        raise InputError(f"found {len(texts)} document ids for {n_docs} documents")
    return texts


def _document_id(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value))
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer() and abs(float(value)) < 2.0**53:
        return str(int(value))  # whole numbers among which one is missing
    raise InputError(f"document ids must be strings or integers, found {value!r:.40}")


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
    if query_ids.dtype.kind == "T":  # NumPy's strings of any length: as objects, missing ones are seen
        query_ids = query_ids.astype(object)
    if query_ids.dtype.kind in "bcmMV":
        raise InputError(f"query ids must be integers or strings, found {_KINDS[query_ids.dtype.kind]}")
    if query_ids.dtype.kind == "S":  # bytes of no known encoding
        try:
            return np.char.decode(query_ids, "utf-8")
        except UnicodeDecodeError:
            raise InputError("query ids must be integers or strings, found bytes that are no UTF-8") from None
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
    if np.ma.is_masked(group):
        raise InputError("group must be the sizes of queries, whole numbers above 0, found a masked one")
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
        kind.__name__
        for kind in set(map(type, values))
        if not issubclass(kind, str | int | np.integer) or issubclass(kind, bool)
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


def checked_features(X: Any, rounding: Rounding | None = None) -> Features:
    """Features as a table of float32; what it cannot hold is refused with its place.

    rounding : is told what float32 changes.
    """
    if np.ma.isMaskedArray(X):  # masked is undefined
        _numbers(np.ma.getdata(X), "X must be a table of numbers")
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if hasattr(X, "toarray"):
        require_memory(4 * int(np.prod(X.shape, dtype=object)), what=f"a table of shape {X.shape}")
        if X.dtype.kind == "c":
            raise InputError(f"X must be a table of numbers: {_KINDS['c']} not supported, found {X.dtype}")
    else:
        X = _numbers(X, "X must be a table of numbers")
    try:
        with np.errstate(over="raise"):
            if hasattr(X, "toarray"):  # SciPy sparse: absent is 0, as everywhere in that world
                given, X = X, X.astype(np.float32).toarray()
                if rounding is not None:
                    _add_sparse(rounding, given, X)
                rounding = None
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
    if rounding is not None and X.dtype != np.float32:
        rounding.add(X, array)
    return array


def _add_sparse(rounding: Rounding, given: Any, table: Features) -> None:
    """What became of a sparse matrix: only columns that hold a value that was changed are looked at."""
    if given.dtype.kind == "b" or given.dtype in (np.float32, np.float16):
        return
    entries = given.tocoo()
    changed = is_changed(entries.data, entries.data.astype(np.float32))
    for j in np.unique(entries.col[changed]).tolist():
        before = np.zeros(table.shape[0], given.dtype)
        here = entries.col == j
        np.add.at(before, entries.row[here], entries.data[here])  # entries that stand twice are summed
        rounding.add_column(j, before, table[:, j])


_KINDS = {
    "b": "true and false",
    "c": "Complex data",
    "m": "durations",
    "M": "dates",
    "S": "texts",
    "T": "texts",
    "U": "texts",
    "V": "records",
}


def _numbers(values: Any, expected: str, *, takes_booleans: bool = True) -> NDArray[Any]:
    """What was given as an array of numbers; refused is what NumPy would silently make numbers of.

    Of Python's objects, None and the missing value of pandas become NaN.
    """
    if np.ma.is_masked(values):
        raise InputError(f"{expected}: found a masked value")
    array = _array(values, expected)
    kind = array.dtype.kind
    if kind in "cmMSTUV" or (kind == "b" and not takes_booleans):
        raise InputError(f"{expected}: {_KINDS[kind]} not supported, found {_shown(array)}{_REMEDIES[kind]}")
    if kind != "O":
        return array
    flat = array.ravel().tolist()
    for type_ in set(map(type, flat)):
        is_wrong = issubclass(type_, str | bytes | bytearray | complex | np.complexfloating | _DATES)
        if is_wrong or (issubclass(type_, bool | np.bool_) and not takes_booleans):
            first = next(value for value in flat if type(value) is type_)
            raise InputError(f"{expected}: {type_.__name__} not supported, found {first!r:.40}")
        if type_.__name__ == "NAType":
            array = np.array([None if type(value) is type_ else value for value in flat], object)
            array = array.reshape(np.shape(values))
    return array


_DATES = datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64
_REMEDIES = {
    **dict.fromkeys("bSTU", ": make them numbers first (astype(float))"),
    **dict.fromkeys("mM", ": give numbers, such as the days since a date"),
    **dict.fromkeys("cV", ""),
}


def _shown(array: NDArray[Any]) -> str:
    return f"{array.dtype} ({array.flat[0]!r:.30})" if array.size else str(array.dtype)


def _array(values: Any, expected: str) -> NDArray[Any]:
    """What was given as an array; whatever its library raises becomes one clear error."""
    try:
        return np.asarray(values)
    except MemoryError:
        raise
    except Exception as error:
        raise InputError(f"{expected}: {str(error).partition(chr(10))[0]}") from None


def _place_beyond(X: Any) -> str:
    """Where the first finite value that float32 cannot hold stands, in words."""
    values = np.asarray(X)
    if values.dtype.kind != "f":
        return ""
    with np.errstate(over="ignore"):
        row, *column = np.argwhere(np.isinf(values.astype(np.float32)) & np.isfinite(values))[0].tolist()
    return f" in row {row + 1}{f', column {column[0] + 1}' if column else ''}"


def checked_labels(y: ArrayLike, n_docs: int) -> Labels:
    """Labels as float32: finite or NaN (not judged), and none that it would round to another whole number."""
    if np.ma.is_masked(y):
        raise InputError("y must be numbers: found a masked label; NaN says that a document is not judged")
    values = _numbers(y, "y must be numbers")
    try:
        with np.errstate(over="ignore"):  # becomes infinite, and is refused below
            labels = np.ascontiguousarray(values, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"y must be numbers: {error}") from None
    if labels.shape != (n_docs,):
        raise InputError(f"found {labels.size} labels (shape {labels.shape}) for {n_docs} documents")
    if np.isinf(labels).any():
        raise InputError(f"label of document {int(np.flatnonzero(np.isinf(labels))[0])} is not finite")
    for row in np.flatnonzero(np.abs(labels) >= LARGEST_LABEL).tolist():
        if int(labels[row]) != values[row]:
            raise InputError(
                f"label {values[row]} of document {row} is beyond what float32 holds ({LARGEST_LABEL})"
            )
    _warn_of_merged(values, labels)
    return one_nan(labels)


def one_nan(labels: Labels) -> Labels:
    """The labels with one NaN for all: others have other bits, and −nan is read from text."""
    unjudged = np.isnan(labels)
    return np.where(unjudged, np.float32(np.nan), labels) if unjudged.any() else labels


def _warn_of_merged(values: NDArray[Any], labels: Labels) -> None:
    """Say it if two labels become one in float32."""
    if values.dtype.kind != "f" or values.dtype.itemsize <= labels.itemsize or (labels == values).all():
        return
    distinct = np.unique(values[~np.isnan(values)])
    rounded = distinct.astype(np.float32)
    if (same := np.flatnonzero(rounded[1:] == rounded[:-1])).size:
        one, other = distinct[same[0] : same[0] + 2].tolist()
        warnings.warn(
            f"labels {one!r} and {other!r} become one in float32, which has some seven digits: label "
            "documents with fewer digits, or with their ranks",
            UserWarning,
            stacklevel=5,
        )


def warn_of_negative(labels: Labels, where: object = None, stacklevel: int = 3) -> None:
    """Say what a label below 0 will mean, as people mean different things by it."""
    if (n := int((labels < 0).sum())) == 0:
        return
    first = labels[int(np.argmax(labels < 0))]
    place = "" if where is None else f"{where}: "
    warnings.warn(
        f"{place}{n} label{'s are' if n > 1 else ' is'} below 0 (such as {first:g}): measures take such a "
        "document as not judged, rankers learn a grade below 0; for documents that nobody judged give NaN",
        UserWarning,
        stacklevel=stacklevel,
    )


def checked_numbers(given: ArrayLike, n_docs: int, name: str, what: str = "numbers") -> Values:
    """Finite numbers, one a row, such as weights or scores: `what`; `name` is what the caller calls them."""
    numbers = np.ascontiguousarray(numbers_of_rows(given, name))
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
