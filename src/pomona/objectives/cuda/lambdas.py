"""Lambda gradients on a GPU: those of `_lambda_kernels`, a block for each query.

Every pair is computed twice, for the sum of its upper document and for that of its lower one, so that both
are added up in the CPU's order: a thread for each lane of two rows, and a thread for each lower document.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pomona._cuda import SIMULATED, cuda, kernel, on_device, product, product32
from pomona.objectives._lambda_kernels import (
    EXPONENT,
    LOG2_E,
    NOT_LOWER,
    REACH,
    SERIES,
    TWICE_LOG2_E,
)
from pomona.objectives._pair_lanes import LANES, N_SUMS
from pomona.objectives.cuda._rank_kernel import rank_documents
from pomona.objectives.cuda._terms_kernel import clip_total, head_terms, read_past
from pomona.objectives.lambdas import LambdaObjective

_N_THREADS = 16 if SIMULATED else 128
_HALF, _ONE, _ZERO = np.float32(0.5), np.float32(1), np.float32(0)
_C1, _C2, _C3, _C4, _C5 = EXPONENT

# Rows of the work space in single precision, by rank or by document, and of a query's numbers.
(
    SCORE, POWER, INVERSE, VALUE, WEIGHT, LAMBDA, HESS, REST_SCORE, REST_POWER, REST_LAMBDA, REST_HESS, SUMS,
) = range(12)  # fmt: skip
REST_SUMS = SUMS + N_SUMS
_N_SINGLES = REST_SUMS + N_SUMS
DIFFER, REST_LOWER, REST_SKIPPED, END, SIZE, EXCESS, ROOM = range(7)
UPPER, SHARE, LOWER, SKIPPING = range(4)


@kernel
def _power(score, base, powers):
    """exp(score − base) as `_exponentials` of the CPU; powers (127,) has 2^−i."""
    exponent = product32(LOG2_E, score - base)
    exponent = NOT_LOWER if exponent < NOT_LOWER else exponent
    whole = np.int32(exponent - _HALF)
    f = exponent - np.float32(whole)
    power = _C4 + product32(f, _C5)
    power = _C3 + product32(f, power)
    power = _C2 + product32(f, power)
    power = _C1 + product32(f, power)
    power = _ONE + product32(f, power)
    return product32(power, powers[-whole])


@kernel
def _pair(
    value, score, power, weight, factor, row_value, row_score, row_inverse, row_weight, near, slope, excess,
    room,
):  # fmt: skip
    """λ and hessian of a pair; `factor` is upper − share · lower, times the row's weight if Δ has no clip."""
    delta = product32(value - row_value, factor) + excess
    delta = product32(delta if delta < room else room, weight)
    if room < np.inf:
        delta = product32(delta, row_weight)
    spread = near + product32(slope, row_score - score)
    e = product32(power, row_inverse)
    both = _ONE + e
    part = delta / product32(product32(both, both), spread)
    size = part if part > _ZERO else -part
    return product32(product32(part, both), _ONE if part > _ZERO else e), product32(size, e)


@kernel
def _factor(row, lower, singles, doubles, room):
    weight = np.float64(singles[WEIGHT, row]) if room == np.inf else 1.0
    upper, share = product(doubles[UPPER, row], weight), product(doubles[SHARE, row], weight)
    return np.float32(upper - product(share, lower))


@kernel
def _weight_of(i, relative):
    return relative[i] if relative.size else _ONE


@kernel
def _lay_out(begin, n, m, scores, heads, ranks, singles, value, relative, sigma, numbers):
    best = scores[begin + heads[begin]]
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
        at, score = begin + ranks[begin + i], np.float32(sigma * (scores[begin + i] - best))
        if scores[begin + i] < best:
            numbers[DIFFER] = 1.0
        if ranks[begin + i] < m:
            singles[SCORE, at], singles[VALUE, at] = score, value[begin + i]
            singles[WEIGHT, at] = _weight_of(begin + i, relative)
            singles[LAMBDA, at] = singles[HESS, at] = _ZERO
        else:
            singles[REST_SCORE, begin + i] = score
            singles[REST_LAMBDA, begin + i] = singles[REST_HESS, begin + i] = _ZERO
    cuda.syncthreads()


@kernel
def _row_sums(
    begin,
    a,
    end,
    others,
    is_head,
    m,
    ranks,
    singles,
    doubles,
    lowers,
    value,
    relative,
    near,
    slope,
    excess,
    room,
    sums,
    out,
):
    """Sums of λ and hessians of ranks [a, end) over the head below, or over the rest, two rows at a time.

    others : how many there are · sums (5, n_threads) shared · out : row of `singles` for those of each two.
    """
    t = cuda.threadIdx.x
    lane, n_together = t % LANES, cuda.blockDim.x // LANES
    n_pairs = (end - a + 1) // 2
    for top in range(0, n_pairs, n_together):
        pair = top + t // LANES
        a_lambdas, a_hessians, b_lambdas, b_hessians, size = _ZERO, _ZERO, _ZERO, _ZERO, _ZERO
        if pair < n_pairs:
            first = begin + a + 2 * pair
            second = min(first + 1, begin + end - 1)
            start = a + 2 * pair + 1 if is_head else 0
            a_inverse, b_inverse = singles[INVERSE, first], singles[INVERSE, second]
            for j in range(start + lane, others, LANES):
                at = begin + j
                if is_head or ranks[at] >= m:
                    lower = doubles[lowers, at] if is_head else 0.0
                    v = singles[VALUE, at] if is_head else value[at]
                    score = singles[SCORE if is_head else REST_SCORE, at]
                    power = singles[POWER if is_head else REST_POWER, at]
                    weight = singles[WEIGHT, at] if is_head else _weight_of(at, relative)
                    a_lambda, a_hessian = _pair(
                        v, score, power, weight, _factor(first, lower, singles, doubles, room),
                        singles[VALUE, first], singles[SCORE, first], a_inverse, singles[WEIGHT, first], near,
                        slope, excess, room,
                    )  # fmt: skip
                    factor = _factor(second, lower, singles, doubles, room) if second > first else _ZERO
                    b_lambda, b_hessian = _pair(
                        v, score, power, weight, factor, singles[VALUE, second], singles[SCORE, second],
                        b_inverse, singles[WEIGHT, second], near, slope, excess, room,
                    )  # fmt: skip
                    a_lambdas += a_lambda
                    a_hessians += a_hessian
                    b_lambdas += b_lambda
                    b_hessians += b_hessian
                    size += abs(a_lambda) + abs(b_lambda)
        sums[0, t], sums[1, t], sums[2, t], sums[3, t] = a_lambdas, a_hessians, b_lambdas, b_hessians
        sums[4, t] = size
        cuda.syncthreads()
        reach = LANES // 2
        while reach > 0:
            if lane < reach:
                for i in range(N_SUMS):
                    sums[i, t] += sums[i, t + reach]
            cuda.syncthreads()
            reach //= 2
        if lane == 0 and pair < n_pairs:
            for i in range(N_SUMS):
                singles[out + i, begin + pair] = sums[i, t]
        cuda.syncthreads()


@kernel
def _of_column(
    at, v, score, power, weight, j, is_head, begin, a, end, singles, doubles, lowers, near, slope, excess,
    room, out,
):  # fmt: skip
    """Add the pairs of one document with the ranks [a, end) above it to rows `out` and `out + 1`."""
    total, hessians = singles[out, at], singles[out + 1, at]
    for row in range(a, end, 2):
        if is_head and j <= row:
            break
        first = begin + row
        second = min(first + 1, begin + end - 1)
        lower = doubles[lowers, at] if is_head else 0.0
        a_lambda, a_hessian = _pair(
            v, score, power, weight, _factor(first, lower, singles, doubles, room), singles[VALUE, first],
            singles[SCORE, first], singles[INVERSE, first], singles[WEIGHT, first], near, slope, excess, room,
        )  # fmt: skip
        factor = _factor(second, lower, singles, doubles, room) if second > first else _ZERO
        b_lambda, b_hessian = _pair(
            v, score, power, weight, factor, singles[VALUE, second], singles[SCORE, second],
            singles[INVERSE, second], singles[WEIGHT, second], near, slope, excess, room,
        )  # fmt: skip
        total += a_lambda + b_lambda
        hessians += a_hessian + b_hessian
    singles[out, at], singles[out + 1, at] = total, hessians


@kernel
def _take_sums(begin, a, end, singles, out):
    """Take the sums of the ranks [a, end) as upper documents from their lambdas, and add up the |λ|."""
    for row in range(a + cuda.threadIdx.x, end, cuda.blockDim.x):
        pair, is_second = (row - a) // 2, (row - a) % 2
        at = begin + row
        singles[LAMBDA, at] -= singles[out + 2 * is_second, begin + pair]
        singles[HESS, at] += singles[out + 2 * is_second + 1, begin + pair]
    size = 0.0
    if cuda.threadIdx.x == 0:
        for pair in range((end - a + 1) // 2):
            size += np.float64(singles[out + 4, begin + pair])
    return size


@kernel
def _segment(a, begin, m, n_rows, weight, singles, doubles, numbers):
    """How far one base of exponentials serves, by one thread; 0: nobody reads so far.

    Returns the row of `doubles` with the lower terms.
    """
    first, end = begin + a, a + 1
    if doubles[SHARE, first] == 0.0:
        if doubles[UPPER, first] == 0.0:
            end = 0
        else:
            numbers[REST_SKIPPED] = read_past(
                a, begin, m, singles[VALUE], weight, doubles[UPPER, first], doubles
            )
            doubles[UPPER, first], doubles[SHARE, first] = product(doubles[UPPER, first], weight[a]), 1.0
            end = -end
    else:
        base = singles[SCORE, first]
        while end < n_rows and doubles[SHARE, begin + end] != 0.0:
            if not singles[SCORE, begin + end] >= base - REACH:
                break
            end += 1
    numbers[END] = end


@kernel
def _log2(x):
    exponent = 0.0
    while 1.5 < x < np.inf:
        x *= 0.5
        exponent += 1.0
    s = (x - 1.0) / (x + 1.0)
    square, series = product(s, s), 0.0
    for i in range(SERIES // 2 + 1):
        series = product(series, square) + 1.0 / np.float64(SERIES - 2 * i)
    return exponent + product(product(TWICE_LOG2_E, s), series)


@kernel(launched=True, registers=80)
def lambda_gradients(
    scores, query_ptr, place, query_weight, relative, value, weight, query_factor, powers, family, ceiling,
    truncation, sigma, normalize, heads, ranks, candidates, singles, doubles, out_gradient, out_hessian,
):  # fmt: skip
    """Gradients and hessians of all queries: arguments as those of the CPU's kernel of this name.

    heads, ranks, candidates (n_docs,) int32 : the last ranking, and room to work in, as are singles (21,
    n_docs) float32 and doubles (4, n_docs) float64.
    """
    sums = cuda.shared.array((N_SUMS, 128), np.float32)
    numbers = cuda.shared.array(7, np.float64)
    count = cuda.shared.array(1, np.int32)
    t, n_threads, query = cuda.threadIdx.x, cuda.blockDim.x, cuda.blockIdx.x
    begin = query_ptr[query]
    n = query_ptr[query + 1] - begin
    if query_weight[query] == 0.0:
        for i in range(t, n, n_threads):
            out_gradient[begin + i] = out_hessian[begin + i] = _ZERO
        return
    depth = min(weight.size, n)
    m = depth if 2 * depth <= n else n
    n_rows = min(truncation, depth)
    if t == 0:
        numbers[DIFFER] = 0.0
    rank_documents(begin, n, m, scores, place, heads, ranks, candidates, count)
    _lay_out(begin, n, m, scores, heads, ranks, singles, value, relative, sigma, numbers)
    rest_lower = head_terms(family, begin, m, singles[VALUE], weight, doubles)
    if t == 0:
        numbers[REST_LOWER], numbers[SIZE] = rest_lower, 0.0
        numbers[EXCESS], numbers[ROOM] = 0.0, np.inf
        if ceiling < np.inf:
            total = clip_total(begin, m, singles[VALUE], weight)
            numbers[EXCESS], numbers[ROOM] = max(total - ceiling, 0.0), max(ceiling - total, 0.0)
    cuda.syncthreads()
    near, slope, unit = _ONE, _ZERO, sigma
    if normalize and numbers[DIFFER] > 0.0:
        near, slope, unit = np.float32(0.01 * sigma), _ONE, sigma * sigma
    unit *= query_factor[query]
    excess, room = np.float32(numbers[EXCESS]), np.float32(numbers[ROOM])
    a = np.int64(0)
    while a < n_rows:
        if t == 0:
            _segment(a, begin, m, n_rows, weight, singles, doubles, numbers)
        cuda.syncthreads()
        end, lowers, rest_now = np.int64(numbers[END]), LOWER, numbers[REST_LOWER]
        if end == 0:
            break
        if end < 0:
            end, lowers, rest_now = -end, SKIPPING, numbers[REST_SKIPPED]
        base = singles[SCORE, begin + a]
        for j in range(a + t, m, n_threads):
            power = _power(singles[SCORE, begin + j], base, powers)
            singles[POWER, begin + j], singles[INVERSE, begin + j] = power, _ONE / power
        for i in range(t, n, n_threads):
            if ranks[begin + i] >= m:
                singles[REST_POWER, begin + i] = _power(singles[REST_SCORE, begin + i], base, powers)
        cuda.syncthreads()
        _row_sums(
            begin, a, end, m, True, m, ranks, singles, doubles, lowers, value, relative, near, slope, excess,
            room, sums, SUMS,
        )  # fmt: skip
        for j in range(a + 1 + t, m, n_threads):
            at = begin + j
            _of_column(
                at, singles[VALUE, at], singles[SCORE, at], singles[POWER, at], singles[WEIGHT, at], j, True,
                begin, a, end, singles, doubles, lowers, near, slope, excess, room, LAMBDA,
            )  # fmt: skip
        cuda.syncthreads()
        size = _take_sums(begin, a, end, singles, SUMS)
        if t == 0:
            numbers[SIZE] += size
        cuda.syncthreads()
        if m < n:
            for row in range(a + t, end, n_threads):
                at = begin + row
                doubles[UPPER, at] -= product(doubles[SHARE, at], rest_now)
                doubles[SHARE, at] = 0.0
            cuda.syncthreads()
            _row_sums(
                begin, a, end, n, False, m, ranks, singles, doubles, lowers, value, relative, near, slope,
                excess, room, sums, REST_SUMS,
            )  # fmt: skip
            for i in range(t, n, n_threads):
                at = begin + i
                if ranks[at] >= m:
                    _of_column(
                        at, value[at], singles[REST_SCORE, at], singles[REST_POWER, at],
                        _weight_of(at, relative), i, False, begin, a, end, singles, doubles, lowers, near,
                        slope, excess, room, REST_LAMBDA,
                    )  # fmt: skip
            size = _take_sums(begin, a, end, singles, REST_SUMS)
            if t == 0:
                numbers[SIZE] += size
            cuda.syncthreads()
        a = end
    cuda.syncthreads()
    factor, total = unit * query_weight[query], product(2.0 * unit, numbers[SIZE])
    if normalize and total > 0.0:
        factor *= _log2(1.0 + total) / total
    gradient_factor, hessian_factor = np.float32(-factor), np.float32(factor * sigma)
    for i in range(t, n, n_threads):
        rank = ranks[begin + i]
        at, which = (begin + rank, LAMBDA) if rank < m else (begin + i, REST_LAMBDA)
        out_gradient[begin + i] = gradient_factor * singles[which, at]
        out_hessian[begin + i] = hessian_factor * singles[which + 1, at]


class CudaLambdas:
    """The closed forms of `LambdaObjective` on a GPU."""

    def __init__(self, objective: LambdaObjective) -> None:
        tables, self._numbers = objective.kernel_arguments()
        n_docs = len(tables[1])
        with on_device():
            powers = np.ldexp(np.float32(1), -np.arange(127)).astype(np.float32)
            self._tables = [cuda.to_device(table) for table in (*tables, powers)]
            self._launch = lambda_gradients[len(tables[0]) - 1, _N_THREADS]
            self._room = (
                cuda.to_device(np.array(objective.tie_order)),
                cuda.device_array(n_docs, np.int32),
                cuda.device_array(n_docs, np.int32),
                cuda.device_array((_N_SINGLES, n_docs), np.float32),
                cuda.device_array((4, n_docs), np.float64),
            )

    def gradients(self, scores: Any, out_gradient: Any, out_hessian: Any) -> None:
        """−λ and its second derivative for every document, all on the GPU."""
        with on_device():
            self._launch(scores, *self._tables, *self._numbers, *self._room, out_gradient, out_hessian)
