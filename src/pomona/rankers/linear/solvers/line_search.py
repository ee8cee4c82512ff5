"""The exact maximum of a measure along a line: the scores s + c · x for every c, documents' s and x given.

Two documents trade places only where their score lines cross, so a measure is constant between crossings
(Tan, Xia, Guo & Wang 2013). The measures with a closed form here are sums of one term for each document,

    position    v_i · w(rank_i)
    precision   v_i · (relevant documents above i + 1) / rank_i
    cascade     v_i · w(rank_i) · Π_{j above i} (1 − v_j)

so each document's crossings are sorted by themselves and walked in order, and leave a step wherever its term
changes. The steps of all documents of all queries add up to the measure along the line. To find its highest
interval they need not all be sorted: they fall into buckets, and only a bucket that could rise above the
highest place known so far is looked into.

A place on the line is told as u = c / (spread + |c|), in (−1, 1). With `spread` the sum of the sizes of all
other weights this is the share of the weights that falls to x; the ends of the line lie at a finite distance,
and the middle of an interval is one. The point taken is the middle of the highest interval, of the widest if
several are as high. Intervals narrower than 1e-7 are passed over: features are single precision, and what
rounding makes of a point there is anybody's guess. Documents whose lines coincide keep their input order.

For any other measure, `SteppingSearch` tries steps of powers of two to either side.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Labels, Offsets, Scores, Values
from pomona.measures.base import Measure
from pomona.measures.closed_form import POSITION, PRECISION, ClosedForm
from pomona.measures.lists import RankedLists, ScoredQueries, longest_query

_N_BUCKETS = 8192
_NARROW = 1e-7
_SAME = 1e-12
"""Sums of steps that differ by less differ by rounding only."""
_RUN = 64


@kernel
def _sort(keys, n, spare):
    """Sort n different integers, ascending; returns the array, of the two, that they are in."""
    # In runs, the place of a key is how many are smaller: no branch to predict, and a vector at a time.
    for a in range(0, n, _RUN):
        run, out = keys[a : min(a + _RUN, n)], spare[a : min(a + _RUN, n)]
        for i in range(run.size):
            smaller = 0
            for j in range(run.size):
                smaller += run[j] < run[i]
            out[smaller] = run[i]
    keys, spare = spare, keys
    width = _RUN
    while width < n:
        for a in range(0, n, 2 * width):
            middle, b = min(a + width, n), min(a + 2 * width, n)
            i, j = a, middle
            for t in range(a, b):
                if i < middle and (j >= b or keys[i] < keys[j]):
                    spare[t] = keys[i]
                    i += 1
                else:
                    spare[t] = keys[j]
                    j += 1
        keys, spare = spare, keys
        width *= 2
    return keys


@kernel
def _term(family, value, rank, n_above, reading, certain, weight):
    """What a document adds to its query's measure."""
    if rank > weight.size:
        return 0.0
    if family == POSITION:
        return value * weight[rank - 1]
    if family == PRECISION:
        return value * (n_above + 1) * weight[rank - 1]
    return 0.0 if certain > 0 else value * reading * weight[rank - 1]


@kernel
def _walk(
    first, last, scores, slope, now, spread, query_ptr, query_weight, family, value, weight, step_ptr,
    out_place, out_rise, out_count, out_start,
):  # fmt: skip
    """scores, slope, value (n_docs,) · now : c at the scores · weight (depth,) of ranks ·
    query_weight (n_queries,).

    Writes query q's steps from step_ptr[q] on, their number, and the query's measure at the line's lower end.
    """
    # Of all queries: how exact a place is must not depend on the chunk.
    longest = longest_query(0, query_ptr.size - 1, query_ptr)
    x, rest = np.empty(longest), np.empty(longest)
    keys, spare = np.empty(longest, np.int64), np.empty(longest, np.int64)
    row_bits = np.int64(1)
    while row_bits < longest:
        row_bits *= 2
    row_bits -= 1
    for q in range(first, last):
        begin, n = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
        v = value[begin : begin + n]
        at = step_ptr[q]
        out_start[q] = 0.0
        for i in range(n):
            x[i] = slope[begin + i]
            rest[i] = scores[begin + i] - now * x[i]
        for i in range(n):
            if v[i] == 0.0 or query_weight[q] == 0.0:
                continue
            own_x, own_rest = x[i], rest[i]
            m, rank = 0, 1
            n_above, reading, certain = 0, 1.0, 0  # what precision and cascades need to know of those above
            for j in range(n):
                apart, gap = x[j] - own_x, own_rest - rest[j]
                if apart != 0.0:
                    above = apart < 0.0
                    place = (-gap if above else gap) / (spread * abs(apart) + abs(gap))
                    # In (2, 4) numbers are ordered as their bits are; the last of them hold the row.
                    keys[m] = (np.float64(3.0 + place).view(np.int64) & ~row_bits) | j
                    m += 1
                else:
                    above = gap < 0.0 or (gap == 0.0 and j < i)
                rank += above
                if family != POSITION and above and v[j] != 0.0:
                    n_above += 1
                    certain += v[j] == 1.0
                    reading *= 1.0 if v[j] == 1.0 else 1.0 - v[j]
            term = _term(family, v[i], rank, n_above, reading, certain, weight)
            out_start[q] += term * query_weight[q]
            crossings = _sort(keys, m, spare)
            for e in range(m):
                j = crossings[e] & row_bits
                falls = x[j] > own_x
                rank += 1 if falls else -1
                if family != POSITION and v[j] != 0.0:
                    passed = 1.0 if v[j] == 1.0 else 1.0 - v[j]
                    if falls:
                        n_above += 1
                        certain += v[j] == 1.0
                        reading *= passed
                    else:
                        n_above -= 1
                        certain -= v[j] == 1.0
                        reading /= passed
                after = _term(family, v[i], rank, n_above, reading, certain, weight)
                if after != term:
                    out_place[at] = np.int64(crossings[e] & ~row_bits).view(np.float64) - 3.0
                    out_rise[at] = (after - term) * query_weight[q]
                    at += 1
                    term = after
        out_count[q] = at - step_ptr[q]


@kernel
def _bucket(place, n_buckets):
    return min(int((place + 1.0) * 0.5 * n_buckets), n_buckets - 1)


@kernel
def _fill_buckets(step_ptr, count, place, rise, out_sum, out_up, out_first, out_last):
    """Of every bucket: the sum of its steps, of those that go up, and where its first and last step lie."""
    for q in range(count.size):
        for e in range(step_ptr[q], step_ptr[q] + count[q]):
            b = _bucket(place[e], out_sum.size)
            out_sum[b] += rise[e]
            out_up[b] += max(rise[e], 0.0)
            out_first[b], out_last[b] = min(out_first[b], place[e]), max(out_last[b], place[e])


@kernel
def _take_out(step_ptr, count, place, rise, wanted, out_place, out_rise):
    """The steps of the wanted buckets; returns how many."""
    n = 0
    for q in range(count.size):
        for e in range(step_ptr[q], step_ptr[q] + count[q]):
            if wanted[_bucket(place[e], wanted.size)]:
                out_place[n], out_rise[n] = place[e], rise[e]
                n += 1
    return n


class LineSearch(Protocol):
    """Finds where on a line a measure is highest."""

    def best(self, scores: Scores, slope: Features, now: float, spread: float) -> tuple[float, float]:
        """(place u, the measure there) for scores whose weight of `slope` is `now`."""


def line_search(measure: Measure, labels: Labels, query_ptr: Offsets, weights: Values) -> LineSearch:
    """The exact search where the measure has a closed form, else the stepping one; `weights` of queries."""
    lists = RankedLists.of_documents(labels, query_ptr)
    form = measure.closed_form(lists)
    if form is None or form.ceiling < np.inf:
        return SteppingSearch(measure, labels, query_ptr, weights)
    return CrossingSearch(form, measure.of_lists(lists), query_ptr, weights)


class CrossingSearch:
    """The exact search over all crossings of two documents.

    O(R · n log n) for a query of n documents of which R have a value, and 16 bytes for each step.
    """

    def __init__(self, form: ClosedForm, values: Values, query_ptr: Offsets, weights: Values) -> None:
        lengths = np.diff(query_ptr)
        query = np.repeat(np.arange(len(lengths)), lengths)
        n_valued = np.bincount(query, form.document_values != 0, len(lengths))
        self._rules = query_ptr, weights * form.factors, form.kind, form.document_values, form.weight
        self._step_ptr = np.concatenate(([0], np.cumsum(n_valued * (lengths - 1)))).astype(np.int64)
        self._place, self._rise = np.empty(self._step_ptr[-1]), np.empty(self._step_ptr[-1])
        self._count, self._start = np.empty(len(lengths), np.int64), np.empty(len(lengths))
        # Queries whose value no ranking changes.
        self._fixed = float(np.sum(np.where(n_valued == 0, values * weights, 0.0)))

    def best(self, scores: Scores, slope: Features, now: float, spread: float) -> tuple[float, float]:
        """(place u, the measure there) of the middle of the highest interval."""
        line = scores, slope, float(now), float(spread)
        written = self._step_ptr, self._place, self._rise, self._count, self._start
        over_chunks(_walk, len(self._count), *line, *self._rules, *written, smallest=16)
        begins, ends, rises = self._merged()
        values = np.cumsum(rises)[:-1]
        lefts, rights = ends[:-1], begins[1:]
        widths = rights - lefts
        values[widths < _NARROW] = -np.inf
        best = int(np.argmax(np.where(values >= values.max() - _SAME, widths, -1.0)))
        height = self._fixed + float(self._start.sum()) + float(values[best])
        return 0.5 * float(lefts[best] + rights[best]), height

    def _merged(self) -> tuple[Values, Values, Values]:
        """Steps in order, as (begin, end, rise): single where the maximum may be, whole buckets elsewhere."""
        steps = self._step_ptr, self._count, self._place, self._rise
        sums, ups = np.zeros(_N_BUCKETS), np.zeros(_N_BUCKETS)
        begins, ends = np.full(_N_BUCKETS, np.inf), np.full(_N_BUCKETS, -np.inf)
        _fill_buckets(*steps, sums, ups, begins, ends)
        after = np.cumsum(sums)
        filled = begins <= ends
        wanted = filled & (after - sums + ups >= max(after.max(), 0.0) - _SAME)
        place, rise = np.empty(int(self._count.sum())), np.empty(int(self._count.sum()))
        n = _take_out(*steps, wanted, place, rise)
        whole = filled & ~wanted
        all_begins = np.concatenate(([-1.0], begins[whole], place[:n], [1.0]))
        all_ends = np.concatenate(([-1.0], ends[whole], place[:n], [1.0]))
        all_rises = np.concatenate(([0.0], sums[whole], rise[:n], [0.0]))
        order = np.argsort(all_begins, kind="stable")
        return all_begins[order], all_ends[order], all_rises[order]


class SteppingSearch:
    """The search for any measure: u moves by 1/2, 1/4, … 1/1024 to either side, or to 0, judged anew."""

    _STEPS = tuple(2.0**-k for k in range(1, 11))

    def __init__(self, measure: Measure, labels: Labels, query_ptr: Offsets, weights: Values) -> None:
        self._measure, self._labels, self._query_ptr = measure, labels, query_ptr
        self._weights = weights

    def best(self, scores: Scores, slope: Features, now: float, spread: float) -> tuple[float, float]:
        """(place u, the measure there) of the best place tried; the present one is tried first."""
        here = now / (spread + abs(now))
        tried = [here, 0.0, *(here + sign * step for step in self._STEPS for sign in (1.0, -1.0))]
        places = [u for u in tried if -1.0 < u < 1.0]
        x = slope.astype(np.float64)
        rest = scores - now * x
        heights = [self._height(rest + weight_at(u, spread) * x) for u in places]
        best = int(np.argmax(heights))
        return places[best], heights[best]

    def _height(self, scores: Scores) -> float:
        lists = ScoredQueries(self._labels, scores, self._query_ptr).ranked("stable")
        return float(np.sum(self._measure.of_lists(lists) * self._weights))


def weight_at(place: float, spread: float) -> float:
    """The weight c at the place u of a line.

    >>> weight_at(0.5, 1.0), weight_at(-0.75, 2.0)
    (1.0, -6.0)
    """
    return spread * place / (1.0 - abs(place))
