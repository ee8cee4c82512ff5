"""Writing the LETOR text format, in threads, so that `read_letor` reads back the same arrays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import n_threads, over_chunks
from pomona.data import _letor_kernels as kernels
from pomona.data.categories import refuse_categories
from pomona.data.compression import open_to_write
from pomona.data.dataset import Dataset
from pomona.data.rows import read_only
from pomona.data.text import TextColumn
from pomona.errors import InputError

_BYTES_A_PIECE = 1 << 20


def write_letor(data: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a file that `read_letor` reads back to the same arrays, compressed as the suffix says.

    Lines stand in the order in which the documents came. Every number has the shortest text that reads back
    as the same float32. The label of a document that is not judged is nan. Comments are written as they were
    read, or else `#docid = …` from the document ids. String query ids that all look like integers come back
    as integers. The names of features are not written: `pm.convert` puts them beside the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_letor(Dataset([[0.1, 3], [np.nan, -1e-7]], [1, 0], ["a", "b"]), Path(folder, "a.txt"))
    ...     print(Path(folder, "a.txt").read_text(), end="")
    1 qid:a 1:0.1 2:3
    0 qid:b 1:nan 2:-1e-7
    """
    if not isinstance(data, Dataset):
        raise InputError(f"write_letor(data, path) expects a Dataset first, found {type(data).__name__}")
    refuse_categories(data, "LETOR's format")
    order, data = data.input_order, data.gathered()
    if np.isinf(data.y).any():
        raise InputError("cannot be written: a label is not finite", path)
    if data.weight is not None:
        raise InputError("LETOR text has no place for weights: pm.convert writes them for LightGBM", path)
    queries = TextColumn.of(str(query) for query in data.qids.tolist())
    lengths = np.diff(queries.offsets)
    if not ((lengths > 0) & (lengths <= kernels.LONGEST_QUERY_ID)).all():
        raise InputError(f"a query id is empty or longer than {kernels.LONGEST_QUERY_ID} bytes", path)
    _refuse_bytes(queries, bytes(range(33)) + b"#", "query id", path)
    texts, prefix = TextColumn(np.empty(0, np.uint8), np.empty(0, np.int64)), b""
    if data.comments is not None:
        texts = data.comments
        _refuse_bytes(texts, b"\n", "comment", path)
    elif data.doc_ids is not None:
        texts, prefix = data.doc_ids, b"docid = "
        _refuse_bytes(texts, b" \t\r\n", "document id", path)
    arrays: tuple[NDArray[Any], ...] = (
        np.empty(0, np.int64) if order is None else np.argsort(order),
        data.X,
        data.y,
        np.repeat(np.arange(data.n_queries), np.diff(data.query_ptr)),
        queries.buffer,
        queries.offsets,
        np.frombuffer(prefix, np.uint8),
        texts.buffer,
        texts.offsets,
    )
    arguments = [read_only(np.ascontiguousarray(array)) for array in arrays]
    a_piece = max(1, _BYTES_A_PIECE // (12 * data.n_features + 64))
    a_round = a_piece * n_threads() * 8
    with open_to_write(Path(path)) as stream:
        for start in range(0, data.n_docs, a_round):
            n_lines = min(a_round, data.n_docs - start)
            for part in over_chunks(_format_lines, n_lines, start, *arguments, smallest=a_piece):
                stream.write(part.data)


def _format_lines(first: int, last: int, start: int, *arguments: NDArray[Any]) -> NDArray[np.uint8]:
    return kernels.format_lines(start + first, start + last, *arguments)


def _refuse_bytes(texts: TextColumn, unwanted: bytes, what: str, path: object) -> None:
    """Refuse texts with bytes that would end them early when the file is read."""
    used = texts.buffer[texts.offsets[0] : texts.offsets[-1]]
    wrong = np.flatnonzero(np.isin(used, np.frombuffer(unwanted, np.uint8)))
    if wrong.size:
        row = int(np.searchsorted(texts.offsets, wrong[0] + texts.offsets[0], side="right")) - 1
        raise InputError(
            f"{what} {texts[row]!r} cannot be written: it holds {bytes(used[wrong[:1]])!r}", path
        )
