from __future__ import annotations

import json
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pomona import PomonaError, _arrays
from pomona._arrays import read_arrays, whole_file, write_arrays
from pomona.errors import InputError

ARRAYS = {
    "X": np.arange(6, dtype=np.float32).reshape(2, 3),
    "names": np.array(["a", "größer"]),
    "none": np.empty((0, 4), np.int64),
    "flags": np.array([True, False]),
}


def same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    return list(found) == list(expected) and all(
        found[name].dtype == array.dtype
        and np.array_equal(found[name], array)
        and found[name].shape == array.shape
        for name, array in expected.items()
    )


@pytest.mark.parametrize("mapped", [False, True])
def test_arrays_and_header_come_back(tmp_path: Path, mapped: bool) -> None:
    path = tmp_path / "a.pomona"
    write_arrays(path, "model", {"rate": 0.5, "names": ["x"]}, ARRAYS)
    header, arrays = read_arrays(path, "model", mapped=mapped)
    assert header == {"rate": 0.5, "names": ["x"]}
    assert same(arrays, ARRAYS)
    assert all(
        array.__array_interface__["data"][0] % 64 == 0 for array in arrays.values() if array.size and mapped
    )


@pytest.mark.parametrize(
    "arrays", [{}, {"none": np.empty(0)}, {"a": np.ones(1, np.int8), "none": np.empty(0)}]
)
def test_files_with_nothing_in_them(tmp_path: Path, arrays: dict[str, Any]) -> None:
    write_arrays(tmp_path / "a", "model", {}, arrays)
    assert same(read_arrays(tmp_path / "a", "model")[1], arrays)


def test_big_endian_and_strided_arrays_are_stored_by_value(tmp_path: Path) -> None:
    array = np.arange(12, dtype=">i4").reshape(3, 4)[:, ::2]
    write_arrays(tmp_path / "a", "model", {}, {"a": array})
    found = read_arrays(tmp_path / "a", "model")[1]["a"]
    assert found.dtype == "<i4"
    assert found.tolist() == [[0, 2], [4, 6], [8, 10]]


def test_writing_to_a_mapped_array_stays_private(tmp_path: Path) -> None:
    path = tmp_path / "a.pomona"
    write_arrays(path, "model", {}, ARRAYS)
    before = path.read_bytes()
    array = read_arrays(path, "model", mapped=True)[1]["X"]
    array[:] = -1
    assert path.read_bytes() == before
    assert read_arrays(path, "model", mapped=True)[1]["X"][1, 2] == 5


@pytest.mark.parametrize("mapped", [False, True])
def test_every_changed_byte_is_noticed(tmp_path: Path, mapped: bool) -> None:
    path = tmp_path / "a.pomona"
    write_arrays(path, "model", {"a": 1}, ARRAYS)
    whole = path.read_bytes()
    for i in range(len(whole)):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 0x55]) + whole[i + 1 :])
        try:
            _, arrays = read_arrays(path, "model", mapped=mapped)
        except PomonaError:
            continue
        assert whole[i] == 0, "only the filling between arrays may change"
        assert same(arrays, ARRAYS)


def test_every_shorter_or_longer_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pomona"
    write_arrays(path, "model", {"a": 1}, ARRAYS)
    whole = path.read_bytes()
    for text in [*(whole[:n] for n in range(len(whole))), whole + b"\0"]:
        path.write_bytes(text)
        with pytest.raises(PomonaError, match=r"a\.pomona: "):
            read_arrays(path, "model", mapped=True)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pomona"
    write_arrays(path, "dataset", {}, {})
    with pytest.raises(PomonaError, match="found a file of 'dataset', expected 'model'"):
        read_arrays(path, "model")
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(PomonaError, match="not a file of Pomona's"):
        read_arrays(path, "model")
    path.write_bytes(b"POMONA\x00\x02" + bytes(100))
    with pytest.raises(PomonaError, match="version 2 of the format, this Pomona reads 1"):
        read_arrays(path, "model")
    with pytest.raises(PomonaError, match="No such file"):
        read_arrays(tmp_path / "missing", "model")
    with pytest.raises(PomonaError, match="cannot be read"):
        read_arrays(tmp_path, "model")


def crafted(path: Path, description: Any) -> None:
    text = description if isinstance(description, bytes) else json.dumps(description).encode()
    head = struct.pack("<8sQI", b"POMONA\x00\x01", len(text), zlib.crc32(text)) + text
    path.write_bytes(head + bytes(-len(head) % 64 + 64))


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "|O8"},
        {"dtype": "<V8"},
        {"dtype": "f4,f4"},
        {"dtype": ["f4"]},
        {"shape": [-1]},
        {"shape": [2**70]},
        {"shape": 3},
        {"shape": [2.0]},
        {"offset": -64},
        {"offset": 64},
        {"offset": 4},
        {"offset": None},
        {"checksum": 0},
    ],
)
def test_descriptions_made_to_mislead_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    entry = {"name": "a", "dtype": "<f4", "shape": [4], "offset": 0, "checksum": zlib.crc32(bytes(16))}
    description = {"kind": "model", "header": {}, "modified_ns": 0, "size": 64, "arrays": [entry]}
    crafted(tmp_path / "a", description)
    assert read_arrays(tmp_path / "a", "model")[1]["a"].tolist() == [0, 0, 0, 0]
    crafted(tmp_path / "a", {**description, "arrays": [{**entry, **change}]})
    with pytest.raises(PomonaError):
        read_arrays(tmp_path / "a", "model")


@pytest.mark.parametrize("description", [[], {}, 3, {"kind": "model"}, b"\xff", b"[" * 100_000])
def test_descriptions_that_are_none_are_refused(tmp_path: Path, description: Any) -> None:
    crafted(tmp_path / "a", description)
    with pytest.raises(PomonaError):
        read_arrays(tmp_path / "a", "model")


def test_objects_are_not_stored(tmp_path: Path) -> None:
    with pytest.raises(PomonaError, match="array 'a' of type object cannot be stored"):
        write_arrays(tmp_path / "a", "model", {}, {"a": np.array([{}])})
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.pomona"
    write_arrays(path, "model", {"a": 1}, ARRAYS)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_arrays.os, "fsync", full)
    with pytest.raises(InputError, match=r"a\.pomona: cannot be written: No space left on device"):
        write_arrays(path, "model", {"a": 2}, {})
    assert read_arrays(path, "model")[0] == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "a.txt"
    with pytest.raises(InputError, match=r"nowhere/a\.txt: cannot be written: No such"), whole_file(path):
        pass


def test_a_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with whole_file(path) as file:
        file.write(b"half")
        assert not path.exists()
    assert path.read_bytes() == b"half"

    def interrupted() -> None:
        with whole_file(path) as file:
            file.write(b"other")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"half"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="links and devices as on Unix")
def test_links_are_followed_and_devices_left_alone(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with whole_file(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    with pytest.raises(PomonaError, match="not a regular file"), whole_file(Path(os.devnull)):
        pass


def test_a_link_is_replaced_where_it_is_not_to_be_followed(tmp_path):
    (tmp_path / "real").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with whole_file(tmp_path / "link", follows_links=False) as file:
        file.write(b"new")
    assert not (tmp_path / "link").is_symlink()
    assert ((tmp_path / "link").read_text(), (tmp_path / "real").read_text()) == ("new", "kept")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with whole_file(tmp_path / "loop", follows_links=False) as file:
        file.write(b"new")
    assert (tmp_path / "loop").read_text() == "new"
