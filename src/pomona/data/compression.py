"""Files read to the last byte and written as a whole, compressed or not.

Reading goes by the first bytes of a file, so that a wrong suffix does no harm; writing goes by the suffix.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pomona._arrays import whole_file
from pomona._extras import naming_extras
from pomona._jit import over_chunks
from pomona._machine import memory_room, require_memory
from pomona.errors import InputError, MissingDataError, PomonaError

_DAMAGES = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SIGNATURES = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".zst": b"\x28\xb5\x2f\xfd"}
SUFFIXES = tuple(_SIGNATURES)


def _zstandard() -> Any:
    with naming_extras():
        import zstandard
    return zstandard


# What makes a decompressor that takes no more memory than this; the gzip module reads to the end by itself.
_DECOMPRESSORS: dict[str, Callable[[int], Any]] = {
    ".bz2": lambda room: bz2.BZ2Decompressor(),
    ".xz": lambda room: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=max(room, 1)),
    ".zst": lambda room: (
        _zstandard().ZstdDecompressor(max_window_size=min(max(room, 1 << 10), 1 << 31)).decompressobj()
    ),
}
_COMPRESSORS: dict[str, Callable[[BinaryIO], Any]] = {
    # Without a name and a time in it, the same data give the same file.
    ".gz": lambda file: gzip.GzipFile("", "wb", 6, file, mtime=0),
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
    ".zst": lambda file: (
        _zstandard().ZstdCompressor(level=6, write_checksum=True).stream_writer(file, closefd=False)
    ),
}
_PIECE = 1 << 20
# Zstandard makes up to 32 kB of a byte, and all that comes of one piece is made at once: it may take a
# sixteenth of the room. Pieces of less than 256 bytes would be slow.
_ZSTANDARD_SHARE, _LEAST_PIECE = 1 << (15 + 4), 1 << 8


def read_files(paths: Sequence[Path], padding: int) -> tuple[NDArray[np.uint8], list[int]]:
    """All files end to end, each followed by a newline and the last by `padding` of them; and their starts.

    A byte order mark is left out. The files are read, not mapped: a mapped file that another process
    cuts short kills this one.
    """
    if all(is_plain(path) for path in paths):
        return _read_plain(paths, padding)
    room = memory_room()
    text = bytearray()
    starts = []
    for path in paths:
        starts.append(len(text))
        for piece in pieces(path):
            # A buffer that grows takes an eighth more than it needs.
            require_memory((len(text) + 2 * len(piece)) * 9 // 8, path, "the text in it", room)
            text += piece
        if text.startswith(_BYTE_ORDER_MARK, starts[-1]):
            del text[starts[-1] : starts[-1] + len(_BYTE_ORDER_MARK)]
        text += b"\n"
    text += b"\n" * (padding - 1)
    return _read_only(np.frombuffer(text, np.uint8)), starts


def line_pieces(path: Path, size: int, padding: int) -> Iterator[NDArray[np.uint8]]:
    """A file in pieces of whole lines, of about `size` bytes, each followed by `padding` newlines.

    A byte order mark is left out, and a last line that does not end is ended.
    """
    is_whole = is_plain(path)
    state = _state(path) if is_whole else None
    text, is_first = bytearray(), True

    def padded(end: int) -> NDArray[np.uint8]:
        nonlocal is_first
        skip = len(_BYTE_ORDER_MARK) * int(is_first and text.startswith(_BYTE_ORDER_MARK))
        piece = np.empty(end - skip + padding, np.uint8)
        piece[: end - skip] = np.frombuffer(text, np.uint8)[skip:end]
        piece[end - skip :] = ord("\n")
        is_first = False
        return _read_only(piece)

    for piece in pieces(path):
        text += piece
        if len(text) >= size and (end := text.rfind(b"\n") + 1):
            yield padded(end)
            text = text[end:]
        if len(text) > size:
            require_memory(4 * len(text), path, "a line in it")
    if text:
        if not text.endswith(b"\n"):
            text += b"\n"
        yield padded(len(text))
    if is_whole and _state(path) != state:
        raise InputError("was changed while it was being read", path)


def read_bytes(path: Path) -> bytes:
    """The bytes of one file, without a byte order mark."""
    text, _ = read_files([path], padding=1)
    require_memory(text.size, path, "the text in it")
    return text[:-1].tobytes()


def first_line(path: Path) -> bytes:
    """What stands before the first newline, or as much of it as one piece holds."""
    return next(pieces(path), b"").partition(b"\n")[0]


def plain_name(path: Path) -> str:
    """The file's name without its compression suffix.

    >>> plain_name(Path("data/train.csv.gz")), plain_name(Path("train.txt"))
    ('train.csv', 'train.txt')
    """
    return path.stem if path.suffix.lower() in SUFFIXES else path.name


@contextlib.contextmanager
def open_to_write(path: Path) -> Iterator[IO[bytes]]:
    """A stream of bytes to `path`, compressed as its suffix says; the file appears when all is written."""
    compressor = _COMPRESSORS.get(path.suffix.lower(), contextlib.nullcontext)
    with whole_file(path) as file, compressor(file) as stream:
        yield stream


def is_plain(path: Path) -> bool:
    """Whether this is a file without compression (and not a pipe, which cannot be read from two places)."""
    with _readable(path):
        mode = path.stat().st_mode
        if stat.S_ISFIFO(mode):
            return False
        if not stat.S_ISREG(mode):
            what = "a directory" if stat.S_ISDIR(mode) else "a device or socket"
            raise InputError(f"found {what}, expected a file", path)
        with path.open("rb") as file:
            return _compression(file.read(8), path) is None


def _compression(start: bytes, path: Path) -> str | None:
    for suffix, signature in _SIGNATURES.items():
        if start.startswith(signature):
            return suffix
    # A compressed file that has lost its start is for its decompressor to refuse.
    return path.suffix.lower() if start and path.suffix.lower() in SUFFIXES else None


def _read_plain(paths: Sequence[Path], padding: int) -> tuple[NDArray[np.uint8], list[int]]:
    states = [_state(path) for path in paths]
    marks = [_byte_order_mark(path) for path in paths]
    sizes = [state[0] - mark for state, mark in zip(states, marks, strict=True)]
    total = sum(sizes) + len(paths) + padding - 1
    require_memory(total, paths[0], "the text in it")
    text = np.empty(total, np.uint8)
    starts, start = [], 0
    for path, mark, size, state in zip(paths, marks, sizes, states, strict=True):
        starts.append(start)
        over_chunks(_read_part, size, path, mark, text.data[start : start + size], smallest=_PIECE)
        if _state(path) != state:
            raise InputError("was changed while it was being read", path)
        text[start + size] = ord("\n")
        start += size + 1
    text[start - 1 :] = ord("\n")
    return _read_only(text), starts


def _read_part(first: int, last: int, path: Path, skip: int, out: memoryview) -> None:
    with _readable(path), path.open("rb", buffering=0) as file:
        file.seek(first + skip)
        while first < last:
            n_read = file.readinto(out[first : min(last, first + 16 * _PIECE)])
            if not n_read:
                raise InputError("became shorter while it was being read", path)
            first += n_read


def _state(path: Path) -> tuple[int, int, int]:
    with _readable(path):
        status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def _byte_order_mark(path: Path) -> int:
    with _readable(path), path.open("rb") as file:
        return len(_BYTE_ORDER_MARK) if file.read(3) == _BYTE_ORDER_MARK else 0


def pieces(path: Path) -> Iterator[bytes]:
    """The content of a file, decompressed where it is compressed, a piece at a time."""
    with _readable(path), path.open("rb") as file:
        compression = _compression(file.peek(8)[:8], path)
        if compression is None or compression == ".gz":
            stream: Any = file if compression is None else gzip.GzipFile(fileobj=file)
            while piece := stream.read(_PIECE):
                yield piece
        else:
            yield from _streams(file, compression)


def _streams(file: BinaryIO, compression: str) -> Iterator[bytes]:
    """Stream after stream of a compressed file, to its last byte.

    The readers of the libraries take what they do not understand behind a stream for the end of the file, or
    a file that is cut short for a whole one.
    """
    stream: Any = None
    n_zeros = 0
    limit: tuple[int, ...] = (_PIECE,)
    size = _PIECE
    if compression == ".zst":
        limit, size = (), min(max(memory_room() // _ZSTANDARD_SHARE, _LEAST_PIECE), _PIECE)
    while piece := file.read(size):
        while piece or not getattr(stream, "needs_input", True):
            if stream is None:
                if compression == ".xz":  # zeros may stand behind a stream, four or eight or …
                    n_zeros += len(piece) - len(piece := piece.lstrip(b"\0"))
                    if not piece:
                        break
                stream = _DECOMPRESSORS[compression](memory_room())
            yield stream.decompress(piece, *limit)
            piece = b""
            if stream.eof:
                piece, stream = stream.unused_data, None
    if stream is not None:
        raise EOFError("it is cut short, or what stands behind its end is damaged")
    if n_zeros % 4:
        raise EOFError("what stands behind its end is damaged")


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Whatever goes wrong while reading becomes one clear error."""
    try:
        yield
    except PomonaError:
        raise
    except FileNotFoundError:
        raise MissingDataError(f"{path}: no such file") from None
    except Exception as error:
        if not isinstance(error, _DAMAGES) and type(error).__name__ != "ZstdError":
            raise
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path) from None


def _read_only(text: NDArray[np.uint8]) -> NDArray[np.uint8]:
    text.flags.writeable = False
    return text
