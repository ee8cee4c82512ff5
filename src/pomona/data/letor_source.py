"""The text of LETOR files: what stands where, the place of a mistake in words, and room for the lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pomona._jit import over_chunks
from pomona._machine import memory_room, require_memory
from pomona.data import _letor_kernels as kernels
from pomona.data.compression import read_files
from pomona.errors import InputError

BYTES_A_PIECE = 1 << 20
"""Small enough for Ctrl-C to be heard between two pieces, large enough to forget the cost of a call."""
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

    @classmethod
    def read(cls, files: Sequence[Path]) -> LetorSource:
        """The text of these files."""
        text, starts = read_files(files, kernels.PADDING)
        words: NDArray[np.uint64] = np.ndarray((text.size - 7,), np.uint64, text, strides=(1,))
        return cls(files, starts, text, words)

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
        return InputError(message, self.files[file], len(newlines) + 1, int(column))

    def require_memory_of_lines(self, shortest: int) -> None:
        """Refuse more lines than memory has room for; they are counted only where it could be short."""
        if self.text.size // shortest * BYTES_A_LINE > memory_room():
            n_lines = sum(over_chunks(self._count_lines, self.text.size, smallest=BYTES_A_PIECE))
            require_memory(n_lines * BYTES_A_LINE, self.files[0], f"an index of its {n_lines} lines")

    def _count_lines(self, first: int, last: int) -> int:
        starts = range(first, last, BYTES_A_PIECE)
        pieces = (self.text[start : min(start + BYTES_A_PIECE, last)] for start in starts)
        return sum(int(np.count_nonzero(piece == ord("\n"))) for piece in pieces)
