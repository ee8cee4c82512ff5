"""What several checks of an audit need of a part of the data: hashes of rows, queries and features, counts.

Rows are compared by 64-bit hashes of their feature values (0 and −0 are one value, and so are all NaN); in a
million rows the chance of any false match is about 10⁻⁷.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Offsets
from pomona.data.dataset import Dataset
from pomona.data.rows import read_only
from pomona.data.text import TextColumn

Hashes = NDArray[np.uint64]


_START, _FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


@kernel
def _mixed(h, code):
    h = (h ^ code) * _FACTOR
    return h ^ (h >> np.uint64(32))


@kernel
def _code(x, bits):
    """What tells a value of these bits from others."""
    if x == 0:
        return np.uint64(0)
    return np.uint64(bits) if x == x else np.uint64(0x7FC00000)


@kernel
def _hash_rows(first: int, last: int, X: Features, bits: NDArray[np.uint32], out: Hashes) -> None:
    # X, bits: (n_docs, n_features), the values and their bit patterns; out: (n_docs,)
    for i in range(first, last):
        h = _START
        for j in range(X.shape[1]):
            h = _mixed(h, _code(X[i, j], bits[i, j]))
        out[i] = h


@kernel
def _scan_features(
    first: int,
    last: int,
    X: Features,
    bits: NDArray[np.uint32],
    query_ptr: Offsets,
    out_facts: NDArray[np.int64],
    out_hash: Hashes,
) -> None:
    # out_facts: (4, n_features) for this range: NaN, infinite, rows unlike the first of all, queries with
    # two values; out_hash: (n_features,) a sum over rows, so that ranges can be added in any order
    n_features = X.shape[1]
    varies = np.zeros(n_features, np.bool_)
    for q in range(first, last):
        start = query_ptr[q]
        varies[:] = False
        for i in range(start, query_ptr[q + 1]):
            place = np.uint64(i + 1) * _START
            for j in range(n_features):
                x = X[i, j]
                out_facts[0, j] += np.isnan(x)
                out_facts[1, j] += np.isinf(x)
                if x != X[0, j] and not (x != x and X[0, j] != X[0, j]):
                    out_facts[2, j] += 1
                if x != X[start, j] and not (x != x and X[start, j] != X[start, j]):
                    varies[j] = True
                out_hash[j] += _mixed(_code(x, bits[i, j]), place) * _FACTOR
        for j in range(n_features):
            out_facts[3, j] += varies[j]


@kernel
def _hash_texts(first: int, last: int, buffer: NDArray[np.uint8], offsets: Offsets, out: Hashes) -> None:
    for i in range(first, last):
        h = _START
        for place in range(offsets[i], offsets[i + 1]):
            h = _mixed(h, np.uint64(buffer[place]))
        out[i] = h


class Scan:
    """A part of the data with the hashes and counts that several checks need."""

    def __init__(self, name: str, data: Dataset) -> None:
        self._input_order, data = data.input_order, data.gathered()
        self.name, self.data = name, data
        X = read_only(data.X)
        bits = X.view(np.uint32)
        self.row_hash: Hashes = np.empty(data.n_docs, np.uint64)
        over_chunks(_hash_rows, data.n_docs, X, bits, self.row_hash, smallest=1024)
        self.starts, self.lengths = data.query_ptr[:-1], np.diff(data.query_ptr)
        self.query_of_row = np.repeat(np.arange(data.n_queries), self.lengths)
        self.facts, self.feature_hash = _feature_scan(X, bits, read_only(data.query_ptr))
        # Of the documents that are judged; NaN where none is.
        self.lowest = np.fmin.reduceat(data.y, self.starts)
        self.highest = np.fmax.reduceat(data.y, self.starts)
        # One number a query for its rows in any order; rows that are all equal tell queries apart badly.
        mixed = (self.row_hash ^ (self.row_hash >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        self.query_hash: Hashes = np.add.reduceat(mixed, self.starts)
        self.is_telling = np.minimum.reduceat(self.row_hash, self.starts) != np.maximum.reduceat(
            self.row_hash, self.starts
        )

    def row(self, index: int) -> int:
        """The number, from 1, that the row had in the input."""
        return int(index if self._input_order is None else self._input_order[index]) + 1

    def query(self, q: int) -> str:
        """The id of query `q`, as text."""
        return str(self.data.qids[q])


def _feature_scan(
    X: Features, bits: NDArray[np.uint32], query_ptr: Offsets
) -> tuple[NDArray[np.int64], Hashes]:
    """NaN, infinities, rows unlike the first, queries with two values, and a hash, of every feature."""

    def scan(first: int, last: int) -> tuple[NDArray[np.int64], Hashes]:
        facts = np.zeros((4, X.shape[1]), np.int64)
        hashes = np.zeros(X.shape[1], np.uint64)
        _scan_features(first, last, X, bits, query_ptr, facts, hashes)
        return facts, hashes

    ranges = over_chunks(scan, len(query_ptr) - 1, smallest=16)
    facts, hashes = zip(*ranges, strict=True)
    return np.sum(facts, axis=0), np.sum(hashes, axis=0, dtype=np.uint64)


def text_hashes(texts: TextColumn) -> Hashes:
    """A hash of each text."""
    hashes: Hashes = np.empty(len(texts), np.uint64)
    over_chunks(
        _hash_texts, len(texts), read_only(texts.buffer), read_only(texts.offsets), hashes, smallest=4096
    )
    return hashes


def duplicates(hashes: Hashes, groups: Offsets | None = None) -> tuple[Offsets, Offsets]:
    """Places (first, later) of equal hashes, within a group where groups are given, in the later's order."""
    if not hashes.size:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    keys = hashes if groups is None else hashes + groups.astype(np.uint64) * _START
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    first_of_run = np.repeat(order[starts], np.diff(np.append(starts, len(keys))))
    first = np.empty(len(keys), np.int64)
    first[order] = first_of_run
    later = np.flatnonzero(first != np.arange(len(keys)))
    return first[later], later
