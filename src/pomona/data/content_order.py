"""An order of documents that only their content decides, so that a shuffled file teaches the same.

    document:  h = mix(label) + Σ mix(two features, their place)
    query:     Σ mix(h) over its documents

Queries are put in the order of their sums, documents of a query in that of their hashes; neither ids nor the
places of rows take part. A published file often has the relevant documents of a query first: in this order
nothing tells of labels, so whatever breaks ties by place is fair. Documents that share a hash are alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._splitmix import mix, word_of
from pomona._types import Labels, Offsets, Values
from pomona.data.dataset import Dataset
from pomona.data.rows import read_only
from pomona.data.text import offsets


@kernel
def _hash_rows(first, last, bits, out):
    """bits (n_rows, n_values) of float32 · out (n_rows,): hashes, to which those of the values are added."""
    n_pairs = bits.shape[1] // 2
    for i in range(first, last):
        row = bits[i]
        total = np.uint64(0)
        for j in range(n_pairs):
            pair = np.uint64(row[2 * j]) << np.uint64(32) | np.uint64(row[2 * j + 1])
            total += word_of(pair, np.uint64(j))
        if row.size % 2 == 1:
            total += word_of(np.uint64(row[row.size - 1]), np.uint64(n_pairs))
        out[i] += total


def in_content_order(data: Dataset, weights: Values | None = None) -> Dataset:
    """The same documents in the order of their content, without a copy if they are in it already.

    Features stay where they are until somebody looks at all of them: forests do not.

    weights : of the documents, in the order of `data.gathered()`. They only tell documents apart that are
        alike else: the order is the same with weights of 1 and without any. Labels of documents of weight 0,
        among others of their query that count, have no part but this, either: losses do not know of them.

    >>> one = in_content_order(Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], ["a", "b", "a"]))
    >>> other = in_content_order(Dataset([[3.0], [1.0], [2.0]], [2, 0, 1], ["x", "x", "y"]))
    >>> one.gathered().X.tolist() == other.gathered().X.tolist(), one.y.tolist()
    (True, [0.0, 1.0, 2.0])
    """
    came, data = data, data.gathered()
    keys = _document_keys(data, weights)
    queries = np.lexsort(_query_keys(keys, data))
    query_ptr = offsets(np.diff(data.query_ptr)[queries])
    rows = _sorted_rows(keys, data.query_ptr[queries], query_ptr)
    if (rows[1:] > rows[:-1]).all():
        return came
    ordered = data.take_rows(rows, query_ptr, data.qids[queries], lazy=True)
    for name in ("y", "query_ptr", "qids"):  # what was lent to read only stays so
        getattr(ordered, name).flags.writeable = getattr(data, name).flags.writeable
    ordered.index = came.index
    ordered.input_order = rows if came.input_order is None else came.input_order[rows]
    return ordered


def _sorted_rows(keys: list[NDArray[np.uint64]], begins: Offsets, query_ptr: Offsets) -> Offsets:
    """Rows of queries that begin there and are to lie so, the rows of each by their keys, the last first."""
    lengths = np.diff(query_ptr)
    rows: Offsets = np.repeat(begins - query_ptr[:-1], lengths) + np.arange(query_ptr[-1])

    def sort(first: int, last: int) -> None:
        some = rows[query_ptr[first] : query_ptr[last]]
        queries = np.repeat(np.arange(first, last), lengths[first:last])
        some[:] = some[np.lexsort([*(key[some] for key in keys), queries])]

    over_chunks(sort, len(lengths), smallest=64)
    return rows


def query_keys(data: Dataset, weights: Values | None = None) -> NDArray[np.uint64]:
    """(any, n_queries) What decides the order of queries, the last row first; also of queries elsewhere."""
    return _query_keys(_document_keys(data, weights), data)


def content_keys(data: Dataset) -> NDArray[np.uint64]:
    """One a document, of its features and its label; documents that share one are alike."""
    return _hashes(data)


def _query_keys(document_keys: list[NDArray[np.uint64]], data: Dataset) -> NDArray[np.uint64]:
    return np.stack([np.add.reduceat(mix(key), data.query_ptr[:-1]) for key in document_keys])


def _document_keys(data: Dataset, weights: Values | None) -> list[NDArray[np.uint64]]:
    if weights is None:
        return [_hashes(data)]
    counts = np.repeat(np.maximum.reduceat(weights, data.query_ptr[:-1]), data.query_lengths) > 0
    known = np.where((weights == 0) & counts, np.float32(0), data.y)
    hashes = _hashes(data, known)
    own = mix(weights.view(np.uint64)) + (mix(data.y.view(np.uint32).astype(np.uint64)) * (known != data.y))
    return [mix(hashes + own), hashes]


def _hashes(data: Dataset, labels: Labels | None = None) -> NDArray[np.uint64]:
    """One a document, of its features and its label."""
    hashes = mix((data.y if labels is None else labels).view(np.uint32).astype(np.uint64))
    bits = read_only(np.ascontiguousarray(data.X, np.float32).view(np.uint32))
    over_chunks(_hash_rows, data.n_docs, bits, hashes, smallest=4096)
    return hashes
