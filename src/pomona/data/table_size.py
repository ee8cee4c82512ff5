"""How much memory a table will take, known before it is read: from counts of its text, or from its metadata.

The libraries that read tables allocate first, and end the process when that fails.
"""

from __future__ import annotations

import io
import itertools
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pomona._machine import require_memory
from pomona.data.compression import pieces
from pomona.errors import InputError

# Measured, at the most: a column as it is parsed and joined, the float32 made of it, its name and its type.
_BYTES_A_CELL, _BYTES_A_BINARY_CELL, _BYTES_A_COLUMN, _BYTES_A_ROW = 32, 20, 4096, 128


def check_delimited(file: Path, source: Path | io.BytesIO, separator: bytes) -> None:
    """Refuse a CSV or TSV file that is too large, or whose rows have not as many cells as its head.

    source : the file, or what was decompressed of it.
    """
    n_lines = n_separators = n_quotes = in_head = 0
    head_is_over, last = False, b"\n"
    for piece in _pieces(source):
        if not head_is_over:
            head, newline, _ = piece.partition(b"\n")
            in_head += head.count(separator)
            head_is_over = bool(newline)
        n_lines += piece.count(b"\n")
        n_separators += piece.count(separator)
        n_quotes += piece.count(b'"')
        last = piece[-1:] or last
    n_lines += last != b"\n"
    require_cells(file, n_lines, in_head + 1, _BYTES_A_CELL)
    if not n_quotes and n_separators != in_head * n_lines:
        _refuse_ragged(file, source, separator, in_head + 1)


def _pieces(source: Path | io.BytesIO) -> Iterator[bytes]:
    if isinstance(source, Path):
        return pieces(source)
    source.seek(0)
    return iter(lambda: source.read(1 << 20), b"")


def _refuse_ragged(file: Path, source: Path | io.BytesIO, separator: bytes, n_columns: int) -> None:
    """Refuse the first row with too few or too many cells; blank lines are for the reader to judge."""
    number, rest = 0, b""
    for piece in itertools.chain(_pieces(source), [b"\n"]):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            number += 1
            n_cells = line.count(separator) + 1
            if n_cells != n_columns and line.strip():
                raise InputError(f"found {n_cells} cells, expected {n_columns} as in the head", file, number)


def require_cells(file: Path, n_rows: int, n_columns: int, cell: int = _BYTES_A_BINARY_CELL) -> None:
    """Refuse a table of this shape if memory has no room for it."""
    n_bytes = bytes_of_cells(n_rows, n_columns, cell)
    require_memory(n_bytes, file, f"a table of {n_rows} rows × {n_columns} columns")


def bytes_of_cells(n_rows: int, n_columns: int, cell: int = _BYTES_A_BINARY_CELL) -> int:
    """How much memory a table of this shape takes while it is read."""
    return n_rows * (n_columns * cell + _BYTES_A_ROW) + n_columns * _BYTES_A_COLUMN


def parquet_bytes(source: Path | io.BytesIO) -> int:
    """The bytes of all columns of a Parquet file before compression, as its footer tells them."""
    text = np.memmap(source, np.uint8, "r").data if isinstance(source, Path) else source.getbuffer()
    try:
        (length,) = struct.unpack("<I", text[-8:-4])
        footer = _Thrift(text[max(len(text) - 8 - length, 0) : -8]).structure()
        return sum(group.get(2, 0) for group in footer.get(4, []))
    except (struct.error, LookupError, AttributeError, TypeError, RecursionError):
        raise InputError("cannot be read as a table: its footer is damaged") from None


class _Thrift:
    """A reader of Thrift's compact protocol: a structure becomes {number of field: value}."""

    def __init__(self, text: memoryview) -> None:
        self.text, self.at = text, 0

    def structure(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self._value(head & 15)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):  # true, false: in the head of the field
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind in (7, 8):  # a double, or bytes with their length before them
            length = 8 if kind == 7 else self._unsigned()
            self.at += length
            return None
        if kind in (9, 10):  # a list or set
            head = self._byte()
            length = self._unsigned() if head >> 4 == 15 else head >> 4
            if length > len(self.text):
                raise IndexError(length)
            return [
                self._byte() == 1 if head & 15 in (1, 2) else self._value(head & 15) for _ in range(length)
            ]
        if kind == 12:
            return self.structure()
        raise TypeError(kind)

    def _byte(self) -> int:
        self.at += 1
        return self.text[self.at - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def _integer(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)
