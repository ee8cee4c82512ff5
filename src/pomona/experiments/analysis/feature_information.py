"""What each feature tells of the labels: bits over all documents, and order inside queries.

Documents are put into bins by the cuts `unique{x_(⌈jN/B⌉) : j = 1 … B − 1}`, order statistics of the N
defined values; the bin is the number of cuts below the value, and undefined values are a bin of their own.
P(b) is the share of documents in bin b:

    IG                      = H(label) − Σ_b P(b) H(label | b)                      in bits
    IG corrected            = IG − (bins − 1)(labels − 1) / (2 N ln 2)              Miller & Madow
    gain ratio              = IG / H(bin)
    symmetric uncertainty   = 2 IG / (H(label) + H(bin))

Inside queries (Vargha & Delaney 2000): the chance that of two documents of one query with different labels
the better has the higher value, equal values counting half, as does a pair with an undefined value:

    A_q = ½ + (pairs in order − pairs out of order) / (2 · pairs of different labels),   A = mean over q

0.5 is useless, and below it the feature should be reversed. IG also sees what tells *queries* apart, which
ranks nothing; A does not. Documents that were not judged (their label is NaN) tell nothing of labels, and are
left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Codes, Features, Values
from pomona.data.dataset import Dataset
from pomona.data.rows import read_only
from pomona.data.text import offsets

_BATCH = 8
"""Features whose columns are held at a time, for each thread."""


@kernel
def _count_seen(seen, code):
    """How many of the documents seen so far have a code below this one (Fenwick 1994)."""
    count = 0
    while code > 0:
        count += seen[code]
        code -= code & -code
    return count


@kernel
def _order_in_queries(column, codes, query_ptr, n_pairs):
    """(sum of A over queries with pairs, in how many queries the feature is constant).

    column (n_docs,) · codes (n_docs,) labels as their rank in the query, from 0 · n_pairs (n_queries,).
    """
    longest = 0
    for q in range(n_pairs.size):
        longest = max(longest, query_ptr[q + 1] - query_ptr[q])
    seen = np.zeros(longest + 2, np.int64)
    total, n_constant = 0.0, 0
    for q in range(n_pairs.size):
        begin, end = query_ptr[q], query_ptr[q + 1]
        values, labels = column[begin:end], codes[begin:end]
        order = np.argsort(values)  # undefined values come last
        n = end - begin
        while n > 0 and np.isnan(values[order[n - 1]]):
            n -= 1
        if n == 0 or (n == end - begin and values[order[0]] == values[order[n - 1]]):
            n_constant += 1
        if n_pairs[q] == 0:
            continue
        seen[: end - begin + 2] = 0
        surplus, a = 0, 0
        while a < n:
            b = a
            while b < n and values[order[b]] == values[order[a]]:
                code = labels[order[b]]
                surplus += _count_seen(seen, code) - (a - _count_seen(seen, code + 1))
                b += 1
            for i in range(a, b):
                place = labels[order[i]] + 1
                while place <= end - begin:
                    seen[place] += 1
                    place += place & -place
            a = b
        total += 0.5 + 0.5 * surplus / n_pairs[q]
    return total, n_constant


@kernel
def _count_bins(column, codes, cuts, out):
    """out (bins + 1, labels): documents of each label in each bin, the last bin for undefined values."""
    for i in range(column.size):
        low, high = 0, cuts.size
        if np.isnan(column[i]):
            low = out.shape[0] - 1
        else:
            while low < high:
                middle = (low + high) // 2
                if cuts[middle] < column[i]:
                    low = middle + 1
                else:
                    high = middle
        out[low, codes[i]] += 1


def feature_information(
    data: Dataset, bins: int = 20, watch: Callable[[int], Any] = lambda n_done: None
) -> pl.DataFrame:
    """One row a feature: its facts, what it tells of the labels, and A; `watch` hears how many are done.

    >>> data = Dataset([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0]], [0, 0, 1, 1], [1, 1, 1, 1])
    >>> feature_information(data).select("feature", "information_gain", "a").rows()
    [('f1', 1.0, 1.0), ('f2', 0.0, 0.5)]
    """
    data = _judged(data)
    codes, n_pairs = _codes_in_queries(data)
    labels = np.unique(data.y, return_inverse=True)[1].astype(np.int32)
    rows: list[dict[str, Any]] = [{}] * data.n_features

    def examine(first: int, last: int, columns: Features, start: int) -> None:
        for j in range(first, last):
            column = read_only(columns[j])
            total, n_constant = _order_in_queries(column, codes, data.query_ptr, n_pairs)
            values = np.sort(column)
            n_defined = int(np.searchsorted(values, np.nan))
            table = _table(column, labels, values[:n_defined], bins)
            rows[start + j] = {
                "number": start + j + 1,
                "feature": data.feature_names[start + j],
                "distinct": _n_distinct(values[:n_defined]),
                "undefined": (data.n_docs - n_defined) / data.n_docs,
                "constant": n_constant / data.n_queries,
                **information(table),
                "a": total / counted if (counted := int((n_pairs > 0).sum())) else None,
            }

    for start in range(0, data.n_features, 2 * _BATCH):
        columns = np.ascontiguousarray(data.X[:, start : start + 2 * _BATCH].T)
        over_chunks(examine, len(columns), columns, start)
        watch(start + len(columns))
    return pl.DataFrame(rows, schema_overrides={"a": pl.Float64})


def information(counts: NDArray[np.int64]) -> dict[str, float]:
    """What bins tell of labels: counts (bins, labels) of documents.

    >>> information(np.array([[5, 0], [0, 5]]))["information_gain"]
    1.0
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    n, in_bin = counts.sum(), counts.sum(axis=1)
    of_label, of_bin = entropy(counts.sum(axis=0)), entropy(in_bin)
    gain = max(
        0.0, of_label - float(sum(m / n * entropy(row) for m, row in zip(in_bin, counts, strict=True)))
    )
    freedom = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return {
        "information_gain": gain,
        "corrected_gain": gain - freedom / (2 * int(n) * np.log(2)),
        "gain_ratio": gain / of_bin if of_bin > 0 else 0.0,
        "symmetric_uncertainty": 2 * gain / (of_label + of_bin) if of_label + of_bin > 0 else 0.0,
    }


def entropy(counts: NDArray[Any]) -> float:
    """In bits.

    >>> entropy(np.array([3, 3, 0]))
    1.0
    """
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def label_entropy(data: Dataset) -> float:
    """H(label), what no feature can tell more than."""
    return entropy(np.unique(_judged(data).y, return_counts=True)[1])


def n_queries_with_pairs(data: Dataset) -> int:
    """How many queries A is the mean of: those with two different labels."""
    return int((_codes_in_queries(_judged(data))[1] > 0).sum())


def _judged(data: Dataset) -> Dataset:
    """The documents that were judged, query by query."""
    data = data.gathered()
    is_judged = ~np.isnan(data.y)
    if is_judged.all():
        return data
    n_judged = np.add.reduceat(is_judged, data.query_ptr[:-1], dtype=np.int64)
    has_some = n_judged > 0
    return data.take_rows(np.flatnonzero(is_judged), offsets(n_judged[has_some]), data.qids[has_some])


def _table(column: Features, labels: Codes, values: Features, bins: int) -> NDArray[np.int64]:
    """(bins + 1, labels) documents; `values` are the defined ones in ascending order."""
    places = -(-np.arange(1, bins) * len(values) // bins) - 1
    cuts = np.unique(values[places]) if len(values) else values
    counts = np.zeros((len(cuts) + 2, int(labels.max()) + 1), np.int64)
    _count_bins(column, labels, cuts, counts)
    return counts


def _n_distinct(values: Features) -> int:
    return int((values[1:] != values[:-1]).sum()) + 1 if len(values) else 0


def _codes_in_queries(data: Dataset) -> tuple[Codes, Values]:
    """(label of each document as its rank in the query, pairs of different labels of each query)."""
    codes, n_pairs = np.empty(data.n_docs, np.int32), np.empty(data.n_queries)
    _rank_labels(data.y, data.query_ptr, codes, n_pairs)
    return codes, n_pairs


@kernel
def _rank_labels(labels, query_ptr, out_codes, out_pairs):
    for q in range(out_pairs.size):
        begin, end = query_ptr[q], query_ptr[q + 1]
        order = begin + np.argsort(labels[begin:end])
        code, same, pairs = 0, 0, 0
        for i in range(order.size):
            if i > 0 and labels[order[i]] != labels[order[i - 1]]:
                code, same = code + 1, 0
            out_codes[order[i]] = code
            pairs += i - same
            same += 1
        out_pairs[q] = pairs
