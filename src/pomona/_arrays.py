"""A file of named arrays and a JSON header: written whole or not at all, checked when read, mappable.

Layout: magic and version (8 bytes) · length of the description (8) · its checksum (4) · description (JSON) ·
the arrays, each at a multiple of 64 bytes. The description holds the kind of file, the caller's header and
the name, type, shape, place and checksum of every array. Nothing is pickled: reading a file never runs code.

Checking reads every byte. A mapped file is therefore trusted without it as long as nobody touched it: its
time of change is set to the one written in the description, and any later write moves it.
"""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import os
import re
import secrets
import struct
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pomona.errors import InputError

_MAGIC = b"POMONA\x00\x01"
_HEAD = struct.Struct("<8sQI")
_ALIGNMENT = 64
_ENTRY = 256  # bytes that describe an array, at the most, beside its name; and the file as a whole
_KINDS = frozenset("biufU")


@contextlib.contextmanager
def whole_file(
    path: Path, modified_ns: int | None = None, *, follows_links: bool = True
) -> Iterator[BinaryIO]:
    """Write a file that appears under its name complete, or not at all if anything fails.

    The bytes go to a file beside it, reach the disk, and only then is that file renamed. A link is followed,
    or else replaced.
    """
    target = Path(os.path.realpath(path)) if follows_links else path
    if not target.is_symlink() and target.exists() and not target.is_file():
        raise InputError("cannot be written: it is not a regular file", path)
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if modified_ns is not None:
            os.utime(beside, ns=(modified_ns, modified_ns))
        beside.replace(target)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", path) from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def refuse_unwritable(directory: str | Path) -> None:
    """Refuse a directory that cannot be made, or written to: before the work, not after. Nothing is left."""
    path = Path(directory)
    there = next(one for one in (path, *path.absolute().parents) if one.exists() or one.is_symlink())
    if not there.is_dir():
        what = "a file, expected a directory" if there.is_file() else "no directory"
        raise InputError(f"cannot be made: {there} is {what}", path)
    try:
        with tempfile.TemporaryFile(dir=there, prefix=".pomona-") as file:
            file.write(b"x")
    except OSError as error:
        raise InputError(f"cannot be written to: {error.strerror or error}. Use another", path) from None


def write_arrays(
    path: Path,
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    follows_links: bool = True,
) -> None:
    """Write `arrays` and `header` (anything JSON can hold) as a file of this `kind`."""
    with array_file(path, kind, header, arrays, follows_links=follows_links) as file:
        for name, array in arrays.items():
            file.write(name, [array])


@contextlib.contextmanager
def array_file(
    path: Path, kind: str, header: Mapping[str, Any], names: Iterable[str], *, follows_links: bool = True
) -> Iterator[ArrayFile]:
    """A file of this `kind` for arrays of these names, which need not fit into memory.

    What is added to the `header` meanwhile must be no longer than what it replaces.
    """
    # Whole even seconds: every file system can store them.
    modified_ns = int(time.time()) // 2 * 2 * 10**9
    room = len(json.dumps([kind, header])) + sum(len(json.dumps(name)) + _ENTRY for name in names) + _ENTRY
    with whole_file(path, modified_ns, follows_links=follows_links) as file:
        file.write(_MAGIC)  # so that what is left of a process that was killed is known as ours
        written = ArrayFile(file, _aligned(_HEAD.size + room))
        yield written
        written.describe({"kind": kind, "header": header, "modified_ns": modified_ns})


class ArrayFile:
    """Arrays that are written one after the other, behind the room for their description."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        self._file, self._start, self._size = file, start, 0
        self.entries: list[dict[str, Any]] = []

    def write(self, name: str, blocks: Iterable[NDArray[Any]]) -> None:
        """Write an array that comes in blocks of its rows, at least one."""
        entry: dict[str, Any] = {"name": name, "offset": _aligned(self._size), "checksum": 0}
        self._file.seek(self._start + entry["offset"])
        n_rows = n_bytes = 0
        for given in blocks:
            block = _little_endian(name, given)
            entry |= {"dtype": block.dtype.str, "checksum": zlib.crc32(_bytes_of(block), entry["checksum"])}
            self._file.write(_bytes_of(block))
            n_rows, n_bytes = n_rows + (len(block) if block.ndim else 0), n_bytes + block.nbytes
            entry["shape"] = [n_rows, *block.shape[1:]] if block.ndim else []
        self.entries.append(entry)
        self._size = entry["offset"] + n_bytes

    def describe(self, facts: Mapping[str, Any]) -> None:
        """Fill in the description: blanks at its end mean nothing."""
        text = json.dumps({**facts, "arrays": self.entries, "size": self._size}).encode()
        text = text.ljust(self._start - _HEAD.size)
        if len(text) > self._start - _HEAD.size:
            raise ValueError("the description is longer than the room for it")
        self._file.truncate(self._start + self._size)
        self._file.seek(0)
        self._file.write(_HEAD.pack(_MAGIC, len(text), zlib.crc32(text)))
        self._file.write(text)


def read_arrays(
    path: Path, kind: str, *, mapped: bool = False, writable: bool = True
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a file of this `kind`; anything else is refused.

    mapped : leave the arrays on disk, read when they are looked at; what is written to them stays private.
    writable : whether mapped arrays can be written to, which some limits of memory count as if they were.
    """
    try:
        with path.open("rb") as file:
            size, modified_ns = os.fstat(file.fileno()).st_size, os.fstat(file.fileno()).st_mtime_ns
            if size < _HEAD.size:
                raise InputError(f"found {size} bytes, expected a file of Pomona's", path)
            if mapped:
                access = mmap.ACCESS_COPY if writable else mmap.ACCESS_READ
                content: Any = mmap.mmap(file.fileno(), 0, access=access)
            else:
                content = bytearray(size)
                if file.readinto(content) != size:
                    raise InputError("became shorter while it was being read", path)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
    try:
        description, start = _description(content, size)
        if description["kind"] != kind:
            raise InputError(f"found a file of {description['kind']!r}, expected {kind!r}", path)
        trusted = mapped and description["modified_ns"] == modified_ns
        arrays: dict[str, NDArray[Any]] = {}
        end = 0
        for entry in description["arrays"]:
            # One after the other: if they could lie over each other, a small file would hold large ones.
            if entry["offset"] < end:
                raise ValueError(f"array {entry['name']!r} lies outside its place in the file")
            array = arrays[entry["name"]] = _array(content, start, size, entry, checked=not trusted)
            end = entry["offset"] + array.nbytes
        return dict(description["header"]), arrays
    except InputError:
        raise
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InputError(f"is damaged or not a file of Pomona's ({error})", path) from None


def _description(content: Any, size: int) -> tuple[dict[str, Any], int]:
    magic, length, checksum = _HEAD.unpack(content[: _HEAD.size])
    if magic[:6] != _MAGIC[:6]:
        raise ValueError(f"it starts with {bytes(magic)!r}")
    if magic != _MAGIC:
        raise ValueError(f"version {magic[7]} of the format, this Pomona reads {_MAGIC[7]}")
    if length > size - _HEAD.size:
        raise ValueError("it is cut short")
    text = content[_HEAD.size : _HEAD.size + length]
    if zlib.crc32(text) != checksum:
        raise ValueError("the checksum of its description differs")
    description = json.loads(bytes(text))
    start = _aligned(_HEAD.size + length)
    if start + description["size"] != size:
        raise ValueError(f"{size} bytes instead of {start + description['size']}")
    return description, start


def _array(content: Any, start: int, size: int, entry: Mapping[str, Any], checked: bool) -> NDArray[Any]:
    if not re.fullmatch(r"[<|][biufU]\d{1,9}", entry["dtype"]):
        raise ValueError(f"array {entry['name']!r} of type {entry['dtype']!r}")
    dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"array {entry['name']!r} of shape {shape}")
    count, offset = math.prod(shape), start + entry["offset"]
    if count == 0:
        return np.empty(shape, dtype)
    if offset % _ALIGNMENT or offset + count * dtype.itemsize > size:
        raise ValueError(f"array {entry['name']!r} lies outside its place in the file")
    array: NDArray[Any] = np.frombuffer(content, dtype, count, offset)
    if checked and zlib.crc32(_bytes_of(array)) != entry["checksum"]:
        raise ValueError(f"the checksum of array {entry['name']!r} differs")
    return array.reshape(shape)


def _little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind not in _KINDS:
        raise InputError(f"array {name!r} of type {array.dtype} cannot be stored")
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")


def _bytes_of(array: NDArray[Any]) -> memoryview | bytes:
    """Its memory, without a copy."""
    return array.reshape(-1).view(np.uint8).data if array.size else b""


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT
