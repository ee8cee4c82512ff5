"""Bins: every feature value becomes one byte, its place among at most 255 quantile cut points.

    code(x) = number of cut points below x,  so  code(x) <= b  <=>  x <= edges[b]

A feature with few values gets a bin for each of them and cut points midway; one with many gets bins of
about equal numbers of documents, after the values that fill a bin alone have got theirs (without that, a
feature that is 0 in half of the documents would waste half of its bins). NaN has the last bin to itself,
where the training column has any, and goes with the largest values otherwise. Cut points come from a sample
of 200,000 documents.

A feature of categories has a bin for each of them. Where they are too many, the most frequent have one, and
the others go with NaN.

Features of few values share a byte, 2 × 2 × 9 × 7 values say: its histogram is one of the values together,
which costs one addition a document, and sums over it are the histograms of each. Constant features have none.

Bytes are stored in blocks of up to 64, row after row inside a block: a row is one cache line, eight bytes
come with one load, and the histogram of a block stays in the cache while the rows stream by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._scratch import large_zeros
from pomona._types import Features
from pomona.errors import InputError

SAMPLE = 200_000
BLOCK_WIDTH = 64
"""Bytes of a row in a block, a cache line: 0.51 ns an update on all rows and 0.57 on a tenth of them, where
rows of 32 bytes took 0.61, and 0.76 when they were not aligned to cache lines."""

BLOCK = np.dtype(
    [
        ("word", np.int64),
        ("stride", np.int64),
        ("n_words", np.int64),
        ("first_byte", np.int32),
        ("last_byte", np.int32),
    ],
    align=True,
)
"""Where a block's rows are: document i's are the `n_words` 64-bit words from `word + i * stride` on."""

BYTE = np.dtype([("first_seat", np.int32), ("last_seat", np.int32), ("n_codes", np.int32)])
"""A byte of every row: the seats of its features, and how many values it can take."""

SEAT = np.dtype([("feature", np.int32), ("byte", np.int32), ("radix", np.int32), ("n_bins", np.int32)])
"""A feature's share of a byte, `code · radix`: a product of the bins of those before it."""


class Reordered(Protocol):
    """The rows of a table in another order than they lie in: it is too large for a copy in memory."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n_docs, n_features)"""

    @property
    def source(self) -> Features:
        """The table as it lies."""

    @property
    def places(self) -> NDArray[np.int64]:
        """Of its rows, in the order meant."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: NDArray[Any]) -> Features:
        """Rows by their numbers in the order meant."""


Rows: TypeAlias = Features | Reordered
"""Documents by features."""

_IN_PLACE: NDArray[np.int64] = np.empty(0, np.int64)
_BLOCK_OF_ROWS = 1 << 14
_TILE = 64  # rows whose codes are found together: their features are read once from memory


@kernel
def _gather_columns(X, rows, first_feature, out):
    """out (some features, n_rows): neighbours are gathered together, as they come in one cache line."""
    for i in range(rows.size):
        row = X[rows[i]]
        for j in range(out.shape[0]):
            out[j, i] = row[first_feature + j]


@kernel
def _find_nan(first, last, X):
    """Which features have a NaN in some rows."""
    has_nan = np.empty(X.shape[1], np.bool_)
    for f in range(has_nan.size):
        has_nan[f] = False
    for i in range(first, last):
        row = X[i]
        for f in range(row.size):
            has_nan[f] |= row[f] != row[f]
    return has_nan


@kernel
def _cut(ordered, max_bins, out):
    """Cut points of ascending values without NaN; returns how many there are, less than `max_bins`."""
    n = ordered.size
    n_distinct, n_heavy, n_in_heavy = 0, 0, 0
    begin = 0
    while begin < n:
        end = begin + 1
        while end < n and ordered[end] == ordered[begin]:
            end += 1
        n_distinct += 1
        if (end - begin) * max_bins >= n:
            n_heavy += 1
            n_in_heavy += end - begin
        begin = end
    exact = n_distinct <= max_bins
    bins_left, light_left = max_bins - n_heavy, n - n_in_heavy
    n_cuts, filled = 0, 0
    begin = 0
    while begin < n:
        end = begin + 1
        while end < n and ordered[end] == ordered[begin]:
            end += 1
        heavy = (end - begin) * max_bins >= n
        next_heavy = False
        if end < n:
            after = end + (n + max_bins - 1) // max_bins - 1
            next_heavy = after < n and ordered[after] == ordered[end]
        if not heavy:
            filled += end - begin
        # A bin of light values ends when it is full, and before and after a heavy value.
        full = filled * max(bins_left, 1) >= light_left
        if end < n and n_cuts < max_bins - 1 and (exact or heavy or next_heavy or full):
            lower, upper = ordered[end - 1], ordered[end]
            middle = np.float32((np.float64(lower) + np.float64(upper)) / 2)
            # Rounding may reach the upper value, and there is no middle between a number and infinity.
            out[n_cuts] = middle if lower <= middle < upper and np.isfinite(middle) else lower
            n_cuts += 1
            if filled > 0:
                light_left -= filled
                bins_left -= 1
                filled = 0
        begin = end
    return n_cuts


@kernel
def _encode(first, last, X, row, places, ladder, seats, blocks, out_columns, out_blocks):
    """X has the documents from `row` on, or those that belong to `places`, unless that is empty.

    ladder (n_features, 256) cut points, +inf behind the last · out_columns (n_features, n_docs).
    """
    at = np.empty(_TILE, np.uint64)
    for top in range(first, last, _TILE):
        n = min(_TILE, last - top)
        for k in range(n):
            at[k] = places[top + k] if places.size else row + top + k
        for s in range(seats.size):
            seat = seats[s]
            f, last_code, radix = seat["feature"], seat["n_bins"] - 1, np.uint8(seat["radix"])
            cuts, block = ladder[f], blocks[seat["byte"] // BLOCK_WIDTH]
            start = np.uint64(block["word"] * 8 + seat["byte"] % BLOCK_WIDTH)
            stride = np.uint64(block["stride"] * 8)
            for k in range(n):
                x = X[top + k, f]
                # A search without branches: the processor overlaps those of neighbouring documents.
                code = np.uint64(0)
                for step in (128, 64, 32, 16, 8, 4, 2, 1):
                    code += np.uint64(step) * np.uint64(cuts[code + np.uint64(step - 1)] < x)
                stored = np.uint8(last_code if x != x else code)
                out_columns[f, at[k]] = stored
                out_blocks[start + at[k] * stride] += stored * radix


@dataclass(frozen=True)
class Codes:
    """The bins of documents, one byte each: by feature to divide nodes, in blocks to add up histograms.

    Both, because dividing a node reads one feature: from a column, which stays in the cache, that is several
    times faster than from rows that lie 32 bytes apart.
    """

    columns: NDArray[np.uint8]
    """(n_features, n_docs)"""
    words: NDArray[np.uint64]
    """All blocks end to end, eight codes to a word."""
    block_table: NDArray[np.void]
    """(n_blocks,) BLOCK"""
    byte_table: NDArray[np.void]
    """(n_bytes,) BYTE"""
    seats: NDArray[np.void]
    """(features that are not constant,) SEAT, byte after byte"""

    @classmethod
    def zeros(cls, n_docs: int, n_bins: NDArray[np.int32]) -> Codes:
        """Zero codes for so many documents: the padding behind the last bytes stays zero."""
        byte_table, seats = _seated(n_bins)
        n_bytes = len(byte_table)
        table = np.zeros(-(-n_bytes // BLOCK_WIDTH), BLOCK)
        table["first_byte"] = np.arange(len(table)) * BLOCK_WIDTH
        table["last_byte"] = np.minimum(table["first_byte"] + BLOCK_WIDTH, n_bytes)
        table["n_words"] = -(-(table["last_byte"] - table["first_byte"]) // 8)
        # A power of two: no row lies across two cache lines.
        table["stride"] = [1 << (int(n) - 1).bit_length() for n in table["n_words"]]
        # Behind a block, up to the next cache line.
        sizes = -(-table["stride"] * n_docs // 8) * 8
        table["word"] = np.cumsum(sizes) - sizes
        n_words = int(sizes.sum()) + 8
        both = 8 * n_words + len(n_bins) * n_docs
        room = large_zeros(n_words, np.uint64, both)
        aligned = room[-room.ctypes.data % 64 // 8 :][: len(room) - 8]
        return cls(large_zeros((len(n_bins), n_docs), np.uint8, both), aligned, table, byte_table, seats)

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return len(self.columns[0]) if len(self.columns) else 0

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.columns)

    @property
    def blocks(self) -> list[NDArray[np.uint8]]:
        """The bytes as one (n_docs, width) array a block."""
        n = self.n_docs
        parts = [(int(block["word"]), int(block["stride"])) for block in self.block_table]
        return [self.words[at : at + n * w].view(np.uint8).reshape(n, w * 8) for at, w in parts]


@dataclass(frozen=True)
class Bins:
    """The cut points of every feature: `edges[f]` ascending, `n_bins[f]` with the bin of NaN, if any."""

    edges: tuple[Features, ...]
    has_nan: NDArray[np.bool_]
    categories: Mapping[int, Features] = field(default_factory=dict)
    """By feature, the categories of its bins, ascending; of none other than features of categories."""

    @classmethod
    def of(
        cls,
        X: Rows,
        max_bins: int = 255,
        seed: int = 0,
        *,
        has_nan: NDArray[np.bool_] | None = None,
        categorical: Sequence[int] = (),
    ) -> Bins:
        """Learn cut points from (a sample of) training documents.

        has_nan : which features have a NaN, where X is itself a sample of more documents.
        categorical : which features are categories, whole numbers.

        >>> Bins.of(np.array([[0.0], [1.0], [4.0], [1.0]], np.float32)).edges[0]
        array([0.5, 2.5], dtype=float32)
        """
        if not 2 <= max_bins <= 256:
            raise InputError(f"max_bins must be from 2 to 256, as a code is one byte; found {max_bins}")
        X = _matrix(X)
        n_docs, n_features = X.shape
        if n_docs == 0:
            raise InputError("found no documents to learn bins from")
        rows = sampled_rows(n_docs, seed)
        # Looked for in all rows: the sample may miss rare NaN, which still need their bin.
        has_nan = find_nan(X) if has_nan is None else has_nan
        whole = {f: np.concatenate([block[:, f] for _, block, _ in _blocks(X)]) for f in categorical}
        if not isinstance(X, np.ndarray):
            X, rows = X[rows], np.arange(len(rows))
        edges: list[Features] = [np.empty(0, np.float32)] * n_features

        def cut(first_group: int, last_group: int) -> None:
            cuts = np.empty(256, np.float32)
            for first in range(first_group * 16, min(last_group * 16, n_features), 16):
                columns = np.empty((min(16, n_features - first), len(rows)), np.float32)
                _gather_columns(X, rows, first, columns)
                for f, column in enumerate(columns, first):
                    column.sort()  # NaN to the end
                    known = column[: int(np.searchsorted(column, np.nan))]
                    n_cuts = _cut(known, max_bins - int(has_nan[f]), cuts)
                    edges[f] = cuts[:n_cuts].copy()

        over_chunks(cut, -(-n_features // 16))
        categories = {f: _categories(column, max_bins - 1) for f, column in whole.items()}
        for f, known in categories.items():
            edges[f] = np.arange(len(known) - 1, dtype=np.float32) + np.float32(0.5)  # of their places
            has_nan[f] = not np.isin(whole[f], known).all()
        return cls(tuple(edges), has_nan, categories)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.edges)

    @property
    def n_bins(self) -> NDArray[np.int32]:
        """Number of codes of every feature; 1 means that it is constant."""
        counts = [len(cuts) + 1 for cuts in self.edges]
        return np.array(counts, np.int32) + self.has_nan.astype(np.int32)

    def codes(self, X: Rows) -> Codes:
        """The code of every value of X.

        >>> bins = Bins.of(np.array([[0.0], [1.0], [np.nan]], np.float32))
        >>> bins.codes(np.array([[-7.0], [0.5], [0.6], [np.nan]], np.float32)).columns[0]
        array([0, 0, 1, 2], dtype=uint8)
        """
        X = _matrix(X)
        if X.shape[1] != self.n_features:
            raise InputError(f"found {X.shape[1]} features, expected {self.n_features} as in training")
        codes = Codes.zeros(len(X), self.n_bins)
        ladder = np.full((self.n_features, 256), np.inf, np.float32)
        for f, cuts in enumerate(self.edges):
            ladder[f, : len(cuts)] = cuts
        tables = (ladder, codes.seats, codes.block_table, codes.columns, codes.words.view(np.uint8))
        for row, block, places in _blocks(X):
            block = self._placed(block) if self.categories else block
            over_chunks(_encode, len(block), block, row, places, *tables, smallest=1024)
        return codes

    def _placed(self, X: Features) -> Features:
        """X with the place of each category among those of its feature, NaN for those that have no bin."""
        X = X.copy()
        for f, known in self.categories.items():
            place = np.minimum(np.searchsorted(known, X[:, f]), max(len(known) - 1, 0))
            is_known = known[place] == X[:, f] if len(known) else np.zeros(len(X), bool)
            X[:, f] = np.where(is_known, place, np.nan)
        return X

    def threshold(self, feature: int, bin_: int) -> np.float32:
        """The value t such that code <= bin_ if and only if x <= t (NaN apart).

        The last bin before that of NaN holds every larger number: its threshold is infinity.
        """
        cuts = self.edges[feature]
        return cuts[bin_] if bin_ < len(cuts) else np.float32(np.inf)


def sampled_rows(n_docs: int, seed: int) -> NDArray[np.int64]:
    """The documents that cut points are learnt from, ascending."""
    if n_docs <= SAMPLE:
        return np.arange(n_docs)
    return np.sort(np.random.default_rng(seed).choice(n_docs, SAMPLE, replace=False))


def find_nan(X: Rows) -> NDArray[np.bool_]:
    """Which features have a NaN in some row."""
    has_nan: NDArray[np.bool_] = np.zeros(X.shape[1], bool)
    for _, block, _ in _blocks(X):
        parts = over_chunks(_find_nan, len(block), block, smallest=4096)
        has_nan = np.logical_or.reduce([has_nan, *parts])
    return has_nan


def _blocks(X: Rows) -> Iterator[tuple[int, Features, NDArray[np.int64]]]:
    """The table as one block, or the rows of one as they lie, in blocks that the disk reads at once.

    Each with the number of its first row, or with the places of its rows.
    """
    if isinstance(X, np.ndarray):
        return iter([(0, X, _IN_PLACE)])
    starts = range(0, len(X), _BLOCK_OF_ROWS)
    parts = ((first, slice(first, first + _BLOCK_OF_ROWS)) for first in starts)
    # Copies: kernels are compiled anew for arrays that cannot be written to, as mapped ones are.
    return ((first, X.source[some].copy(), X.places[some]) for first, some in parts)


def _categories(column: Features, most: int) -> Features:
    """The most frequent values, of equally frequent ones the lowest, ascending.

    >>> _categories(np.array([7, 3, 7, np.nan, 5, 3, 7], np.float32), 2)
    array([3., 7.], dtype=float32)
    """
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    return np.sort(values[np.argsort(-counts, kind="stable")[:most]])


def _seated(n_bins: NDArray[np.int32]) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """Bytes and seats of features with so many bins: each goes to the first byte that still has room for it.

    >>> byte_table, seats = _seated(np.array([2, 255, 1, 9, 31], np.int32))
    >>> byte_table["n_codes"].tolist(), seats["feature"].tolist(), seats["radix"].tolist()
    ([255, 62, 9], [1, 4, 0, 3], [1, 1, 31, 1])
    """
    sizes: list[int] = []
    members: list[list[int]] = []
    for feature in np.argsort(-n_bins, kind="stable").tolist():
        n = int(n_bins[feature])
        if n > 1:
            byte = next((b for b, size in enumerate(sizes) if size * n <= 256), len(sizes))
            if byte == len(sizes):
                sizes.append(1)
                members.append([])
            sizes[byte] *= n
            members[byte].append(feature)
    byte_table = np.zeros(len(sizes), BYTE)
    byte_table["n_codes"] = sizes
    byte_table["last_seat"] = np.cumsum([len(seated) for seated in members])
    byte_table["first_seat"][1:] = byte_table["last_seat"][:-1]
    seats = np.zeros(sum(len(seated) for seated in members), SEAT)
    seats["feature"] = [feature for seated in members for feature in seated]
    seats["byte"] = np.repeat(np.arange(len(members)), [len(seated) for seated in members])
    seats["n_bins"] = n_bins[seats["feature"]]
    for row in byte_table:
        radix = np.cumprod(seats["n_bins"][row["first_seat"] : row["last_seat"]])
        seats["radix"][row["first_seat"] : row["last_seat"]] = np.concatenate(([1], radix[:-1]))
    return byte_table, seats


def _matrix(X: Rows) -> Rows:
    is_table = isinstance(X, np.ndarray) or not hasattr(X, "shape")
    matrix = np.ascontiguousarray(X, np.float32) if is_table else X
    if len(matrix.shape) != 2:
        raise InputError(f"found an array of {len(matrix.shape)} dimensions, expected documents by features")
    return matrix
