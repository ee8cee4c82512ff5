"""A column of texts as one byte buffer and offsets: document ids and comments without a million objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._machine import require_memory
from pomona._types import Offsets
from pomona.errors import InputError

_ROWS_TAKEN = 1 << 16  # texts at a time: the place of a byte takes eight times as much memory as it does


def offsets(lengths: ArrayLike) -> Offsets:
    """Where pieces of these lengths begin, laid end to end, and where the last ends."""
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


def is_number(value: object) -> bool:
    """Whether a value, a text say, can be read as a number; nan and inf can."""
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def text_array(texts: Sequence[str]) -> NDArray[np.str_]:
    """Texts as an array, in which each takes as much memory as the longest."""
    longest = max(map(len, texts), default=0)
    require_memory(4 * longest * len(texts), what=f"an array of texts, the longest of {longest} characters,")
    return np.array(texts, np.str_)


class TextColumn(Sequence[str]):
    """Texts stored end to end; text i is bytes `ends[i-1]:ends[i]` (UTF-8).

    Cheap to map from disk, to take rows of and to compare; texts become `str` only when looked at.

    >>> column = TextColumn.of(["GX01", "", "GX02"])
    >>> column[2], len(column), list(column.take(np.array([2, 0])))
    ('GX02', 3, ['GX02', 'GX01'])
    """

    __slots__ = ("buffer", "offsets")

    def __init__(self, buffer: NDArray[np.uint8], offsets: Offsets) -> None:
        self.buffer, self.offsets = buffer, offsets

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextColumn:
        """Pack texts; a column that is packed already is returned as it is."""
        if isinstance(texts, TextColumn):
            return texts
        try:
            encoded = [str(text).encode() for text in texts]
        except UnicodeEncodeError as error:
            raise InputError(f"found a text that UTF-8 cannot hold: {error.object!r:.60}") from None
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets([len(text) for text in encoded]))

    @classmethod
    def joined(cls, columns: Sequence[TextColumn | None], lengths: Sequence[int]) -> TextColumn | None:
        """Columns of these lengths one after the other; None is a column of empty texts, or none at all."""
        if all(column is None for column in columns):
            return None
        blank = np.empty(0, np.uint8)
        pieces = [blank if one is None else np.frombuffer(one._bytes(), np.uint8) for one in columns]
        sizes = [
            np.zeros(length, np.int64) if one is None else np.diff(one.offsets)
            for one, length in zip(columns, lengths, strict=True)
        ]
        return cls(np.concatenate(pieces), offsets(np.concatenate(sizes)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> TextColumn: ...

    def __getitem__(self, index: int | slice) -> str | TextColumn:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.bytes_at(index).decode(errors="replace")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TextColumn):
            return NotImplemented
        return np.array_equal(self.offsets - self.offsets[0], other.offsets - other.offsets[0]) and (
            self._bytes() == other._bytes()
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(repr(self[i]) for i in range(min(3, len(self))))
        return f"TextColumn([{shown}{', …' if len(self) > 3 else ''}], {len(self)} texts)"

    def _bytes(self) -> bytes:
        return bytes(self.buffer[self.offsets[0] : self.offsets[-1]])

    def bytes_at(self, index: int) -> bytes:
        """Text `index` as it is stored."""
        return bytes(self.buffer[self.offsets[index] : self.offsets[index + 1]])

    def to_bytes(self) -> list[bytes]:
        """All texts, as they are stored."""
        base = self.offsets[0]
        whole, ends = self._bytes(), (self.offsets - base).tolist()
        return [whole[a:b] for a, b in pairwise(ends)]

    def take(self, rows: NDArray[np.integer]) -> TextColumn:
        """The texts of these rows, in this order."""
        lengths = np.diff(self.offsets)[rows]
        starts = offsets(lengths)
        out = np.empty(starts[-1], np.uint8)
        for first in range(0, len(rows), _ROWS_TAKEN):
            some = slice(first, first + _ROWS_TAKEN)
            begin, end = starts[first], starts[min(first + _ROWS_TAKEN, len(rows))]
            # Byte j of the result comes from its row's start plus its place in the row.
            shift = np.repeat(self.offsets[:-1][rows[some]] - starts[:-1][some], lengths[some])
            out[begin:end] = self.buffer[shift + np.arange(begin, end)]
        return TextColumn(out, starts)
