"""The binary copy of parsed files that `cache=True` keeps: mapped instead of parsed while they are the same.

A copy is named by the paths and the parameters, and holds for each source its size, its times of change and
a digest of sampled blocks. It may vanish, be damaged, be impossible to write, or lie where others can write:
then the text is parsed. What is large is parsed piece by piece, straight into the copy.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import secrets
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._arrays import read_arrays, write_arrays
from pomona._cache import cache_part, forget, is_private
from pomona.data.dataset import Dataset
from pomona.data.precision import Rounding
from pomona.data.stream import write_stream
from pomona.data.text import TextColumn
from pomona.errors import InputError, PomonaError

_KIND = "dataset 6"  # changes whenever the reader would make other arrays of the same text
_N_BLOCKS, _BLOCK = 16, 4096
_KEPT_DAYS = 30


@dataclass(frozen=True)
class Stream:
    """Data in pieces, each some of the rows, that are made one after the other when they are wanted."""

    name: str
    pieces: Callable[[], Iterable[Dataset]]
    feature_names: Sequence[str] | None = None
    undefined: float = 0.0
    rounding: Rounding = field(default_factory=Rounding)
    """Is told by the pieces what float32 changes of the features."""


def kept(
    sources: Sequence[Path],
    parameters: Sequence[Any],
    parse: Callable[[], Dataset],
    stream: Callable[[], Stream | None],
) -> Dataset:
    """What `parse` makes of the sources: mapped from the copy if there is one, else parsed and kept.

    stream : gives the same in pieces, where the whole is large.
    """
    try:
        before = _fingerprint(sources)
    except OSError:  # a pipe, or no file at all: parsing will say
        return parse()
    copy = _place(sources, parameters)
    with contextlib.suppress(PomonaError, OSError, LookupError, TypeError, ValueError, AttributeError):
        _refuse_open(copy.parent)
        header, arrays = read_arrays(copy, _KIND, mapped=True)
        if header["sources"] == before:
            return _dataset(header, arrays)
    if (in_pieces := stream()) is not None and _can_be_written(copy.parent):
        return _streamed(copy, {"sources": before}, in_pieces, lambda: _fingerprint(sources) == before)
    data = parse()
    try:
        if _fingerprint(sources) == before:
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _refuse_open(copy.parent)
            header = {"sources": before, **_facts(data)}
            write_arrays(copy, _KIND, header, _arrays(data), follows_links=False)
            forget("parsed", days=_KEPT_DAYS)
    except (OSError, PomonaError) as error:
        warnings.warn(f"no copy of {sources[0]} is kept: {error}", RuntimeWarning, stacklevel=3)
    return data


def mapped(stream: Stream) -> Dataset:
    """Data that may be larger than memory, from pieces: they lie in a file that is gone when they are."""
    directory = cache_part("parsed")
    if not _can_be_written(directory):
        raise InputError(
            f"{stream.name} does not fit into memory, nor can {directory} be used: set POMONA_CACHE"
        )
    return _streamed(directory / f"{secrets.token_hex(16)}.mapped", {}, stream, lambda: False)


def _streamed(path: Path, facts: dict[str, Any], stream: Stream, is_kept: Callable[[], bool]) -> Dataset:
    """Pieces written to a file, which is kept if it is known at the end to be a copy, and mapped."""
    logging.getLogger("pomona").warning(f"reading {stream.name}, which is large, into {path.parent} …")
    facts = {**facts, "feature_names": stream.feature_names}
    write_stream(path, _KIND, facts, stream.pieces(), stream.undefined, stream.rounding)
    data = _dataset(*read_arrays(path, _KIND, mapped=True, writable=False))
    if not is_kept():
        with contextlib.suppress(OSError):  # Windows deletes no file that is mapped: `forget` will
            path.unlink()
    forget("parsed", days=_KEPT_DAYS)
    return data


def _can_be_written(directory: Path) -> bool:
    with contextlib.suppress(OSError, PomonaError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_open(directory)
        return os.access(directory, os.W_OK)
    return False


def _refuse_open(directory: Path) -> None:
    """What others could have put there is no copy of ours, and what we put there they could change."""
    if not is_private(directory):
        raise InputError(f"others can write to {directory}: chmod go-w, or set POMONA_CACHE")


def _place(sources: Sequence[Path], parameters: Sequence[Any]) -> Path:
    name = json.dumps([[str(path.absolute()) for path in sources], repr(parameters)])
    digest = hashlib.blake2b(name.encode(errors="surrogateescape"), digest_size=16).hexdigest()
    return cache_part("parsed") / f"{digest}.pomona"


def _fingerprint(sources: Sequence[Path]) -> list[list[Any]]:
    return [_fingerprint_of(path) for path in sources]


def _fingerprint_of(path: Path) -> list[Any]:
    """What changes when a file does; the blocks are for file systems with coarse times."""
    if not path.is_file():
        raise FileNotFoundError(path)
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        last = max(status.st_size - _BLOCK, 0)
        for i in range(_N_BLOCKS):
            file.seek(last * i // (_N_BLOCKS - 1))
            digest.update(file.read(_BLOCK))
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, digest.hexdigest()]


def _facts(data: Dataset) -> dict[str, Any]:
    categories = {str(place): names for place, names in data.categories.items()}
    return {
        "n_undefined": data.n_undefined,
        "feature_names": data.feature_names,
        "categories": categories,
        "rounding": data.rounding,
    }


def _arrays(data: Dataset) -> dict[str, NDArray[Any]]:
    order, data = data.input_order, data.gathered()
    arrays: dict[str, NDArray[Any]] = {
        "X": data.X,
        "y": data.y,
        "query_ptr": data.query_ptr,
        "qids": data.qids,
    }
    if order is not None:
        arrays["input_order"] = order
    if data.weight is not None:
        arrays["weight"] = data.weight
    for name, column in (("doc_ids", data.doc_ids), ("comments", data.comments)):
        if column is not None:
            arrays[f"{name}.buffer"], arrays[f"{name}.offsets"] = column.buffer, column.offsets
    return arrays


def _dataset(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Dataset:
    columns = {
        name: TextColumn(arrays[f"{name}.buffer"], arrays[f"{name}.offsets"])
        for name in ("doc_ids", "comments")
        if f"{name}.buffer" in arrays
    }
    n_docs, n_queries = int(arrays["query_ptr"][-1]), len(arrays["query_ptr"]) - 1
    if not (
        (len(arrays["X"]), len(arrays["y"]), len(arrays["qids"])) == (n_docs, n_docs, n_queries)
        and arrays["X"].dtype == arrays["y"].dtype == np.float32
    ):
        raise ValueError("the arrays do not belong together")
    data = Dataset.from_parts(
        arrays["X"],
        arrays["y"],
        arrays["query_ptr"],
        arrays["qids"],
        feature_names=header["feature_names"],
        input_order=arrays.get("input_order"),
        weight=arrays.get("weight"),
        n_undefined=header["n_undefined"],
        categories={int(place): tuple(names) for place, names in header["categories"].items()},
        doc_ids=columns.get("doc_ids"),
        comments=columns.get("comments"),
    )
    data.rounding = str(header["rounding"])
    return data
