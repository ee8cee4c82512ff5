"""Tables of every format, whole and damaged: they come back, or as many documents as rows, or are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from fuzz.target import damaged, in_one_line
from pomona.data.table import read_table
from pomona.errors import InputError

N_SMALL = 600
_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow")


class Target:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def case(self, random: np.random.Generator) -> str:
        n_docs, n_features, is_text = random.integers(1, 30), random.integers(1, 5), random.random() < 0.5
        X = random.standard_normal((n_docs, n_features)).astype(np.float32)
        queries = np.sort(random.integers(0, 5, n_docs))
        columns = {"label": random.integers(0, 5, n_docs), "qid": queries.astype(str) if is_text else queries}
        frame = pl.DataFrame({**columns, **{f"x{j}": X[:, j] for j in range(n_features)}})
        path = self._folder / f"a{random.choice(_SUFFIXES)}"
        _write(frame, path)
        if random.random() < 0.9:
            return _read_damaged(path, damaged(path.read_bytes(), random, b'0,\t\n\r"{}:.e- \xff\x00'))
        data = read_table(path)
        assert data.X.tolist() == X.tolist()
        assert data.y.tolist() == frame["label"].to_list()
        assert [str(query) for query in data.qid] == [str(query) for query in frame["qid"]]
        return "same"


def _read_damaged(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    try:
        n_read = read_table(path).n_docs
    except InputError as error:
        return in_one_line(error)
    n_lines = sum(bool(line.strip()) for line in content.split(b"\n"))
    if path.suffix in (".csv", ".tsv"):
        assert n_read == n_lines - 1, f"read {n_read} documents of {n_lines - 1} rows"
    elif path.suffix == ".jsonl":
        assert n_read == n_lines, f"read {n_read} documents of {n_lines} rows"
    return "read"


def _write(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".jsonl":
        frame.write_ndjson(path)
    elif path.suffix in (".csv", ".tsv"):
        frame.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_ipc(path)
