"""The LETOR text format: `label qid:Q 1:v 2:v … #comment`, one document a line.

Two passes over the bytes. The first finds the lines and reads their heads, which tells how many documents
there are and the row of each once its query is gathered; the second reads the features of every line
straight into that row. Both run in threads on ranges, and neither copies a value.

What we do differently from other readers: values are exactly numpy.float32(float(text)); queries may be
scattered and features in any order; and whatever is not in the format is refused with its place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pomona._machine import in_units, memory_room, require_memory
from pomona._types import Features, Labels, Offsets
from pomona.data import _letor_kernels as kernels
from pomona.data import parsed_cache
from pomona.data.columns import LARGEST_LABEL, one_nan, warn_of_negative
from pomona.data.compression import is_plain, plain_name
from pomona.data.dataset import Dataset
from pomona.data.letor_source import (
    BYTES_A_PIECE,
    LINES_A_PIECE,
    LetorSource,
    over_pieces,
    read_comments,
)
from pomona.data.overlap import warn_of_shared_queries
from pomona.data.precision import Rounding, columns_in_doubt, warn_of
from pomona.data.query_sizes import QuerySizes
from pomona.data.rows import gather
from pomona.data.text import text_array
from pomona.errors import InputError

Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"

ABSENT = 0.0
"""What a feature is that a line leaves out, in every verb and reader, unless they are told otherwise."""

_NAMES_A_CHECK, _BYTES_A_NAME = 1 << 15, 512
_LINES_LOOKED_AT, _LINES_READ_AGAIN = 1024, 64
_BYTES_STREAMED = 1 << 27  # at a time, of text that does not fit into memory, or is kept in the cache
_LINE_AFTER_RETURN = re.compile(rb"\r[ \t]*[^ \t\r\n]+[ \t]+qid:")
_DECOMPRESSED = 8  # bytes of text in a compressed byte, about


def read_letor(
    paths: Paths,
    *,
    n_features: int | None = None,
    undefined: float = ABSENT,
    query_file: Paths | None = None,
    cache: bool = False,
) -> Dataset:
    """Read one or many files, plain or compressed (.gz, .bz2, .xz, .zst), as one dataset.

    Documents of a query are gathered wherever they stand, also in several files, of which a warning tells;
    queries come in the order in which they first
    appear. `data.n_undefined` is the number of features that are missing, NaN or the token NULL.

    Parameters
    ----------
    paths : a file, or files that are read one after the other.
    n_features : columns of `X`; the largest feature id of the files when left out.
    undefined : the value of features that are missing or NULL; may be NaN.
    query_file : for lines without `qid:`, a file with the number of rows of each query (one for each of
        `paths`), as LightGBM has it; queries are then numbered from 1.
    cache : keep a binary copy, and map it instead of reading the text as long as that does not change.

    Text that memory has no room for is read piece by piece into a file on disk, which is then mapped.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.txt")
    ...     _ = path.write_text("2 qid:7 1:0.5 3:1e-3 # d1\\n0 qid:5 2:4\\n1 qid:7 2:8 # d2\\n")
    ...     data = read_letor(path, undefined=float("nan"))
    >>> data.qids.tolist(), data.qid.tolist(), data.y.tolist(), list(data.doc_ids)
    ([7, 5], [7, 5, 7], [2.0, 0.0, 1.0], ['d1', '', 'd2'])
    >>> data.X[2].tolist(), data.n_undefined
    ([nan, 8.0, nan], 5)
    """
    files = _as_paths(paths)
    query_files = None if query_file is None else _as_paths(query_file)
    if not files:
        raise InputError("found no file to read")
    if query_files is not None and len(query_files) != len(files):
        raise InputError(f"found {len(query_files)} query files for {len(files)} files")
    if n_features is not None and not 1 <= n_features <= kernels.LARGEST_FEATURE_ID:
        raise InputError(f"n_features must be in 1..{kernels.LARGEST_FEATURE_ID}, found {n_features}")

    with np.errstate(over="ignore"):
        filling = np.float32(undefined)
    if np.isinf(filling) and np.isfinite(undefined):
        raise InputError(f"undefined must be NaN or a value that float32 can hold, found {undefined}")

    given, rounding = (files, n_features, filling, query_files), Rounding()
    parse, pieces = partial(_parse, *given), partial(_pieces, *given, rounding)
    stream = parsed_cache.Stream(str(files[0]), pieces, undefined=float(filling), rounding=rounding)
    if cache:
        sources, parameters = [*files, *(query_files or ())], [n_features, float(undefined), len(files)]
        data = parsed_cache.kept(
            sources, parameters, parse, lambda: stream if _size_of(files) > _BYTES_STREAMED else None
        )
    else:
        data = parsed_cache.mapped(stream) if _are_beyond_memory(files) else parse()
    place = ", ".join(map(str, files))
    warn_of_negative(data.gathered().y, place)
    warn_of(data.rounding and f"{place}: {data.rounding}")
    return data


@dataclass(frozen=True)
class _Heads:
    """What the first pass finds: one entry a document, up to the first line whose head is wrong."""

    labels: Labels
    queries: NDArray[np.int64]
    queries_at: Offsets
    features_at: Offsets
    names: list[str] | None
    """Of the queries, if some are no integers; `queries` then tells which."""
    width: int
    error: InputError | None

    def before(self, line: int, error: InputError) -> _Heads:
        """Only what stands before a line that turns out to be wrong."""
        columns = ("labels", "queries", "queries_at", "features_at")
        return replace(self, error=error, **{name: getattr(self, name)[:line] for name in columns})


def _parse(
    files: Sequence[Path], n_features: int | None, undefined: np.float32, query_files: Sequence[Path] | None
) -> Dataset:
    source = LetorSource.read(files)
    source.require_memory_of_lines(shortest=8 if query_files is None else 2)
    heads = _read_heads(source, with_queries=query_files is None)
    if len(heads.labels) == 0 and heads.error is None:
        raise _no_document(files)
    queries = None
    if query_files is not None:
        sizes = QuerySizes.read(query_files)
        n_rows = np.diff(np.searchsorted(heads.features_at, [*source.starts, source.text.size])).tolist()
        for number, file in enumerate(files if heads.error is None else ()):
            sizes.check(number, file, n_rows[number])
        queries = sizes.queries_of(0, len(heads.labels))
    rounding = Rounding()
    data = _documents(source, heads, n_features, undefined, queries, rounding)
    data.rounding = rounding.note(data.feature_names)
    if len(files) > 1 and query_files is None:
        ends = np.searchsorted(heads.features_at, source.starts[1:])
        of_files = [np.unique(part) for part in np.split(heads.queries, ends)]
        names = None if heads.names is None else np.array(heads.names, object)
        warn_of_shared_queries([ids if names is None else names[ids] for ids in of_files], files)
    return data


def _pieces(
    files: Sequence[Path],
    n_features: int | None,
    undefined: np.float32,
    query_files: Sequence[Path] | None,
    rounding: Rounding,
) -> Iterator[Dataset]:
    """The same documents, some lines at a time."""
    size = max(BYTES_A_PIECE, min(_BYTES_STREAMED, memory_room() // 16))
    sizes = None if query_files is None else QuerySizes.read(query_files)
    of_files: list[NDArray[Any]] = []
    n_docs = 0
    for number, file in enumerate(files):
        before, qids = n_docs, set()
        for source in LetorSource.in_pieces(file, size):
            source.require_memory_of_lines(shortest=8 if sizes is None else 2)
            heads = _read_heads(source, with_queries=sizes is None)
            n = len(heads.labels)
            if n == 0 and heads.error is None:
                continue
            queries = None if sizes is None else sizes.queries_of(n_docs, n_docs + n)
            piece = _documents(source, heads, n_features, undefined, queries, rounding)
            qids.update(piece.qids.tolist())
            n_docs += n
            yield piece
        if sizes is None:
            of_files.append(np.array([str(qid) for qid in qids]))
        else:
            sizes.check(number, file, n_docs - before)
    if n_docs == 0:
        raise _no_document(files)
    if len(of_files) > 1:
        warn_of_shared_queries(of_files, files)


def _documents(
    source: LetorSource,
    heads: _Heads,
    n_features: int | None,
    undefined: np.float32,
    queries: NDArray[np.int64] | None,
    rounding: Rounding,
) -> Dataset:
    """The documents of a text whose heads are read; `queries` has their query ids, where no line has.

    rounding : is told what float32 changes of the features.
    """
    n_docs = len(heads.labels)
    order, query_ptr, qids = gather(heads.queries if queries is None else queries)
    qids = qids if heads.names is None else text_array(heads.names)[qids]
    rows = np.empty(0, np.int64)
    if order is not None:
        rows = np.empty(n_docs, np.int64)
        rows[order] = np.arange(n_docs)
    X, n_undefined, hash_at = _read_features(source, heads, rows, n_features, undefined)
    if heads.error is not None:  # only now, because an earlier line may have a wrong feature
        raise heads.error
    _look_for_rounding(source, heads, rows, X, rounding)
    comments, doc_ids = read_comments(source, hash_at if order is None else hash_at[order])
    return Dataset.from_parts(
        X,
        heads.labels if order is None else heads.labels[order],
        query_ptr,
        qids,
        doc_ids=doc_ids,
        comments=comments,
        input_order=order,
        n_undefined=n_undefined,
    )


def _size_of(files: Sequence[Path]) -> int:
    """How many bytes of text there are, about; pipes tell nothing."""
    sizes = {file: file.stat().st_size for file in files if file.is_file()}
    return sum(size if is_plain(file) else _DECOMPRESSED * size for file, size in sizes.items())


def _are_beyond_memory(files: Sequence[Path]) -> bool:
    """Whether the text, and features that take as much again, had better not be in memory at once."""
    size = _size_of(files)
    return size > _BYTES_STREAMED // 8 and 2 * size > memory_room()


def _no_document(files: Sequence[Path]) -> InputError:
    return InputError("found no document", ", ".join(str(path) for path in files))


def _read_heads(source: LetorSource, with_queries: bool) -> _Heads:
    n_bytes = source.text.size - kernels.PADDING + 1
    parts = over_pieces(kernels.index_lines, n_bytes, BYTES_A_PIECE, source.text, source.words, with_queries)
    error = None
    for i, (*_, error_at, code) in enumerate(parts):
        if code != kernels.FINE:
            error, parts = _error(source, error_at, code), parts[: i + 1]
            break
    labels, queries, queries_at, features_at = (
        np.concatenate([part[field] for part in parts]) for field in range(4)
    )
    width = max(part[5] for part in parts)
    if error is None and len(labels) == 1 and _LINE_AFTER_RETURN.search(source.text.data):
        # All that follows would be a part of the comment of the first line.
        raise InputError(
            "has lines that end with CR alone: end them with LF, as other systems do", source.files[0]
        )
    heads = _Heads(one_nan(labels), queries, queries_at, features_at, None, width, error)
    heads = _with_exact_labels(source, heads)
    return heads if all(part[4] for part in parts) else _with_named_queries(source, heads)


def _with_exact_labels(source: LetorSource, heads: _Heads) -> _Heads:
    """Read the labels that the kernel could not be sure of, and those that float32 may have rounded."""
    for i in np.flatnonzero(np.abs(heads.labels) >= LARGEST_LABEL).tolist():
        at = int(heads.features_at[i])
        while at > 0 and source.text[at - 1] != ord("\n"):
            at -= 1
        line = source.content(at)
        at += len(line) - len(line.lstrip(b" \t"))
        token = line.split()[0]
        heads.labels[i] = _exact_value(token)
        if np.isinf(heads.labels[i]):
            return heads.before(i, _error(source, at, kernels.BAD_LABEL))
        if abs(heads.labels[i]) >= LARGEST_LABEL and Decimal(token.decode()) != int(heads.labels[i]):
            return heads.before(
                i, source.refuse(at, f"a label that float32 can hold (up to {LARGEST_LABEL})")
            )
    return heads


def _with_named_queries(source: LetorSource, heads: _Heads) -> _Heads:
    """Number the queries by their text, in order of appearance."""
    numbers: dict[bytes, int] = {}
    names: list[str] = []
    queries = np.empty_like(heads.queries)
    for i, (start, end) in enumerate(zip(heads.queries_at.tolist(), heads.features_at.tolist(), strict=True)):
        token = source.text[start:end].tobytes()
        number = numbers.setdefault(token, len(names))
        if number == len(names):
            if number % _NAMES_A_CHECK == 0:
                n_bytes = _NAMES_A_CHECK * _BYTES_A_NAME
                require_memory(n_bytes, source.files[0], f"an index of more than {number} query ids")
            try:
                names.append(token.decode())
            except UnicodeDecodeError:
                heads = heads.before(i, source.refuse(start, "a query id in UTF-8"))
                break
        queries[i] = number
    return replace(heads, queries=queries[: len(heads.labels)], names=names)


def _read_features(
    source: LetorSource,
    heads: _Heads,
    rows: Offsets,
    n_features: int | None,
    undefined: np.float32,
) -> tuple[Features, int, Offsets]:
    """X, the number of undefined values, and where the comment of each line starts (-1: nowhere)."""
    n_docs = len(heads.labels)
    hash_at, unsure = np.empty(n_docs, np.int64), np.zeros(n_docs, np.bool_)
    room = memory_room()
    width = heads.width if n_features is None else n_features
    if n_features is not None:
        shape = f"a table of {n_docs} documents × {n_features} features"
        require_memory(_memory_of(n_docs, n_features), source.files[0], shape, room)
    elif 2 * _memory_of(n_docs, width) > room:
        width = 0  # the guess may come out of a comment, and then X is copied: look before allocating
    while True:
        X = np.empty((n_docs, width), np.float32)
        parts = over_pieces(
            kernels.read_features,
            n_docs,
            LINES_A_PIECE,
            source.text,
            source.words,
            heads.features_at,
            rows,
            undefined,
            n_features is not None,
            X,
            hash_at,
            unsure,
        )
        error = next(((part[0], part[1]) for part in parts if part[1] != kernels.FINE), None)
        largest, largest_at = max(((part[2], -part[3]) for part in parts), default=(0, 0))
        if n_features is not None or largest <= width:
            break
        if _memory_of(n_docs, largest) > room:
            if error is None or -largest_at < error[0]:
                expected = (
                    f"feature ids that let {n_docs} documents fit the {in_units(room)} that may be used"
                )
                raise source.refuse(-largest_at, f"{expected} (POMONA_MEMORY)")
            break
        width = largest
    if error is not None:
        raise _error(source, *error, n_features or kernels.LARGEST_FEATURE_ID)
    if n_features is None and largest < width:
        X = np.ascontiguousarray(X[:, :largest])
    for i in np.flatnonzero(unsure).tolist():
        _read_exactly(source, int(heads.features_at[i]), undefined, X[rows[i] if rows.size else i])
    n_undefined = sum(part[4] for part in parts) - n_docs * (width - X.shape[1])
    return X, n_undefined, hash_at


def _read_exactly(source: LetorSource, at: int, undefined: np.float32, out: NDArray[np.float32]) -> None:
    """Read a line's features, which the kernel found to be well written, the way the format is defined."""
    for token in re.finditer(rb"[^ \t\r]+", source.content(at)):
        feature, _, value = token[0].partition(b":")
        number = undefined if value == b"NULL" else _exact_value(value)
        if np.isinf(number) and not value.lower().endswith((b"inf", b"infinity")):
            place = at + token.start() + len(feature) + 1
            raise _error(source, place, kernels.TOO_LARGE)
        out[int(feature) - 1] = number


def _look_for_rounding(
    source: LetorSource, heads: _Heads, rows: Offsets, X: Features, rounding: Rounding
) -> None:
    """Tell what float32 has changed, found from some of the lines, so that reading takes no longer.

    The text is looked at again only where float32 values show that something may be lost: a few lines of a
    column in which they lie close together, and those that hold whole numbers beyond 2^24.
    """
    some = np.unique(np.linspace(0, len(X) - 1, min(len(X), _LINES_LOOKED_AT)).astype(np.int64))
    after = X[rows[some] if rows.size else some]
    rounding.add_ranges(after)
    large, few = columns_in_doubt(after, X)
    doubtful = large + few
    if not doubtful:
        return
    is_wanted = np.zeros(len(some), np.bool_)
    is_wanted |= (np.abs(after[:, large]) >= LARGEST_LABEL).any(axis=1)
    if few:
        is_wanted[:: max(len(some) // _LINES_READ_AGAIN, 1)] = True
    lines = np.flatnonzero(is_wanted)
    lines = lines[:: max(len(lines) // _LINES_READ_AGAIN, 1)]
    place = {j + 1: n for n, j in enumerate(doubtful)}
    wanted = re.compile(rb"(?<![^ \t])0*(%s):([^ \t\r]+)" % b"|".join(b"%d" % feature for feature in place))
    before = np.full((len(lines), len(doubtful)), np.nan, object)
    for n, line in enumerate(some[lines].tolist()):
        for feature, value in wanted.findall(source.content(int(heads.features_at[line]))):
            if value != b"NULL":
                before[n, place[int(feature)]] = int(value) if value.isdigit() else float(value)
    for j, column in zip(doubtful, before.T, strict=True):
        is_there = np.array([value == value for value in column])
        rounding.add_column(j, column[is_there], after[lines[is_there], j])
        # Of large numbers all were read again, or every so many; of the others few.
        rounding.n_values[j] += np.count_nonzero(after[~is_wanted, j]) * len(lines) // max(is_wanted.sum(), 1)
        rounding.add_range(j, X[:, j])


def _error(source: LetorSource, at: int, code: int, largest: int = 0) -> InputError:
    """What is wrong here, in words; `largest` is the last feature id that may be."""
    query_file = plain_name(source.files[source.file_at(at)]) + ".query"
    expected = {
        kernels.BAD_LABEL: "a label: a finite number, or nan for not judged",
        kernels.NO_QUERY: "qid: and the query id (if another file holds the number of rows of each query, "
        f"as LightGBM has it, read with query_file={query_file!r})",
        kernels.BAD_QUERY: f"a query id of 1 to {kernels.LONGEST_QUERY_ID} bytes without control characters",
        kernels.BAD_FEATURE: "feature:value",
        kernels.ZERO_FEATURE: "feature ids from 1",
        kernels.BAD_VALUE: "a number, nan, inf or NULL",
        kernels.TOO_LARGE: "a value that float32 can hold (up to 3.4e38): rescale that feature",
        kernels.REPEATED: "each feature once a line",
        kernels.BEYOND: f"feature ids up to {largest}",
    }
    return source.refuse(at, expected[code])


def _memory_of(n_docs: int, width: int) -> int:
    return n_docs * width * 4


def _exact_value(token: bytes) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(float(token))


def _as_paths(paths: Paths) -> list[Path]:
    return [Path(paths)] if isinstance(paths, str | os.PathLike) else [Path(path) for path in paths]
