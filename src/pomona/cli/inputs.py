"""What the verbs read: data in any format, and files of scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona._types import Scores
    from pomona.data.dataset import Dataset


def read_data(path: Path) -> Dataset:
    """A LETOR file (plain or compressed), or a table with columns `label` and `qid`."""
    if path.suffix.lower() in (".parquet", ".csv", ".tsv"):
        from pomona.data.table import read_table

        return read_table(path)
    from pomona.data.letor import read_letor

    return read_letor(path)


def read_scores(path: Path, n_docs: int) -> Scores:
    """One number a line; anything else is refused with its line."""
    import numpy as np

    from pomona.data.compression import read_files

    lines = read_files([path], 1)[0].tobytes().splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    try:
        scores = np.array([float(line) for line in lines], np.float64)
    except ValueError:
        scores = np.array([_number(line, path, place) for place, line in enumerate(lines, 1)])
    if any(b"_" in line for line in lines) or np.isnan(scores).any():
        for place, line in enumerate(lines, 1):
            _number(line, path, place)
    if len(scores) != n_docs:
        raise InputError(f"found {len(scores)} scores for {n_docs} documents", path)
    return scores


def _number(line: bytes, path: Path, place: int) -> float:
    text = line.decode(errors="replace").strip()
    try:
        value = float(text)
        if value != value or "_" in text:
            raise ValueError
    except ValueError:
        shown = repr(text if len(text) <= 40 else text[:40] + "…")
        raise InputError(f"found {shown}, expected one score (a number)", path, place) from None
    return value
