"""Ranked lists: the labels of every query in the order of the scores, ready for any measure.

Sorting is the expensive part of judging, so it is done once here and shared by all measures. A label is
kept as its index among the sorted distinct labels (its *code*): a measure turns the few distinct
labels into gains or probabilities in plain NumPy, and its kernel looks them up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._jit import kernel, over_chunks
from pomona._lazy import cached_property
from pomona._types import Codes, Offsets, Values
from pomona.errors import InputError, UnknownNameError

_COUNTED_LEVELS = 256
"""Labels of more values than this, which few collections have, are sorted by NumPy."""

TIE_RULES = {
    "stable": "tied documents keep their input order",
    "docid": "tied documents stand in descending byte order of their ids, as in trec_eval",
    "expected": "the mean over all orders of the tied documents",
    "worst": "the least relevant of the tied documents comes first",
    "best": "the most relevant of the tied documents comes first",
}


@kernel
def longest_query(first, last, query_ptr):
    """How many documents the longest of queries [first, last) has."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, query_ptr[q + 1] - query_ptr[q])
    return longest


@kernel
def _rank(first, last, scores, query_ptr, start, codes, out_codes, out_order, out_tied):
    """Stable merge sort of each query by descending score, from the order `start`.

    scores (n_docs,) · start (n_docs,) rows, or empty for input order · out_order (n_docs,) rows.
    out_tied (n_queries,) whether documents of different labels are tied.
    """
    longest = longest_query(first, last, query_ptr)
    keys, rows = np.empty(longest, np.float64), np.empty(longest, np.int64)
    other_keys, other_rows = np.empty(longest, np.float64), np.empty(longest, np.int64)
    for q in range(first, last):
        begin = query_ptr[q]
        n = query_ptr[q + 1] - begin
        # Insertion sort of runs of 16 ...
        for a in range(0, n, 16):
            b = min(a + 16, n)
            for i in range(a, b):
                row = start[begin + i] if start.size else begin + i
                key = scores[row]
                j = i
                while j > a and keys[j - 1] < key:
                    keys[j], rows[j] = keys[j - 1], rows[j - 1]
                    j -= 1
                keys[j], rows[j] = key, row
        # ... then merging from one buffer into the other.
        width = 16
        while width < n:
            for a in range(0, n, 2 * width):
                middle, b = min(a + width, n), min(a + 2 * width, n)
                i, j = a, middle
                for t in range(a, b):
                    if i < middle and (j >= b or keys[i] >= keys[j]):
                        other_keys[t], other_rows[t] = keys[i], rows[i]
                        i += 1
                    else:
                        other_keys[t], other_rows[t] = keys[j], rows[j]
                        j += 1
            keys, other_keys = other_keys, keys
            rows, other_rows = other_rows, rows
            width *= 2
        tied, code = False, np.int32(0)
        for i in range(n):
            before, code = code, codes[rows[i]]
            out_order[begin + i] = rows[i]
            out_codes[begin + i] = code
            tied |= (code != before) & (keys[i] == keys[max(i - 1, 0)]) & (i > 0)
        out_tied[q] = tied


@kernel
def _find_blocks(first, last, scores, order, codes, query_ptr, tied, out_end):
    """For each place of a ranking, the place (in the whole array) where its block of ties ends.

    codes (n_docs,) by rank. Tied documents of one label are blocks of their own: their order says nothing.
    """
    for q in range(first, last):
        begin, stop = query_ptr[q], query_ptr[q + 1]
        if not tied[q]:
            for i in range(begin, stop):
                out_end[i] = i + 1
            begin = stop
        while begin < stop:
            end, same = begin + 1, True
            while end < stop and scores[order[end]] == scores[order[begin]]:
                same = same and codes[end] == codes[begin]
                end += 1
            for i in range(begin, end):
                out_end[i] = i + 1 if same else end
            begin = end


@kernel
def _sort_codes(first, last, codes, query_ptr, n_levels, out):
    """Each query's codes in descending order, by counting them."""
    counts = np.empty(n_levels, np.int64)
    for level in range(n_levels):
        counts[level] = 0
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        for i in range(begin, end):
            counts[codes[i]] += 1
        place = begin
        for level in range(n_levels - 1, -1, -1):
            for _ in range(counts[level]):
                out[place] = level
                place += 1
            counts[level] = 0


@kernel
def _count_true(first, last, codes, query_ptr, wanted, out):
    for q in range(first, last):
        count = 0
        for i in range(query_ptr[q], query_ptr[q + 1]):
            count += wanted[codes[i]]
        out[q] = count


@dataclass(frozen=True)
class RankedLists:
    """Every query's labels in ranked order, and the judged documents an ideal ranking may use.

    Attributes
    ----------
    codes : (n_docs,) index into `levels` of the document at each place of each ranking.
    query_ptr : ranking q is `codes[query_ptr[q]:query_ptr[q + 1]]`.
    levels : the distinct labels, ascending, NaN before all. NaN, or a label below 0, means *not judged*.
    pool_codes, pool_ptr : all judged documents of each query (also those not ranked), best first.
    block_end : where the tied block of each place ends; only under the tie rule `expected`, and only where
        documents of different labels are tied.
    """

    codes: Codes
    query_ptr: Offsets
    levels: Values
    pool_codes: Codes
    pool_ptr: Offsets
    block_end: Offsets | None = None

    @property
    def n_queries(self) -> int:
        """Number of rankings."""
        return len(self.query_ptr) - 1

    @cached_property
    def lengths(self) -> Offsets:
        """Documents in each ranking."""
        return np.diff(self.query_ptr)

    @cached_property
    def has_ties(self) -> NDArray[np.bool_]:
        """(n_queries,) Which lists have tied documents of different labels, over whose orders to average."""
        if self.block_end is None:
            return np.zeros(self.n_queries, bool)
        is_tied = self.block_end > np.arange(1, len(self.codes) + 1)
        running = np.concatenate(([0], np.cumsum(is_tied)))
        tied: NDArray[np.bool_] = running[self.query_ptr[1:]] > running[self.query_ptr[:-1]]
        return tied

    @cached_property
    def longest(self) -> int:
        """Documents in the longest ranking or pool."""
        return int(max(self.lengths.max(initial=0), np.diff(self.pool_ptr).max(initial=0)))

    def each_query(self, run: Callable[..., Any], *arguments: Any) -> Values:
        """Call `run(first, last, *arguments, out)` over all queries in threads; return `out`."""
        out = np.empty(self.n_queries, np.float64)
        over_chunks(run, self.n_queries, *arguments, out, smallest=64)
        return out

    def each_ranking(
        self, plain: Callable[..., Any], expected: Callable[..., Any], *arguments: Any
    ) -> Values:
        """Call the kernel `plain` over all rankings, or `expected` where orders of ties are averaged."""
        if self.block_end is None:
            return self.each_query(plain, self.codes, self.query_ptr, *arguments)
        return self.each_query(expected, self.codes, self.query_ptr, self.block_end, *arguments)

    def pool_by(self, values: Values) -> Codes:
        """The pool of every query in descending order of `values[code]`."""
        if np.all(values[1:] >= values[:-1]):
            return self.pool_codes
        rising = np.argsort(values, kind="stable")  # a gain table need not rise with the label
        place = np.empty(len(values), np.int32)
        place[rising] = np.arange(len(values), dtype=np.int32)
        sorted_places = _descending(place[self.pool_codes], self.pool_ptr, len(values))
        return rising.astype(np.int32)[sorted_places]

    def pool_count(self, wanted: NDArray[np.bool_]) -> Values:
        """How many documents of each query's pool have a wanted label."""
        return self.each_query(_count_true, self.pool_codes, self.pool_ptr, wanted)

    def single(self, query: int) -> Codes:
        """The codes of one ranking."""
        return self.codes[self.query_ptr[query] : self.query_ptr[query + 1]]

    @classmethod
    def of_labels(cls, ranked_labels: Sequence[ArrayLike]) -> RankedLists:
        """Lists that are already in ranked order, e.g. `of_labels([[2, 0, 1], [0, 0]])`."""
        lists = [np.asarray(labels, np.float64) for labels in ranked_labels]
        query_ptr = np.concatenate(([0], np.cumsum([len(labels) for labels in lists]))).astype(np.int64)
        return cls.of_documents(np.concatenate(lists) if lists else np.empty(0), query_ptr)

    @classmethod
    def of_documents(cls, labels: NDArray[np.floating[Any]], query_ptr: Offsets) -> RankedLists:
        """Documents that are already in ranked order, all queries in one array, each its own pool."""
        codes, levels = encode(labels)
        return cls(codes, query_ptr, levels, _descending(codes, query_ptr, len(levels)), query_ptr)


@dataclass(frozen=True)
class ScoredQueries:
    """Scored documents with their labels: makes `RankedLists`, one sort for each way of breaking ties."""

    labels: NDArray[np.floating[Any]]
    scores: Values
    query_ptr: Offsets
    doc_ids: Sequence[str] | None = None
    pool_labels: NDArray[np.floating[Any]] | None = None
    pool_ptr: Offsets | None = None

    @cached_property
    def _encoded(self) -> tuple[Codes, Values, Codes, Offsets]:
        """(codes of the documents, levels, sorted codes of the pool, its offsets)."""
        if self.pool_labels is None or self.pool_ptr is None:
            codes, levels = encode(self.labels)
            return codes, levels, _descending(codes, self.query_ptr, len(levels)), self.query_ptr
        codes, levels = encode(np.concatenate((self.labels, self.pool_labels)))
        pool = codes[len(self.labels) :]
        return codes[: len(self.labels)], levels, _descending(pool, self.pool_ptr, len(levels)), self.pool_ptr

    def rescored(self, scores: Values) -> ScoredQueries:
        """The same documents at other scores, without encoding their labels again."""
        other = replace(self, scores=scores)
        other.__dict__["_encoded"] = self._encoded
        return other

    def ranked(self, ties: str = "stable", score_type: type[np.floating[Any]] = np.float64) -> RankedLists:
        """Sort by score, the scores rounded to `score_type`, ties broken by the rule."""
        codes, levels, pool_codes, pool_ptr = self._encoded
        with np.errstate(over="ignore"):  # a score beyond float32 is infinite to a tool that reads float32
            scores = self.scores.astype(score_type).astype(np.float64)
        order = np.empty(len(codes), np.int64)
        ranked_codes = np.empty(len(codes), np.int32)
        n_queries = len(self.query_ptr) - 1
        start = self._start_order(ties, codes, scores)
        tied = np.empty(n_queries, np.bool_)
        ranking = scores, self.query_ptr, start, codes, ranked_codes, order, tied
        over_chunks(_rank, n_queries, *ranking, smallest=64)
        block_end = None
        if ties == "expected" and tied.any():
            block_end = np.empty(len(codes), np.int64)
            blocks = scores, order, ranked_codes, self.query_ptr, tied, block_end
            over_chunks(_find_blocks, n_queries, *blocks, smallest=64)
        lists = RankedLists(ranked_codes, self.query_ptr, levels, pool_codes, pool_ptr, block_end)
        if block_end is not None:
            lists.__dict__["has_ties"] = tied
        return lists

    def _start_order(self, ties: str, codes: Codes, scores: Values) -> Offsets:
        """The order that decides among equal scores; empty for input order."""
        if ties in ("stable", "expected"):
            return np.empty(0, np.int64)
        query = np.repeat(np.arange(len(self.query_ptr) - 1), np.diff(self.query_ptr))
        if ties in ("worst", "best"):
            return np.lexsort((codes if ties == "worst" else -codes, query))
        if ties != "docid":
            raise UnknownNameError("tie rule", ties, TIE_RULES)
        if self.doc_ids is not None:
            ids = _as_bytes(self.doc_ids)
            by_id = np.array(sorted(range(len(ids)), key=ids.__getitem__, reverse=True), np.int64)
            return by_id[np.argsort(query[by_id], kind="stable")]
        order = np.lexsort((-scores, query))
        same = (scores[order][1:] == scores[order][:-1]) & (query[order][1:] == query[order][:-1])
        if same.any():
            raise InputError(
                f"{int(same.sum())} documents tie with another and there are no document ids to break "
                "ties by: give document ids, or another tie rule (ties='stable', 'expected', …)"
            )
        return np.empty(0, np.int64)


def _as_bytes(doc_ids: Sequence[str]) -> list[bytes]:
    to_bytes: Callable[[], list[bytes]] | None = getattr(doc_ids, "to_bytes", None)
    return to_bytes() if to_bytes else [str(text).encode() for text in doc_ids]


def encode(labels: NDArray[np.floating[Any]]) -> tuple[Codes, Values]:
    """Labels as codes: (index of each label among the distinct labels, those labels ascending, NaN first).

    >>> encode(np.array([2.0, 0.0, 1.0]))
    (array([2, 0, 1], dtype=int32), array([0., 1., 2.]))
    >>> encode(np.array([2.0, np.nan]))
    (array([1, 0], dtype=int32), array([nan,  2.]))
    """
    if labels.size == 0:
        return np.empty(0, np.int32), np.zeros(1)
    low, high = labels.min(), labels.max()
    if np.isnan(low):
        known = ~np.isnan(labels)
        codes = np.zeros(len(labels), np.int32)
        if not known.any():
            return codes, np.array([np.nan])
        known_codes, levels = encode(labels[known])
        codes[known] = known_codes + np.int32(1)
        return codes, np.concatenate(([np.nan], levels))
    if high - low < 256 and abs(low) < 2**30:
        codes = labels.astype(np.int32)
        if np.array_equal(codes, labels):
            smallest = int(low)
            return codes - np.int32(smallest), np.arange(smallest, int(high) + 1, dtype=np.float64)
    levels, inverse = np.unique(labels, return_inverse=True)
    return inverse.astype(np.int32), levels.astype(np.float64)


def _descending(codes: Codes, query_ptr: Offsets, n_levels: int) -> Codes:
    if n_levels > _COUNTED_LEVELS:
        query = np.repeat(np.arange(len(query_ptr) - 1), np.diff(query_ptr))
        return codes[np.lexsort((-codes, query))]
    out = np.empty_like(codes)
    over_chunks(_sort_codes, len(query_ptr) - 1, codes, query_ptr, n_levels, out, smallest=64)
    return out
