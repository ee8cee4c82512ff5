"""Files of query sizes, as LightGBM has them beside its data: how many rows each query has, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pomona._machine import require_memory
from pomona.data.compression import read_bytes
from pomona.data.letor_source import BYTES_A_LINE
from pomona.errors import InputError


@dataclass(frozen=True)
class QuerySizes:
    """The sizes of the queries of some files, which are numbered from 1, on from one file to the next."""

    files: Sequence[Path]
    sizes: Sequence[Sequence[int]]

    @classmethod
    def read(cls, files: Sequence[Path]) -> QuerySizes:
        """The sizes in these files."""
        return cls(files, [_sizes_in(file) for file in files])

    def queries_of(self, first: int, last: int) -> NDArray[np.int64]:
        """The number of the query of each of these rows; they are counted over all files."""
        ends = np.cumsum([size for sizes in self.sizes for size in sizes])
        return np.searchsorted(ends, np.arange(first, last), side="right") + 1

    def check(self, file: int, path: Path, n_rows: int) -> None:
        """Refuse the sizes for one of the data files if they are not those of its rows."""
        total = sum(self.sizes[file])
        if total != n_rows:
            raise InputError(f"its queries have {total} rows, but {path} has {n_rows}", self.files[file])


def _sizes_in(file: Path) -> list[int]:
    sizes: list[int] = []
    text = read_bytes(file)
    require_memory(BYTES_A_LINE * text.count(b"\n"), file)
    for number, line in enumerate(text.split(b"\n"), 1):
        token = line.strip(b" \t\r")
        if not token:
            continue
        if not token.isdigit() or len(token) > 18 or int(token) == 0:
            shown = token[:40].decode(errors="replace")
            raise InputError(f"found {shown!r}, expected the rows of a query", file, number, 1)
        sizes.append(int(token))
    return sizes
