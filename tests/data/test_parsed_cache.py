from __future__ import annotations

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pomona import Dataset, PomonaError, read_letor
from pomona._arrays import read_arrays, write_arrays
from pomona.data import letor, parsed_cache

TEXT = "2 qid:b 1:0.5 3:NULL # d1\n0 qid:a 2:nan\n1 qid:b 1:8 # d2 x\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pomona-parsed"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with every file that is really parsed."""
    calls: list[int] = []
    parse = letor._parse

    def counted(*arguments: Any) -> Dataset:
        calls.append(1)
        return parse(*arguments)

    monkeypatch.setattr(letor, "_parse", counted)
    return calls


def assert_same(found: Dataset, expected: Dataset) -> None:
    for name in ("X", "y", "query_lengths", "qids", "input_order"):
        a, b = getattr(found, name), getattr(expected, name)
        assert (a is None) == (b is None)
        assert a is None or (a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()), name
    assert found.doc_ids == expected.doc_ids
    assert found.comments == expected.comments
    assert found.n_undefined == expected.n_undefined
    assert found.feature_names == expected.feature_names


def test_the_copy_is_the_same_and_spares_parsing(path: Path, parses: list[int], cache: Path) -> None:
    expected = read_letor(path)
    first = read_letor(path, cache=True)
    second = read_letor(path, cache=True)
    assert len(parses) == 2
    assert_same(first, expected)
    assert_same(second, expected)
    assert len(list(cache.iterdir())) == 1


def test_parameters_and_paths_have_copies_of_their_own(path: Path, parses: list[int]) -> None:
    other = path.with_name("other.txt")
    other.write_text(TEXT)
    for _ in range(2):
        assert read_letor(path, cache=True).n_features == 3
        assert read_letor(path, cache=True, n_features=5).n_features == 5
        assert np.isnan(read_letor(path, cache=True, undefined=np.nan).X[0, 1])
        assert read_letor(other, cache=True).n_docs == 3
        with warnings.catch_warnings(record=True):  # the same queries in both
            warnings.simplefilter("always")
            assert read_letor([path, other], cache=True).n_docs == 6
    assert len(parses) == 5


def test_a_query_file_is_a_source_too(tmp_path: Path, parses: list[int]) -> None:
    text, sizes = tmp_path / "a", tmp_path / "a.query"
    text.write_text("0 1:1\n1 1:2\n")
    sizes.write_text("2\n")
    assert read_letor(text, query_file=sizes, cache=True).n_queries == 1
    assert read_letor(text, query_file=sizes, cache=True).n_queries == 1
    assert len(parses) == 1
    sizes.write_text("1\n1\n")
    assert read_letor(text, query_file=sizes, cache=True).n_queries == 2


def test_a_changed_source_is_parsed_again(path: Path, parses: list[int]) -> None:
    read_letor(path, cache=True)
    path.write_text(TEXT.replace("0.5", "0.25"))
    assert read_letor(path, cache=True).X[0, 0] == 0.25
    status = path.stat()
    path.write_text(TEXT.replace("0.5", "0.75"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert read_letor(path, cache=True).X[0, 0] == 0.75
    assert len(parses) == 3


def test_writing_to_the_mapped_arrays_does_not_reach_the_copy(path: Path) -> None:
    read_letor(path, cache=True)
    data = read_letor(path, cache=True).gathered()
    data.X[:] = -1
    data.y += 1
    assert_same(read_letor(path, cache=True), read_letor(path))


def test_damaged_copies_are_made_again(path: Path, parses: list[int], cache: Path) -> None:
    expected = read_letor(path, cache=True)
    (copy,) = cache.iterdir()
    whole = copy.read_bytes()
    n_parsed = len(parses)
    damaged = [whole[:n] for n in (0, 1, 7, 20, 100, len(whole) // 2, len(whole) - 1)]
    damaged += [whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :] for i in (0, 7, 9, 17, 30, 500)]
    place = whole.rindex(np.float32(8).tobytes())
    damaged += [whole[:place] + bytes(4) + whole[place + 4 :], b"", b"other", bytes(len(whole))]
    for text in damaged:
        copy.write_bytes(text)
        assert_same(read_letor(path, cache=True), expected)
        n_parsed += 1
        assert len(parses) == n_parsed
        assert_same(read_letor(path, cache=True), expected)
        assert len(parses) == n_parsed


def test_a_copy_that_was_moved_is_checked_and_used(path: Path, parses: list[int], cache: Path) -> None:
    expected = read_letor(path, cache=True)
    (copy,) = cache.iterdir()
    copy.write_bytes(copy.read_bytes())
    assert_same(read_letor(path, cache=True), expected)
    assert len(parses) == 1


def test_a_copy_that_cannot_be_written_only_warns(
    path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    cache.parent.mkdir()
    cache.write_text("a file where the directory should be")
    with pytest.warns(RuntimeWarning, match=r"no copy of .*train\.txt is kept"):
        data = read_letor(path, cache=True)
    assert_same(data, read_letor(path))
    cache.unlink()

    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parsed_cache, "write_arrays", full)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        assert_same(read_letor(path, cache=True), data)


@pytest.mark.skipif(os.name != "posix", reason="modes of files as on Unix")
def test_a_directory_that_others_can_write_is_not_used(path: Path, parses: list[int], cache: Path) -> None:
    expected = read_letor(path, cache=True)
    for directory, mode in ((cache, 0o777), (cache, 0o770), (cache.parent, 0o777)):
        before = directory.stat().st_mode
        directory.chmod(mode)
        n_parsed = len(parses)
        for _ in range(2):
            with pytest.warns(RuntimeWarning, match="no copy of .* is kept: others can write to"):
                assert_same(read_letor(path, cache=True), expected)
        assert len(parses) == n_parsed + 2
        directory.chmod(before)
    n_parsed = len(parses)
    assert_same(read_letor(path, cache=True), expected)
    assert len(parses) == n_parsed


def test_a_copy_of_other_things_is_made_again(path: Path, parses: list[int], cache: Path) -> None:
    expected = read_letor(path, cache=True)
    (copy,) = cache.iterdir()
    header, arrays = read_arrays(copy, parsed_cache._KIND)
    wrong: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"sources": header["sources"]}, arrays),
        ({**header, "feature_names": 3}, arrays),
        ({**header, "feature_names": ["a"]}, arrays),
        (header, {name: array for name, array in arrays.items() if name != "y"}),
        (header, {**arrays, "X": arrays["X"].ravel()}),
        (header, {**arrays, "X": arrays["X"][:-1]}),
        (header, {**arrays, "query_ptr": arrays["query_ptr"][:-1]}),
        (header, {**arrays, "y": arrays["y"].astype(np.float64)}),
    ]
    for other in wrong:
        n_parsed = len(parses)
        write_arrays(copy, parsed_cache._KIND, *other)
        assert_same(read_letor(path, cache=True), expected)
        assert len(parses) == n_parsed + 1


def test_a_source_that_changes_while_it_is_parsed_is_not_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    parse = letor._parse

    def parse_then_change(*arguments: Any) -> Dataset:
        data = parse(*arguments)
        path.write_text(TEXT + TEXT)
        return data

    monkeypatch.setattr(letor, "_parse", parse_then_change)
    assert read_letor(path, cache=True).n_docs == 3
    monkeypatch.setattr(letor, "_parse", parse)
    assert read_letor(path, cache=True).n_docs == 6


def test_errors_are_those_of_the_reader(path: Path, tmp_path: Path, cache: Path) -> None:
    path.write_text("x")
    for _ in range(2):
        with pytest.raises(PomonaError, match=":1:1: found 'x'"):
            read_letor(path, cache=True)
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_letor(tmp_path / "missing", cache=True)
    with pytest.raises(PomonaError, match="found a directory"):
        read_letor(tmp_path, cache=True)
    assert not cache.exists()


def test_many_writers_at_once(path: Path, cache: Path) -> None:
    expected = read_letor(path)
    with ThreadPoolExecutor(8) as pool:
        for data in pool.map(lambda _: read_letor(path, cache=True), range(40)):
            assert_same(data, expected)
    assert len(list(cache.iterdir())) == 1


def test_copies_that_nobody_used_for_long_are_forgotten(path: Path, cache: Path) -> None:
    cache.mkdir(parents=True, mode=0o700)
    digest = "0123456789abcdef" * 2
    old, half = cache / f"{digest}.pomona", cache / f".{digest}.pomona.{digest[:16]}.part"
    for file in (old, half):
        file.write_bytes(b"POMONA\0\1 and so on")
        os.utime(file, (0, 0))
    read_letor(path, cache=True)
    assert not old.exists()
    assert not half.exists()
    assert len(list(cache.iterdir())) == 1


def test_old_files_of_others_stay_where_they_are(path: Path, cache: Path, tmp_path: Path) -> None:
    """In the cache directory, in the folders of older versions, and in our own."""
    digest = "0123456789abcdef" * 2
    (tmp_path / "behind").write_bytes(b"POMONA\0\1 behind a link")
    names = ("old.csv", f"{digest}.pomona", f"{digest}.mapped", "sub/old.csv", f"{digest}.part")
    files = [folder / name for folder in (cache, cache.parent, cache.parent / "data") for name in names]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text("precious")
        os.utime(file, (0, 0))
    link = cache / f"{digest[::-1]}.pomona"
    link.symlink_to(tmp_path / "behind")
    os.utime(tmp_path / "behind", (0, 0))
    read_letor(path, cache=True)
    assert all(file.read_text() == "precious" for file in files)
    assert link.is_symlink()
    assert (tmp_path / "behind").exists()


def test_a_copy_is_not_written_through_a_link(path: Path, cache: Path, tmp_path: Path) -> None:
    read_letor(path, cache=True)
    (copy,) = cache.iterdir()
    copy.unlink()
    (tmp_path / "behind").write_text("precious")
    copy.symlink_to(tmp_path / "behind")
    read_letor(path, cache=True)
    assert (tmp_path / "behind").read_text() == "precious"


def test_what_a_killed_writer_leaves_is_known_as_ours(tmp_path: Path) -> None:
    from pomona._arrays import array_file

    with array_file(tmp_path / "a", "kind", {}, ["x"]) as file:
        file.write("x", [np.zeros(9000)])
        (half,) = tmp_path.glob(".a.*.part")
        assert half.read_bytes()[:7] == b"POMONA\0"
