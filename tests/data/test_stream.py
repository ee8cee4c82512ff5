from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.data.test_parsed_cache import assert_same

from pomona import Dataset, PomonaError, read_letor, simulate, write_letor
from pomona.data import letor, letor_source, parsed_cache, table
from pomona.data.parsed_cache import Stream, mapped
from pomona.data.table import read_table


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pomona-parsed"


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is taken for a large one, and its pieces are a few lines each."""
    monkeypatch.setattr(letor, "_BYTES_STREAMED", 0)
    monkeypatch.setattr(letor, "BYTES_A_PIECE", 40)
    monkeypatch.setattr(letor, "_are_beyond_memory", lambda files: True)
    monkeypatch.setattr(table, "_LARGE", 1000)
    monkeypatch.setattr(table, "_MOST_INFLATED", 10**6)


LINES = {
    "queries that stand together": "2 qid:7 1:0.5 2:1\n0 qid:7 1:1 2:4\n1 qid:5 1:2 2:8\n" * 1,
    "scattered queries": "2 qid:7 1:0.5 2:1\n0 qid:5 1:1 2:4\n1 qid:7 1:2 2:8\n3 qid:5 1:3 2:9\n",
    "later pieces are wider": "2 qid:7 1:0.5\n0 qid:7 3:1 # d2 x\n1 qid:5 2:2\n" * 3,
    "wider and scattered, with names": "2 qid:a 1:0.5\n0 qid:1 3:1 #d\n1 qid:a 2:2\n4 qid:01 4:NULL\n" * 2,
    "numbers, then names": "1 qid:12 1:1\n" * 20 + "2 qid:x 1:2\n" * 3 + "0 qid:12 1:3\n",
    "blank lines, no end": "\n" * 90 + "# nothing\n" * 9 + "1 qid:3 1:1 2:nan\n0 qid:3 2:7",
    "byte order mark": "\ufeff1 qid:3 1:1\n" + "0 qid:3 1:7\n" * 20,
}


@pytest.mark.parametrize("text", LINES.values(), ids=LINES.keys())
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("kept", [False, True])
def test_text_read_in_pieces_is_the_text_read_at_once(
    text: str, suffix: str, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    path = tmp_path / f"train.txt{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix else text.encode())
    expected = read_letor(path, undefined=-1)
    monkeypatch.setattr(letor, "_BYTES_STREAMED", 0)
    monkeypatch.setattr(letor, "BYTES_A_PIECE", 40)
    monkeypatch.setattr(letor, "_are_beyond_memory", lambda files: True)
    found = read_letor(path, undefined=-1, cache=kept)
    assert_same(found, expected)
    assert len(list(cache.iterdir())) == kept
    if kept:
        assert_same(read_letor(path, undefined=-1, cache=True), expected)


def test_several_files_with_sizes_of_queries_beside_them(in_pieces: None, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1 1:0.5\n" * 9)
    (tmp_path / "b").write_text("0 1:2\n" * 5)
    (tmp_path / "a.query").write_text("4\n5\n")
    (tmp_path / "b.query").write_text("5\n")
    files, sizes = [tmp_path / "a", tmp_path / "b"], [tmp_path / "a.query", tmp_path / "b.query"]
    data = read_letor(files, query_file=sizes)
    assert (data.qids.tolist(), data.query_lengths.tolist()) == ([1, 2, 3], [4, 5, 5])
    (tmp_path / "b.query").write_text("4\n")
    with pytest.raises(PomonaError, match=r"b\.query: its queries have 4 rows, but .*b has 5"):
        read_letor(files, query_file=sizes)


def test_mistakes_have_their_place_in_the_whole_file(in_pieces: None, tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "a"
    path.write_text("1 qid:3 1:1\n" * 50 + "1 qid:3 1:x\n" + "1 qid:3 1:1\n" * 50)
    with pytest.raises(PomonaError, match=r"a:51:11: found 'x', expected a number"):
        read_letor(path)
    path.write_text("\n# none\n" * 50)
    with pytest.raises(PomonaError, match="found no document"):
        read_letor(path, cache=True)
    assert list(cache.iterdir()) == []


def test_queries_in_two_files_are_told_of(in_pieces: None, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1 qid:3 1:1\n" * 9)
    (tmp_path / "b").write_text("1 qid:4 1:1\n" * 9 + "0 qid:3 1:1\n")
    with pytest.warns(UserWarning, match="query 3 stands in .*a and in .*b"):
        data = read_letor([tmp_path / "a", tmp_path / "b"])
    assert data.query_lengths.tolist() == [10, 9]


def test_text_that_changes_meanwhile_is_refused(
    in_pieces: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_text("1 qid:3 1:1\n" * 50)
    pieces = letor_source.LetorSource.in_pieces

    def grown(file: Path, size: int) -> Iterable[Any]:
        for piece in pieces(file, size):
            with path.open("a") as text:
                text.write("1 qid:3 1:1\n")
            yield piece

    monkeypatch.setattr(letor_source.LetorSource, "in_pieces", grown)
    with pytest.raises(PomonaError, match="was changed while it was being read"):
        read_letor(path)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("kept", [False, True])
def test_binary_tables_in_pieces(
    suffix: str, kept: bool, in_pieces: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 200
    random = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "label": random.integers(0, 3, n),
            "qid": [f"q{k}" for k in random.integers(0, 40, n)],
            "bm25": [None if k % 7 == 0 else k / 8 for k in range(n)],
            "clicks": np.arange(n),
            "doc": [f"d{k}" for k in range(n)],
        }
    )
    path = tmp_path / f"a{suffix}"
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    monkeypatch.setattr(table, "memory_room", lambda: 1 << 40)
    expected = read_table(path, doc_id="doc")
    monkeypatch.setattr(table, "memory_room", lambda: 0)
    streams = []
    monkeypatch.setattr(parsed_cache, "write_stream", _counted(parsed_cache.write_stream, streams))
    found = read_table(path, doc_id="doc", cache=kept)
    assert_same(found, expected)
    assert streams == [1]
    for name in ("qid", "label"):
        is_there = pl.col("clicks") != 133
        null = frame.with_columns(pl.when(is_there).then(name).otherwise(None).alias(name))
        null.write_parquet(path) if suffix == ".parquet" else null.write_ipc(path)
        if name == "qid":
            with pytest.raises(PomonaError, match=r"column 'qid' is null in 1 rows \(first: row 134\)"):
                read_table(path, doc_id="doc", cache=kept)
    assert np.flatnonzero(np.isnan(read_table(path, doc_id="doc", cache=kept).y)).tolist() == [133]


def _counted(function: Any, calls: list[int]) -> Any:
    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return function(*arguments)

    return counted


def test_pieces_of_datasets_that_need_no_text(tmp_path: Path) -> None:
    data = simulate(30, docs_per_query=8, n_features=5, seed=2)
    parts = [data.take(range(first, first + 6)) for first in range(0, 30, 6)]
    found = mapped(Stream("simulated", lambda: parts, data.feature_names))
    assert_same(found, data)


def test_a_failure_leaves_no_file(cache: Path) -> None:
    def broken() -> Iterable[Dataset]:
        yield simulate(5, docs_per_query=8, n_features=5, seed=2)
        raise PomonaError("broken")

    with pytest.raises(PomonaError, match="broken"):
        mapped(Stream("simulated", broken))
    assert list(cache.iterdir()) == []


def test_a_large_file_written_and_read_again(in_pieces: None, tmp_path: Path) -> None:
    data = simulate(40, docs_per_query=10, n_features=12, seed=3)
    write_letor(data, tmp_path / "a.txt")
    found = read_letor(tmp_path / "a.txt")
    assert (found.X == data.X).all()
    assert (found.y == data.y).all()
    assert found.query_lengths.tolist() == data.query_lengths.tolist()
    assert list(found.doc_ids or ()) == list(data.doc_ids or ())
