"""The budget of memory that every reader keeps: what each takes at its peak, in a process of its own."""

from __future__ import annotations

import atexit
import bz2
import gzip
import lzma
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import zstandard

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="peaks are exact only where the kernel knows them"
)

ROOM = 150 << 20
"""What the readers may take beyond what the process holds when it begins."""

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(level=1).compress,
}

# Forks a process for each file: it begins with everything imported and nothing read. A small file is read
# first, so that what is compiled, or loaded when it is first used, does not count.
PROGRAM = """
import os, sys, traceback
from pathlib import Path
import polars, psutil
import pomona as pm
from pomona._machine import PeakMemory
from pomona.cli.inputs import read_scores
from pomona.data import table, table_size
from pomona.data.trec import dataset_of_trec, read_qrels, read_run
from pomona.tools.files import lines_of

def judged(path):
    os.environ["POMONA_MEMORY"], stated = "1TB", os.environ.get("POMONA_MEMORY", "1TB")
    both = read_qrels(path), read_run(path.with_name("run"))
    os.environ["POMONA_MEMORY"] = stated
    return dataset_of_trec(*both)

def measure(kind, small, path, room):
    reader = {
        "data": pm.read, "run": read_run, "qrels": read_qrels, "judged": judged, "lines": lines_of,
        "scores": lambda path: read_scores(path, 10**9),
    }[kind]
    try:
        reader(Path(small))
    except pm.PomonaError:
        pass
    memory = psutil.Process().memory_info()
    os.environ["POMONA_MEMORY"] = str(memory.rss - memory.shared + int(room))
    with PeakMemory() as peak:
        try:
            reader(Path(path))
            message = ""
        except pm.PomonaError as error:
            message = str(error)
    return f"{peak.added} {message}"

for line in sys.stdin:
    if os.fork() == 0:
        try:
            print(measure(*line.rstrip("\\n").split("\\t")), flush=True)
        except BaseException:
            print("failed", traceback.format_exc().replace("\\n", " "), flush=True)
        os._exit(0)
    if status := os.wait()[1]:
        print("failed", status, flush=True)
"""


@cache
def _measuring() -> subprocess.Popen[str]:
    """The process that forks others, until this one ends."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)
    return process


def measured(kind: str, small: Path, path: Path, room: int = ROOM) -> tuple[int, str]:
    """The peak of reading a file, and why it was refused, or nothing."""
    process = _measuring()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{kind}\t{small}\t{path}\t{room}\n")
    process.stdin.flush()
    shown = process.stdout.readline()
    assert not shown.startswith("failed"), shown[-2000:]
    added, _, message = shown.partition(" ")
    return int(added), message.strip()


def check(kind: str, small: Path, path: Path) -> None:
    """A file that is too large must be refused, in one line that names it, before memory is taken."""
    peak, message = measured(kind, small, path)
    assert message.startswith(str(path)), message
    assert "memory" in message.lower(), message
    assert peak <= ROOM * 1.1, (peak / ROOM, message)


WIDE = ",".join(f"a{i}" for i in range(1000))
TEXTS: dict[str, tuple[str, str, bytes, bytes, int]] = {
    # kind of reader, name, head, piece, how many bytes of it
    "lines": ("data", "d.txt", b"", b"0 qid:1\n", 40 << 20),
    "queries": ("data", "d.txt", b"", b"".join(b"0 qid:%d\n" % i for i in range(100_000)), 40 << 20),
    "comments": ("data", "d.txt", b"", b"0 qid:1 # a\n", 40 << 20),
    "features": ("data", "d.txt", b"", b"0 qid:1 9000:1\n", 1 << 20),
    "zeros": ("data", "d.txt", b"", bytes(1000), 200 << 20),
    "blanks": ("data", "d.txt", b"", b"\n" * 1000, 200 << 20),
    "csv": ("data", "d.csv", b"label,qid,a\n", b"0,1,2\n", 40 << 20),
    "wide csv": ("data", "d.csv", f"label,qid,{WIDE}\n".encode(), b"0,1" + b"," * 1000 + b"\n", 20 << 20),
    "short csv": ("data", "d.csv", f"label,qid,{WIDE}\n".encode(), b"0,1\n", 1 << 20),
    "tsv": ("data", "d.tsv", b"label\tqid\ta\n", b"0\t1\t2\n", 40 << 20),
    "json": ("data", "d.jsonl", b"", b'{"label":1,"qid":1,"a":2}\n', 100 << 20),
    "sparse json": (
        "data",
        "d.jsonl",
        ('{"label":1,"qid":1,' + ",".join(f'"a{i}":1' for i in range(1000)) + "}\n").encode(),
        b'{"label":1,"qid":1}\n',
        4 << 20,
    ),
    "qrels": ("qrels", "q", b"", b"1 0 a 1\n", 20 << 20),
    "run": ("run", "r", b"", b"1 Q0 a 1 1 t\n", 20 << 20),
    "scores": ("scores", "s", b"", b"1\n", 10 << 20),
    "tool": ("lines", "s", b"", b"1\n", 10 << 20),
}


def small_file(folder: Path, name: str, head: bytes, piece: bytes) -> Path:
    path = folder / "small" / name
    path.parent.mkdir()
    path.write_bytes(head + piece[: piece.find(b"\n") + 1])
    return path


@pytest.mark.parametrize("text", TEXTS)
def test_texts_that_are_too_large(tmp_path: Path, text: str) -> None:
    kind, name, head, piece, n_bytes = TEXTS[text]
    path = tmp_path / name
    path.write_bytes(head + piece * (n_bytes // len(piece)))
    check(kind, small_file(tmp_path, name, head, piece), path)


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        *(("lines", suffix) for suffix in COMPRESS),
        *(("zeros", suffix) for suffix in COMPRESS),
        ("features", ".zst"),
        ("wide csv", ".gz"),
        ("sparse json", ".xz"),
        ("run", ".bz2"),
        ("scores", ".zst"),
    ],
)
def test_compressed_texts_that_are_too_large(tmp_path: Path, text: str, suffix: str) -> None:
    kind, name, head, piece, n_bytes = TEXTS[text]
    path = tmp_path / f"{name}{suffix}"
    part = piece * ((1 << 20) // len(piece))
    compress = COMPRESS[suffix]
    if suffix == ".zst":  # one stream: what a few bytes stand for is made at once
        path.write_bytes(compress(head + part * (n_bytes >> 20)))
    else:
        path.write_bytes(compress(head or part) + compress(part) * (n_bytes >> 20))
    check(kind, small_file(tmp_path, name, head, piece), path)


def test_judgments_and_a_run_that_are_too_large(tmp_path: Path) -> None:
    for folder, n_lines in (("small", 2), (".", 500_000)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "q").write_bytes(b"".join(b"1 0 %d 1\n" % i for i in range(n_lines)))
        (tmp_path / folder / "run").write_bytes(b"".join(b"1 Q0 %d 1 1 t\n" % i for i in range(n_lines)))
    peak, message = measured("judged", tmp_path / "small" / "q", tmp_path / "q", 1 << 33)
    assert message == ""
    _, message = measured("judged", tmp_path / "small" / "q", tmp_path / "q", peak)
    assert "run: judging it takes about" in message


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("text", [False, True])
def test_binary_tables_that_are_too_large(tmp_path: Path, suffix: str, text: bool) -> None:
    def write(name: str, n_rows: int) -> Path:
        columns: dict[str, Any] = {name: np.zeros(n_rows, np.int64) for name in ("label", "qid", "a")}
        if text:
            columns["a"] = pl.select(pl.repeat("x" * 30, n_rows)).to_series()
        path, frame = tmp_path / name, pl.DataFrame(columns)
        frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path, compression="zstd")
        return path

    path = write(f"large{suffix}", 3_000_000)
    assert path.stat().st_size < 1 << 20
    check("data", write(f"small{suffix}", 2), path)


def test_a_parquet_file_of_long_texts(tmp_path: Path) -> None:
    for name, n_rows in (("small.parquet", 2), ("large.parquet", 200)):
        texts = [f"{row:<1000000}" for row in range(n_rows)]
        pl.DataFrame({"label": [0] * n_rows, "qid": texts, "a": [1.0] * n_rows}).write_parquet(
            tmp_path / name
        )
    assert (tmp_path / "large.parquet").stat().st_size < 1 << 20
    check("data", tmp_path / "small.parquet", tmp_path / "large.parquet")


@pytest.mark.parametrize("text", ["queries", "features", "wide csv", "json", "qrels", "run", "scores"])
def test_texts_that_fit_are_read(tmp_path: Path, text: str) -> None:
    """An eighth of what is refused for its size is read."""
    kind, name, head, piece, n_bytes = TEXTS[text]
    path = tmp_path / name
    path.write_bytes(head + piece * (n_bytes // 8 // len(piece)))
    _, message = measured(kind, small_file(tmp_path, name, head, piece), path)
    assert "memory" not in message
