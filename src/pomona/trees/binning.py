"""Bins: every feature value becomes one byte, its place among at most 255 quantile cut points.

    code(x) = number of cut points below x,  so  code(x) <= b  <=>  x <= edges[b]

A feature with few values gets a bin for each of them and cut points midway; one with many gets bins of
about equal numbers of documents, after the values that fill a bin alone have got theirs (without that, a
feature that is 0 in half of the documents would waste half of its bins). NaN has the last bin to itself,
where the training column has any, and goes with the largest values otherwise. Cut points come from a sample
of 200,000 documents.

A feature of categories has a bin for each of them. Where they are too many, the most frequent have one, and
the others go with NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, n_threads, over_chunks
from pomona._lazy import cached_property
from pomona._types import Features
from pomona.errors import InputError
from pomona.trees.codes import Codes, encode
from pomona.trees.radix import RadixSort

SAMPLE = 200_000


class Reordered(Protocol):
    """The rows of a table in another order than they lie in, without a copy of them."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n_docs, n_features)"""

    @property
    def source(self) -> Features:
        """The table as it lies."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """Of the table, in the order meant."""

    @property
    def places(self) -> NDArray[np.int64]:
        """Of the table's rows, in the order meant."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: NDArray[Any]) -> Features:
        """Rows by their numbers in the order meant."""


Rows: TypeAlias = Features | Reordered
"""Documents by features."""

_IN_PLACE: NDArray[np.int64] = np.empty(0, np.int64)
_BLOCK_OF_ROWS = 1 << 14
_MANY_ROWS = 1 << 16  # that a radix sort, which has to be compiled, is worth while for
_CACHE_LINE = 16  # features that come with one, where there are enough of them for all threads


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
            is_near = X.source.flags.writeable
            X, rows = (X.source, np.sort(X.rows[rows])) if is_near else (X[rows], np.arange(len(rows)))
        edges: list[Features] = [np.empty(0, np.float32)] * n_features
        width = min(_CACHE_LINE, -(-n_features // (2 * n_threads())))

        def cut(first_group: int, last_group: int) -> None:
            cuts = np.empty(256, np.float32)
            sort = RadixSort(len(rows)).sort if len(rows) >= _MANY_ROWS else np.ndarray.sort
            for first in range(first_group * width, min(last_group * width, n_features), width):
                columns = np.empty((min(width, n_features - first), len(rows)), np.float32)
                _gather_columns(X, rows, first, columns)
                for f, column in enumerate(columns, first):
                    sort(column)  # NaN to the end
                    known = column[: int(np.searchsorted(column, np.nan))]
                    n_cuts = _cut(known, max_bins - int(has_nan[f]), cuts)
                    edges[f] = cuts[:n_cuts].copy()

        over_chunks(cut, -(-n_features // max(width, 1)))
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

    @cached_property
    def ladder(self) -> Features:
        """(n_features, 256) cut points, then infinity: of each bin, its threshold."""
        ladder: Features = np.full((self.n_features, 256), np.inf, np.float32)
        for f, cuts in enumerate(self.edges):
            ladder[f, : len(cuts)] = cuts
        return ladder

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
        tables = (self.ladder, codes.seats, codes.block_table, codes.columns, codes.words.view(np.uint8))
        for row, block, places in _blocks(X):
            block = self._placed(block) if self.categories else block
            over_chunks(encode, len(block), block, row, places, *tables, smallest=1024)
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
    """The table as one block, or, if it is mapped from disk, blocks of its rows that the disk reads at once.

    Each with the number of its first row, or with the places of its rows.
    """
    if isinstance(X, np.ndarray):
        return iter([(0, X, _IN_PLACE)])
    if X.source.flags.writeable:
        return iter([(0, X.source, X.places)])
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


def _matrix(X: Rows) -> Rows:
    is_table = isinstance(X, np.ndarray) or not hasattr(X, "shape")
    matrix = np.ascontiguousarray(X, np.float32) if is_table else X
    if len(matrix.shape) != 2:
        raise InputError(f"found an array of {len(matrix.shape)} dimensions, expected documents by features")
    return matrix
