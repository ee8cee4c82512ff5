"""TREC files, whole and damaged: every line that says something is a document, or the file is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuzz.target import damaged, in_one_line
from pomona.data.trec import parse_qrels, parse_run
from pomona.errors import InputError

N_SMALL = 600


class Target:
    def __init__(self, folder: Path) -> None: ...

    def case(self, random: np.random.Generator) -> str:
        n_lines = random.integers(1, 40)
        queries, is_run = random.integers(0, 8, n_lines), random.random() < 0.5
        values = random.standard_normal(n_lines) if is_run else random.integers(-1, 5, n_lines)
        line = "q{} Q0 d{} 1 {!r} tag" if is_run else "q{} 0 d{} {!r}"
        rows = enumerate(zip(queries, values.tolist(), strict=True))
        text = "".join(line.format(q, i, value) + "\n" for i, (q, value) in rows).encode()
        if random.random() < 0.9:
            return self._damaged(damaged(text, random, b"0 \t\n\r#.-e\xef\xff\x00\x0b"), is_run)
        order = np.argsort(queries, kind="stable")
        whole = parse_run(text) if is_run else parse_qrels(text)
        read = whole.scores if is_run else whole.labels  # type: ignore[attr-defined]
        assert read.tolist() == values[order].tolist()
        assert [whole.qids[q].decode() for q in range(len(whole.qids))] == [
            f"q{q}" for q in np.unique(queries)
        ]
        assert [docno.decode() for docno in whole.docnos.texts(0, n_lines)] == [f"d{i}" for i in order]
        return "same"

    @staticmethod
    def _damaged(text: bytes, is_run: bool) -> str:
        try:
            n_read = len((parse_run(text) if is_run else parse_qrels(text)).docnos)
        except InputError as error:
            return in_one_line(error)
        stripped = (line.strip() for line in text.split(b"\n"))
        n_lines = sum(bool(line) and not line.startswith(b"#") for line in stripped)
        assert n_read == n_lines, f"read {n_read} documents of {n_lines} lines"
        return "read"
