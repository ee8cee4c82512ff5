"""The text of LETOR files: what stands where, the place of a mistake in words, and room for the lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import over_chunks
from pomona._machine import memory_room, require_memory
from pomona._types import Offsets
from pomona.data import _letor_kernels as kernels
from pomona.data.compression import line_pieces, read_files
from pomona.data.text import TextColumn, offsets
from pomona.errors import InputError

BYTES_A_PIECE = 1 << 20
"""Small enough for Ctrl-C to be heard between two pieces, large enough to forget the cost of a call."""
LINES_A_PIECE = 2048
BYTES_A_LINE = 176
"""For the heads, the gathering of queries and the places of comments, at the most: a test measures."""
_CONTENT, _TOKEN = re.compile(rb"[^\n#]*"), re.compile(rb"[^ \t\n#]{0,1000}")


@dataclass(frozen=True)
class LetorSource:
    """The bytes of all files end to end, and the way from a position in them back to a place in a file."""

    files: Sequence[Path]
    starts: Sequence[int]
    text: NDArray[np.uint8]
    words: NDArray[np.uint64]
    lines_before: int = 0
    """Of the file, where the text is not its start."""

    @classmethod
    def read(cls, files: Sequence[Path]) -> LetorSource:
        """The text of these files."""
        text, starts = read_files(files, kernels.PADDING)
        return cls(files, starts, text, _words(text))

    @classmethod
    def in_pieces(cls, file: Path, size: int) -> Iterator[LetorSource]:
        """The text of a file in pieces of whole lines, of about so many bytes each."""
        n_lines = 0
        for piece in line_pieces(file, size, kernels.PADDING):
            yield cls([file], [0], piece, _words(piece), n_lines)
            n_lines += int(np.count_nonzero(piece == ord("\n"))) - kernels.PADDING

    def content(self, at: int) -> bytes:
        """The rest of a line from here, without its comment and its end."""
        return self._match(_CONTENT, at)

    def token(self, at: int) -> bytes:
        """What stands here up to the next blank, or the start of it: no sentence needs more."""
        return self._match(_TOKEN, at)

    def _match(self, pattern: re.Pattern[bytes], at: int) -> bytes:
        match = pattern.match(self.text.data, at)
        text = bytes(match.group()) if match else b""
        return text.removesuffix(b"\r") if self.text[at + len(text)] == ord("\n") else text

    def file_at(self, at: int) -> int:
        """The number of the file that holds this position."""
        return int(np.searchsorted(self.starts, at, side="right")) - 1

    def refuse(self, at: int, expected: str) -> InputError:
        """The error to raise for what stands at `at`; columns count characters, as editors do."""
        file = self.file_at(at)
        before = self.text[self.starts[file] : at]
        newlines = np.flatnonzero(before == ord("\n"))
        line_before = before[newlines[-1] + 1 :] if newlines.size else before
        column = np.count_nonzero((line_before & 0xC0) != 0x80) + 1  # 0b10…: inside a character
        token = self.token(at).decode(errors="replace")
        nothing = {ord(" "): "a blank", ord("\t"): "a blank", ord("#"): "a comment"}
        shown = nothing.get(int(self.text[at]), "the end of the line")
        if token:
            shown = repr(token if len(token) <= 40 else token[:39] + "…")
        message = f"found {shown}, expected {expected}"
        line = self.lines_before + len(newlines) + 1
        return InputError(message, self.files[file], line, int(column))

    def require_memory_of_lines(self, shortest: int) -> None:
        """Refuse more lines than memory has room for; they are counted only where it could be short."""
        if self.text.size // shortest * BYTES_A_LINE > memory_room():
            n_lines = sum(over_chunks(self._count_lines, self.text.size, smallest=BYTES_A_PIECE))
            require_memory(n_lines * BYTES_A_LINE, self.files[0], f"an index of its {n_lines} lines")

    def _count_lines(self, first: int, last: int) -> int:
        starts = range(first, last, BYTES_A_PIECE)
        pieces = (self.text[start : min(start + BYTES_A_PIECE, last)] for start in starts)
        return sum(int(np.count_nonzero(piece == ord("\n"))) for piece in pieces)


def _words(text: NDArray[np.uint8]) -> NDArray[np.uint64]:
    return np.ndarray((text.size - 7,), np.uint64, text, strides=(1,))


def read_comments(source: LetorSource, hash_at: Offsets) -> tuple[TextColumn | None, TextColumn | None]:
    """The comments and the document ids in them; None for those that no line has."""
    if (hash_at < 0).all():
        return None, None
    bounds = np.empty((len(hash_at), 4), np.int64)
    over_pieces(kernels.find_comments, len(hash_at), LINES_A_PIECE, source.text, hash_at, bounds)
    return _column(source, bounds[:, 0], bounds[:, 1]), _column(source, bounds[:, 2], bounds[:, 3])


def _column(source: LetorSource, starts: Offsets, lengths: Offsets) -> TextColumn | None:
    places = offsets(lengths)
    if places[-1] == 0:
        return None
    out = np.empty(places[-1], np.uint8)
    over_pieces(kernels.copy_texts, len(starts), LINES_A_PIECE, source.text, starts, places, out)
    return TextColumn(out, places)


def over_pieces(kernel: Callable[..., Any], n_items: int, size: int, *arguments: Any) -> list[Any]:
    """What the kernel returns for pieces of at most `size` items, in order; pieces run in threads."""

    def run(first: int, last: int) -> list[Any]:
        return [kernel(a, min(a + size, last), *arguments) for a in range(first, last, size)]

    return [result for results in over_chunks(run, n_items, smallest=size) for result in results]
