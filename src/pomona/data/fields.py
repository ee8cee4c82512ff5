"""The white-space separated fields of a text file, cut out by array operations.

A few hundred kilobytes at a time are cut into fields all at once, not line by line: seven million lines
take seconds. A column keeps places in the file's bytes, and nothing is copied until it is looked at.
Numbers are read as C's `atof` and `atol` read them, because the tools that made these formats do.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._machine import require_memory
from pomona._types import Offsets, Values
from pomona.data.text import offsets
from pomona.errors import InputError

_NEWLINE, _BLANK, _HASH = 10, 32, 35
_TAB = np.uint8(9)
_CHUNK = 1 << 18  # bytes cut at a time: they fit the processor's cache
_ROWS = 1 << 20  # numbers read at a time
_BYTES_A_LINE = 352  # the places of the fields and the groups of queries, at the most: a test measures
_WIDEST = 32  # longer fields are taken one by one

_INTEGER = np.zeros(256, np.bool_)
_INTEGER[[0, *b"+-0123456789"]] = True
_REAL = _INTEGER.copy()
_REAL[[*b".eE"]] = True

_ATOL = re.compile(rb"[+-]?[0-9]+")
_ATOF = re.compile(
    rb"(?P<hex>[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?)"
    rb"|[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[iI][nN][fF]|[nN][aA][nN])"
)


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
class Layout:
    """The fields of a line: their names, the numbers of those wanted, and how strict the format is."""

    fields: str
    wanted: tuple[int, ...]
    more_allowed: bool
    blank_allowed: bool

    @property
    def n_fields(self) -> int:
        """How many fields there are."""
        return len(self.fields.split())


def columns(text: bytes, file: str, layout: Layout, *, comments: bool) -> list[Column]:
    """Cut every line at white space and give the wanted fields, a column each.

    With `comments`, a line whose first field starts with `#` is left out.
    """
    require_memory(_BYTES_A_LINE * (text.count(b"\n") + 1), file)
    starts: list[list[Offsets]] = [[] for _ in layout.wanted]
    ends: list[list[Offsets]] = [[] for _ in layout.wanted]
    at = n_lines = 0
    while at < len(text):
        stop = text.find(b"\n", at + _CHUNK) + 1 or len(text)
        chunk = np.frombuffer(text, np.uint8, stop - at, at)
        field_starts, field_ends, line_ends = _cut(chunk)
        upto = np.searchsorted(field_starts, line_ends)
        first = np.concatenate(([0], upto[:-1]))
        count = upto - first
        kept = count > 0 if layout.blank_allowed else np.ones(len(count), np.bool_)
        if comments:
            filled = np.flatnonzero(count)
            kept[filled] &= chunk[field_starts[first[filled]]] != _HASH
        wrong = kept & ((count < layout.n_fields) | ((count > layout.n_fields) & (not layout.more_allowed)))
        if wrong.any():
            line = int(np.flatnonzero(wrong)[0])
            shown = f"{count[line]} fields" if count[line] else "a blank line"
            expected = f"{layout.n_fields}: {layout.fields}"
            raise InputError(f"found {shown}, expected {expected}", file, n_lines + line + 1)
        if (zeros := np.flatnonzero(chunk == 0)).size:
            line = int(np.searchsorted(line_ends, zeros[0]))
            raise InputError("found a NUL byte, expected text", file, n_lines + line + 1)
        for column, field in enumerate(layout.wanted):
            starts[column].append(field_starts[first[kept] + field] + at)
            ends[column].append(field_ends[first[kept] + field] + at)
        at, n_lines = stop, n_lines + len(line_ends)
    if not any(len(part) for part in starts[0]):
        raise InputError(f"the file holds no line of the form: {layout.fields}", file)
    return [Column(text, np.concatenate(a), np.concatenate(b)) for a, b in zip(starts, ends, strict=True)]


def _cut(chunk: NDArray[np.uint8]) -> tuple[Offsets, Offsets, Offsets]:
    """Where fields start and end, and where lines end."""
    space = np.ones(len(chunk) + 2, np.bool_)
    space[1:-1] = (chunk == _BLANK) | (chunk - _TAB < 5)  # C's isspace: bytes below the tab wrap around
    edges = np.flatnonzero(space[1:] != space[:-1])
    line_ends = np.flatnonzero(chunk == _NEWLINE)
    if chunk[-1] != _NEWLINE:
        line_ends = np.append(line_ends, len(chunk))
    return edges[::2], edges[1::2], line_ends


def group(qid: Column) -> tuple[tuple[bytes, ...], Offsets, Offsets | None]:
    """Group rows by query: (ids in byte order, query_ptr, row order or None when it is the file's)."""
    width = int((qid.ends - qid.starts).max())
    texts = _fixed(qid, width) if width <= _WIDEST else np.array(qid.texts(0, len(qid)), object)
    first = np.flatnonzero(np.concatenate(([True], texts[1:] != texts[:-1])))
    runs = [bytes(text) for text in texts[first]]
    lengths = np.diff(np.append(first, len(qid)))
    if all(a < b for a, b in pairwise(runs)):
        return tuple(runs), offsets(lengths.tolist()), None
    by_id = sorted(range(len(runs)), key=runs.__getitem__)
    first, lengths = first[by_id], lengths[by_id]
    begins = offsets(lengths.tolist())
    order = np.repeat(first - begins[:-1], lengths) + np.arange(begins[-1])
    sizes: dict[bytes, int] = {}
    for i, length in zip(by_id, lengths.tolist(), strict=True):
        sizes[runs[i]] = sizes.get(runs[i], 0) + length
    return tuple(sizes), offsets(list(sizes.values())), order


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


def reals(column: Column) -> Values:
    """The fields of a column in file order as `atof` reads them."""
    return told_reals(column)[0]


def integers(column: Column) -> NDArray[np.int64]:
    """The fields of a column in file order as `atol` reads them."""
    return told_integers(column)[0]


def told_reals(column: Column) -> tuple[Values, int | None]:
    """The same as `reals`, and the first row whose field is not a number as a whole; None if all are."""
    return _numbers(column, _REAL, np.float64, atof, _ATOF)


def told_integers(column: Column) -> tuple[NDArray[np.int64], int | None]:
    """The same as `integers`, and the first row whose field is not an integer as a whole; None if all are."""
    return _numbers(column, _INTEGER, np.int64, atol, _ATOL)


def _numbers(
    column: Column,
    plain: NDArray[np.bool_],
    dtype: Any,
    parse: Callable[[bytes], float],
    number: re.Pattern[bytes],
) -> tuple[NDArray[Any], int | None]:
    """Fields of plain characters all at once, the others one by one with `parse`."""
    out, cut_short = np.empty(len(column), dtype), None
    for first in range(0, len(column), _ROWS):
        part = Column(column.text, column.starts[first : first + _ROWS], column.ends[first : first + _ROWS])
        lengths = part.ends - part.starts
        width = min(int(lengths.max()), _WIDEST)
        texts = _fixed(part, width)
        easy = plain[texts.view(np.uint8).reshape(-1, width)].all(axis=1) & (lengths <= width)
        try:
            out[first : first + _ROWS][easy] = texts[easy].astype(dtype)
        except (ValueError, OverflowError):  # e.g. `1e`, a lone sign, or more than 64 bits
            easy[:] = False
        for row in np.flatnonzero(~easy).tolist():
            text = part.texts(row, row + 1)[0]
            out[first + row] = parse(text)
            if cut_short is None and not number.fullmatch(text):
                cut_short = first + row
    return out, cut_short


def atof(text: bytes) -> float:
    """The longest prefix that is a number, as C's `atof`; 0 where there is none.

    >>> atof(b"0x10"), atof(b"1_000"), atof(b".5e1x"), atof(b"-inf"), atof(b"abc")
    (16.0, 1.0, 5.0, -inf, 0.0)
    """
    if not (match := _ATOF.match(text)):
        return 0.0
    if not match["hex"]:
        return float(match[0])
    try:
        return float.fromhex(match[0].decode())
    except OverflowError:
        return float("-inf") if text.startswith(b"-") else float("inf")


def atol(text: bytes) -> int:
    """The longest prefix that is an integer, as C's `atol`; 0 where there is none.

    >>> atol(b"1.7"), atol(b"-1"), atol(b"0x10"), atol(b"abc")
    (1, -1, 0, 0)
    """
    match = _ATOL.match(text)
    return min(max(int(match[0]), -(2**63)), 2**63 - 1) if match else 0
