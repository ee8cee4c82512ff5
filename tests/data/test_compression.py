from __future__ import annotations

import bz2
import gzip
import lzma
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from pomona import PomonaError, _machine
from pomona.data import compression
from pomona.data.compression import open_to_write, read_bytes, read_files

TEXT = b"".join(b"%d some text, %d\n" % (i, i * i) for i in range(20_000))
COMPRESS: dict[str, Any] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


@pytest.mark.parametrize("suffix", COMPRESS)
def test_what_is_written_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.txt{suffix}"
    with open_to_write(path) as stream:
        stream.write(TEXT[:1000])
        stream.write(TEXT[1000:])
    assert read_bytes(path) == TEXT
    assert (path.read_bytes() == TEXT) == (suffix == "")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", COMPRESS)
def test_the_same_data_give_the_same_file(tmp_path: Path, suffix: str) -> None:
    for name in "ab":
        with open_to_write(tmp_path / f"{name}{suffix}") as stream:
            stream.write(TEXT)
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("name", ["a", "a.txt", "a.TXT"])
def test_files_are_known_by_their_first_bytes(tmp_path: Path, suffix: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(COMPRESS[suffix](TEXT))
    assert read_bytes(path) == TEXT


@pytest.mark.parametrize("suffix", COMPRESS)
def test_several_compressed_parts_in_one_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(COMPRESS[suffix](TEXT) + COMPRESS[suffix](b"end"))
    assert read_bytes(path) == TEXT + b"end"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_file_cut_short_is_refused(tmp_path: Path, suffix: str) -> None:
    whole = COMPRESS[suffix](TEXT)
    path = tmp_path / f"a{suffix}"
    for n_bytes in [1, 2, 5, 9, 20, len(whole) // 2, len(whole) - 9, len(whole) - 1]:
        path.write_bytes(whole[:n_bytes])
        with pytest.raises(PomonaError, match=rf"a\{suffix}: cannot be read: \w"):
            read_bytes(path)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("first", [b"1 qid:1 1:1\n", TEXT * 5])
def test_what_stands_behind_a_stream_is_read_or_refused(tmp_path: Path, suffix: str, first: bytes) -> None:
    compress = COMPRESS[suffix]
    path = tmp_path / f"a{suffix}"
    start, second = compress(first), compress(TEXT)
    for n_bytes in [1, 2, 5, 9, 20, len(second) // 2, len(second) - 9, len(second) - 1]:
        path.write_bytes(start + second[:n_bytes])
        with pytest.raises(PomonaError, match=rf"a\{suffix}: cannot be read: \w"):
            read_bytes(path)
    for place in [0, 1, len(second) // 2, len(second) - 2]:
        damaged = bytearray(second)
        damaged[place] ^= 0x55
        path.write_bytes(start + damaged + second)
        with pytest.raises(PomonaError, match=rf"a\{suffix}: cannot be read: \w"):
            read_bytes(path)
    for garbage in [b"x", b"garbage", b"\0\0x", bytes(8) + b"1 qid:1 1:1\n", TEXT]:
        path.write_bytes(start + garbage)
        with pytest.raises(PomonaError, match=rf"a\{suffix}: cannot be read: \w"):
            read_bytes(path)


@pytest.mark.parametrize(
    ("suffix", "allowed", "refused"),
    [
        (".gz", [1, 4, 512], []),
        (".bz2", [], [1, 4]),
        (".xz", [4, 8, 512, 4 << 20], [1, 6]),
        (".zst", [], [1, 4]),
    ],
)
def test_zeros_behind_a_stream_as_the_format_allows(
    tmp_path: Path, suffix: str, allowed: list[int], refused: list[int]
) -> None:
    path = tmp_path / f"a{suffix}"
    packed = COMPRESS[suffix](TEXT)
    for n_zeros in allowed:
        path.write_bytes(packed + bytes(n_zeros))
        assert read_bytes(path) == TEXT
    if suffix in (".gz", ".xz"):
        path.write_bytes(packed + bytes(8) + packed)
        assert read_bytes(path) == TEXT * 2
    for n_zeros in refused:
        path.write_bytes(packed + bytes(n_zeros))
        with pytest.raises(PomonaError, match="cannot be read"):
            read_bytes(path)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_damaged_file_is_refused(tmp_path: Path, suffix: str) -> None:
    whole = bytearray(COMPRESS[suffix](TEXT))
    whole[len(whole) // 2] ^= 0xFF
    path = tmp_path / f"a{suffix}"
    path.write_bytes(whole)
    with pytest.raises(PomonaError, match="cannot be read"):
        read_bytes(path)
    path.write_bytes(b"1 qid:1 1:1\n")
    with pytest.raises(PomonaError, match="cannot be read"):
        read_bytes(path)


def test_files_stand_end_to_end(tmp_path: Path) -> None:
    parts = [b"a\nb", b"", b"\xef\xbb\xbfc\n", TEXT * 8]
    for suffix in ("", ".xz"):
        paths = []
        for i, part in enumerate(parts):
            paths.append(tmp_path / f"{i}{suffix if i == 2 else ''}")
            paths[-1].write_bytes(COMPRESS[suffix if i == 2 else ""](part))
        text, starts = read_files(paths, padding=5)
        assert text.tobytes() == b"a\nb\n\nc\n\n" + TEXT * 8 + b"\n" * 5
        assert starts == [0, 4, 5, 8]
        assert text.dtype == np.uint8
        assert not text.flags.writeable


def test_no_file_directory_or_device(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing: no such file"):
        read_bytes(tmp_path / "missing")
    with pytest.raises(PomonaError, match="found a directory, expected a file"):
        read_bytes(tmp_path)
    with pytest.raises(PomonaError, match="cannot be read: embedded null byte"):
        read_bytes(tmp_path / "a\0b")


@pytest.mark.skipif(os.name != "posix", reason="devices and pipes as on Unix")
def test_devices_are_refused_and_pipes_read(tmp_path: Path) -> None:
    with pytest.raises(PomonaError, match="found a device or socket, expected a file"):
        read_bytes(Path("/dev/zero"))
    for suffix, compress in COMPRESS.items():
        pipe = tmp_path / f"pipe{suffix}"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(compress(TEXT),))
        writer.start()
        assert read_bytes(pipe) == TEXT
        writer.join()


@pytest.mark.skipif(os.name != "posix", reason="rights as on Unix")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT)
    path.chmod(0)
    user = os.geteuid()
    os.seteuid(user or 65534)  # root may read everything, nobody may not
    try:
        with pytest.raises(PomonaError, match=r"a\.txt: cannot be read: Permission denied"):
            read_bytes(path)
    finally:
        os.seteuid(user)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_file_larger_than_memory_is_refused(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(COMPRESS[suffix](bytes(25_000_000)))
    for module in (_machine, compression):
        monkeypatch.setattr(module, "memory_room", lambda: 20_000_000)
    with pytest.raises(PomonaError, match=r"a.*: the text in it takes about .* of memory, and 20 MiB may be"):
        read_bytes(path)


def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT)
    read_part = compression._read_part

    def cut_then_read(first: int, last: int, *arguments: Any) -> None:
        path.write_bytes(TEXT[:100])
        read_part(first, last, *arguments)

    monkeypatch.setattr(compression, "_read_part", cut_then_read)
    with pytest.raises(PomonaError, match="became shorter while it was being read"):
        read_bytes(path)

    def read_then_grow(first: int, last: int, *arguments: Any) -> None:
        read_part(first, last, *arguments)
        path.write_bytes(TEXT * 2)

    path.write_bytes(TEXT)
    monkeypatch.setattr(compression, "_read_part", read_then_grow)
    with pytest.raises(PomonaError, match="was changed while it was being read"):
        read_bytes(path)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_what_fails_half_way_leaves_nothing(tmp_path: Path, suffix: str) -> None:
    def write_half() -> None:
        with open_to_write(tmp_path / f"a{suffix}") as stream:
            stream.write(TEXT)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert list(tmp_path.iterdir()) == []
    with (
        pytest.raises(PomonaError, match="cannot be written: No such file or directory"),
        open_to_write(tmp_path / "no" / f"a{suffix}"),
    ):
        pass


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("seed", range(3))
def test_random_damage_is_refused_or_does_no_harm(tmp_path: Path, suffix: str, seed: int) -> None:
    """Several streams, of random lengths, with random bytes changed, left out or added."""
    random = np.random.default_rng(seed)
    path = tmp_path / f"a{suffix}"
    ends = np.sort(random.integers(0, 3000, 3)).tolist()
    parts = [TEXT[a:b] for a, b in zip([0, *ends], [*ends, 3000], strict=True)]
    whole = b"".join(COMPRESS[suffix](part) for part in parts)
    path.write_bytes(whole)
    assert read_bytes(path) == TEXT[:3000]
    for _ in range(150):
        damaged = bytearray(whole)
        place = random.integers(len(damaged))
        damaged[place : place + random.integers(2)] = random.bytes(random.integers(2))
        if random.integers(4) == 0:
            del damaged[place:]
        path.write_bytes(damaged)
        try:
            text = read_bytes(path)
        except PomonaError as error:
            assert "\n" not in str(error)  # noqa: PT017
        else:
            # gzip's and Zstandard's headers hold fields that no checksum covers; the text is covered.
            cut_at_a_stream = [b"".join(parts[:n]) for n in range(len(parts) + 1)]
            assert text in cut_at_a_stream, (place, len(text))
