"""TREC judgments (qrels) and runs: `qid iteration docno judgment` and `qid Q0 docno rank score tag`.

Files are cut into fields by array operations on a few megabytes at a time, not line by line: a run of
seven million lines takes seconds. Numbers are read as C's `atof` and `atol` read them, because that is
what the field's tool does: `0x10` is 16, `1_000` is 1, a judgment `1.7` is 1. Two things are refused
that the tool lets pass in silence: a score that is not a number, which has no place in any order, and a
NUL byte, behind which the tool sees nothing.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._types import Labels, Offsets, Scores
from pomona.data.dataset import Dataset
from pomona.data.text import TextColumn
from pomona.errors import InputError

Path = str | os.PathLike[str]

_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")  # .gz, .bz2, .xz, .zst

UNJUDGED = -1
"""The label of a retrieved document that has no judgment."""


@dataclass(frozen=True, slots=True)
class Column:
    """One field of every line, as places in the file's bytes: nothing is copied until it is looked at."""

    text: bytes
    starts: Offsets
    ends: Offsets

    def __len__(self) -> int:
        return len(self.starts)

    def texts(self, first: int, last: int) -> list[bytes]:
        """The fields of rows `first` to `last`."""
        text = self.text
        places = zip(self.starts[first:last].tolist(), self.ends[first:last].tolist(), strict=True)
        return [text[start:end] for start, end in places]

    def take(self, rows: NDArray[np.integer]) -> Column:
        """These rows, in this order."""
        return Column(self.text, self.starts[rows], self.ends[rows])

    def line(self, row: int) -> int:
        """The number of the line that the row came from."""
        return 1 + int(np.count_nonzero(np.frombuffer(self.text, np.uint8, self.starts[row]) == _NEWLINE))


@dataclass(frozen=True, slots=True)
class ByQuery:
    """Rows of a file gathered by query, queries in byte order of their ids, rows in file order."""

    file: str
    qids: tuple[bytes, ...]
    query_ptr: Offsets
    docnos: Column

    def documents(self, query: int) -> list[bytes]:
        """The document ids of the query, in file order."""
        return self.docnos.texts(int(self.query_ptr[query]), int(self.query_ptr[query + 1]))

    def refuse_repeated(self, query: int, documents: Sequence[bytes], rows: Sequence[int]) -> None:
        """Raise for the first of `documents` (at these rows of the query) that occurs twice."""
        seen: set[bytes] = set()
        for document, row in zip(documents, rows, strict=True):
            if document in seen:
                qid = _shown(self.qids[query])
                raise InputError(
                    f"document {_shown(document)} occurs twice for query {qid}: keep one",
                    self.file,
                    self.docnos.line(int(self.query_ptr[query]) + row),
                )
            seen.add(document)


@dataclass(frozen=True, slots=True)
class Qrels(ByQuery):
    """Judgments: one integer label a document; a negative one means that the document was not judged."""

    labels: NDArray[np.int64]

    def judgments(self, query: int) -> dict[bytes, int]:
        """The label of every document in the query's pool."""
        documents = self.documents(query)
        labels = self.labels[self.query_ptr[query] : self.query_ptr[query + 1]]
        judged = dict(zip(documents, labels.tolist(), strict=True))
        if len(judged) != len(documents):
            self.refuse_repeated(query, documents, range(len(documents)))
        return judged


@dataclass(frozen=True, slots=True)
class Run(ByQuery):
    """A system's answer: one score a document, and the tag of the last line."""

    scores: Scores
    tag: bytes


@dataclass(frozen=True, slots=True)
class Judged:
    """A run as a dataset, with the labels of every query's whole pool.

    `pool_labels[pool_ptr[q]:pool_ptr[q + 1]]` are the labels of all judged documents of query `q`,
    retrieved or not: the best possible ranking is made of those, not of what the run happens to hold.
    """

    data: Dataset
    scores: Scores
    pool_labels: Labels
    pool_ptr: Offsets


def read_qrels(path: Path, *, comments: bool = True) -> Qrels:
    """Read judgments, plain or compressed; lines that start with `#` are comments unless told otherwise."""
    return parse_qrels(_content(path), os.fspath(path), comments=comments)


def read_run(path: Path, *, comments: bool = True) -> Run:
    """Read a run, plain or compressed; lines that start with `#` are comments unless told otherwise."""
    return parse_run(_content(path), os.fspath(path), comments=comments)


def parse_qrels(text: bytes, file: str = "qrels", *, comments: bool = True) -> Qrels:
    """Take judgments from bytes; a blank line is an error, as it is for trec_eval.

    >>> qrels = parse_qrels(b"2 0 d1 1\\n10 0 d1 0\\n10 0 d2 1.7\\n")
    >>> qrels.qids, qrels.query_ptr.tolist(), qrels.labels.tolist()
    ((b'10', b'2'), [0, 2, 3], [0, 1, 1])
    """
    qid, docno, label = _columns(text, file, _QRELS, comments)
    labels = _parsed(label, _INTEGER, np.int64, atol)
    qids, query_ptr, order = _gathered(qid)
    docno, labels = (docno, labels) if order is None else (docno.take(order), labels[order])
    return Qrels(file, qids, query_ptr, docno, labels)


def parse_run(text: bytes, file: str = "run", *, comments: bool = True) -> Run:
    """Take a run from bytes; blank lines are skipped and the rank field is ignored, as trec_eval does.

    >>> run = parse_run(b"1 Q0 d1 1 0.5 t\\n1 Q0 d2 2 0x10 t\\n")
    >>> run.documents(0), run.scores.tolist(), run.tag
    ([b'd1', b'd2'], [0.5, 16.0], b't')
    """
    qid, docno, score, tag = _columns(text, file, _RUN, comments)
    scores = _parsed(score, _DECIMAL, np.float64, atof)
    if np.isnan(scores).any():
        row = int(np.flatnonzero(np.isnan(scores))[0])
        found = _shown(score.texts(row, row + 1)[0])
        raise InputError(f"found the score {found}, expected a number", file, score.line(row))
    last_tag = tag.texts(len(tag) - 1, len(tag))[0]
    qids, query_ptr, order = _gathered(qid)
    docno, scores = (docno, scores) if order is None else (docno.take(order), scores[order])
    return Run(file, qids, query_ptr, docno, scores, last_tag)


def dataset_of_trec(qrels: Qrels, run: Run) -> Judged:
    """The queries that both hold, in byte order: the run's score is the one feature, `score`.

    A document without a judgment, or with a negative one, has the label -1. The scores are also given as
    read (float64): the feature is float32, which can tie documents that the file tells apart.

    >>> qrels = parse_qrels(b"1 0 d1 2\\n1 0 d9 1\\n")
    >>> judged = dataset_of_trec(qrels, parse_run(b"1 Q0 d1 1 0.5 t\\n1 Q0 d2 2 0.25 t\\n"))
    >>> judged.data.y.tolist(), list(judged.data.doc_ids), judged.pool_labels.tolist()
    ([2.0, -1.0], ['d1', 'd2'], [2.0, 1.0])
    """
    where = {qid: query for query, qid in enumerate(qrels.qids)}
    shared = [query for query, qid in enumerate(run.qids) if qid in where]
    if not shared:
        raise InputError(f"no query of {run.file} is in {qrels.file}: check that they belong together")
    labels: list[int] = []
    pools: list[list[int]] = []
    for query in shared:
        documents = run.documents(query)
        run.refuse_repeated(query, documents, range(len(documents)))
        judged = qrels.judgments(where[run.qids[query]])
        labels.extend(max(judged.get(document, UNJUDGED), UNJUDGED) for document in documents)
        pools.append([label for label in judged.values() if label >= 0])
    rows = np.concatenate([np.arange(run.query_ptr[query], run.query_ptr[query + 1]) for query in shared])
    scores = run.scores[rows]
    with np.errstate(over="ignore"):
        feature = scores.astype(np.float32)[:, None]
    data = Dataset.from_parts(
        feature,
        np.array(labels, np.float32),
        _offsets([int(run.query_ptr[query + 1] - run.query_ptr[query]) for query in shared]),
        np.array([run.qids[query].decode(errors="surrogateescape") for query in shared]),
        doc_ids=_packed(run.docnos.take(rows)),
        feature_names=["score"],
    )
    pool_labels = np.array([label for pool in pools for label in pool], np.float32)
    return Judged(data, scores, pool_labels, _offsets([len(pool) for pool in pools]))


def _offsets(lengths: Sequence[int]) -> Offsets:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


def _packed(column: Column) -> TextColumn:
    texts = column.texts(0, len(column))
    return TextColumn(np.frombuffer(b"".join(texts), np.uint8), _offsets([len(text) for text in texts]))


def _shown(text: bytes) -> str:
    return repr(text.decode(errors="replace"))


def _content(path: Path) -> bytes:
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", os.fspath(path)) from None
    if not content.startswith(_COMPRESSED):
        return content
    from pomona.data.compression import read_files

    return read_files([pathlib.Path(path)], padding=1)[0].tobytes()


# --- fields -------------------------------------------------------------------------------------------

_NEWLINE, _BLANK, _HASH = 10, 32, 35
_TAB = np.uint8(9)
_CHUNK = 1 << 18  # fits the processor's cache


@dataclass(frozen=True, slots=True)
class _Layout:
    """The fields of a line: their names, the numbers of those wanted, and how strict the format is."""

    fields: str
    wanted: tuple[int, ...]
    more_allowed: bool
    blank_allowed: bool

    @property
    def n_fields(self) -> int:
        return len(self.fields.split())


_QRELS = _Layout("qid iteration docno judgment", (0, 2, 3), more_allowed=False, blank_allowed=False)
_RUN = _Layout("qid Q0 docno rank score tag", (0, 2, 4, 5), more_allowed=True, blank_allowed=True)


def _columns(text: bytes, file: str, layout: _Layout, comments: bool) -> list[Column]:
    """Cut every line at white space and give the wanted fields, a column each."""
    starts: list[list[Offsets]] = [[] for _ in layout.wanted]
    ends: list[list[Offsets]] = [[] for _ in layout.wanted]
    at = n_lines = 0
    while at < len(text):
        stop = text.find(b"\n", at + _CHUNK) + 1 or len(text)
        chunk = np.frombuffer(text, np.uint8, stop - at, at)
        space = np.ones(len(chunk) + 2, np.bool_)
        space[1:-1] = (chunk == _BLANK) | (chunk - _TAB < 5)  # C's isspace; below the tab, bytes wrap around
        edges = np.flatnonzero(space[1:] != space[:-1]) + at
        field_starts, field_ends = edges[::2], edges[1::2]
        line_ends = np.flatnonzero(chunk == _NEWLINE) + at
        if chunk[-1] != _NEWLINE:
            line_ends = np.append(line_ends, stop)
        upto = np.searchsorted(field_starts, line_ends)
        first = np.concatenate(([0], upto[:-1]))
        count = upto - first
        kept = np.ones(len(count), np.bool_) if not layout.blank_allowed else count > 0
        if comments:
            filled = np.flatnonzero(count)
            kept[filled] &= chunk[field_starts[first[filled]] - at] != _HASH
        wrong = kept & ((count != layout.n_fields) if not layout.more_allowed else (count < layout.n_fields))
        if wrong.any():
            line = int(np.flatnonzero(wrong)[0])
            found = f"{count[line]} fields" if count[line] else "a blank line"
            raise InputError(
                f"found {found}, expected {layout.n_fields}: {layout.fields}", file, n_lines + line + 1
            )
        if (zeros := np.flatnonzero(chunk == 0)).size:
            line = int(np.searchsorted(line_ends, zeros[0] + at))
            raise InputError("found a NUL byte, expected text", file, n_lines + line + 1)
        first = first[kept]
        for column, field in enumerate(layout.wanted):
            starts[column].append(field_starts[first + field])
            ends[column].append(field_ends[first + field])
        at, n_lines = stop, n_lines + len(line_ends)
    if not any(len(part) for part in starts[0]):
        raise InputError(f"the file holds no line of the form: {layout.fields}", file)
    return [Column(text, np.concatenate(a), np.concatenate(b)) for a, b in zip(starts, ends, strict=True)]


def _gathered(qid: Column) -> tuple[tuple[bytes, ...], Offsets, Offsets | None]:
    """Group rows by query: (ids in byte order, query_ptr, row order or None when it is the file's)."""
    width = int((qid.ends - qid.starts).max())
    texts = _fixed(qid, width) if width <= _WIDEST else np.array(qid.texts(0, len(qid)), object)
    first = np.flatnonzero(np.concatenate(([True], texts[1:] != texts[:-1])))
    runs = [bytes(text) for text in texts[first]]
    lengths = np.diff(np.append(first, len(qid)))
    if all(a < b for a, b in pairwise(runs)):
        return tuple(runs), _offsets(lengths.tolist()), None
    by_id = sorted(range(len(runs)), key=runs.__getitem__)
    first, lengths = first[by_id], lengths[by_id]
    begins = _offsets(lengths.tolist())
    order = np.repeat(first - begins[:-1], lengths) + np.arange(begins[-1])
    sizes: dict[bytes, int] = {}
    for i, length in zip(by_id, lengths.tolist(), strict=True):
        sizes[runs[i]] = sizes.get(runs[i], 0) + length
    return tuple(sizes), _offsets(list(sizes.values())), order


# --- numbers ------------------------------------------------------------------------------------------

_WIDEST = 32
_ROWS = 1 << 20
_INTEGER = np.zeros(256, np.bool_)
_INTEGER[[0, *b"+-0123456789"]] = True
_DECIMAL = _INTEGER.copy()
_DECIMAL[[*b".eE"]] = True


def _fixed(column: Column, width: int) -> NDArray[np.bytes_]:
    """The fields of a column in file order as byte strings, the first `width` bytes of each."""
    out = np.zeros(len(column), f"S{width}")
    # A window of `width` bytes at every place of the text, so that one gather copies all fields.
    n_windows = max(len(column.text) - width + 1, 0)
    windows = np.ndarray((n_windows,), f"S{width}", column.text, strides=(1,))
    inside = int(np.searchsorted(column.starts, n_windows))
    out[:inside] = windows[column.starts[:inside]]
    beyond = np.arange(width) >= (column.ends - column.starts)[:inside, None]
    out.view(np.uint8).reshape(-1, width)[:inside][beyond] = 0
    out[inside:] = column.texts(inside, len(column))
    return out


def _parsed(
    column: Column, plain: NDArray[np.bool_], dtype: Any, parse: Callable[[bytes], float]
) -> NDArray[Any]:
    """Every field as a number: plain spellings all at once, the others one by one with `parse`."""
    out = np.empty(len(column), dtype)
    for first in range(0, len(column), _ROWS):
        part = Column(column.text, column.starts[first : first + _ROWS], column.ends[first : first + _ROWS])
        lengths = part.ends - part.starts
        width = min(int(lengths.max()), _WIDEST)
        texts = _fixed(part, width)
        easy = plain[texts.view(np.uint8).reshape(-1, width)].all(axis=1) & (lengths <= width)
        try:
            out[first : first + _ROWS][easy] = texts[easy].astype(dtype)
        except (ValueError, OverflowError):  # e.g. `1e` or a lone sign
            easy[:] = False
        for row in np.flatnonzero(~easy).tolist():
            out[first + row] = parse(part.texts(row, row + 1)[0])
    return out


_FLOAT = re.compile(
    rb"(?P<hex>[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?)"
    rb"|[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[iI][nN][fF]|[nN][aA][nN])"
)
_LONG = re.compile(rb"[+-]?[0-9]+")


def atof(text: bytes) -> float:
    """The longest prefix that is a number, as C's `atof`; 0 where there is none."""
    if not (found := _FLOAT.match(text)):
        return 0.0
    if not found["hex"]:
        return float(found[0])
    try:
        return float.fromhex(found[0].decode())
    except OverflowError:
        return float("-inf") if text.startswith(b"-") else float("inf")


def atol(text: bytes) -> int:
    """The longest prefix that is an integer, as C's `atol`; 0 where there is none."""
    found = _LONG.match(text)
    return min(max(int(found[0]), -(2**63)), 2**63 - 1) if found else 0
