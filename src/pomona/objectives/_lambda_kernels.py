"""Kernels of the lambda gradients: every pair of documents of a ranked query adds to the gradients of both.

Only documents down to the cut-off are ranked (the *head*); the others are met where they lie (the *rest*), as
their order does not matter. Swap deltas come from `measures.closed_form`.

Scores are kept as σ (score − best score) in single precision: near the top, where lambdas are large, nothing
is lost. One exponential a document is enough, as exp(s_b − s_a) = exp(s_b − base) / exp(s_a − base).
Arrays that pairs are walked in are padded to whole vectors with documents of no pair.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from pomona._beside import compile_beside
from pomona._jit import address_of, call, kernel, types
from pomona.measures.closed_form import clip_rule, head_terms, read_past
from pomona.objectives._pair_lanes import LANES, N_SUMS, push_clipped_pairs, push_pairs
from pomona.objectives._rank_kernel import rank

# Typed integers: numba takes a plain 0 for a type of its own, and compiles whatever is called with it again.
_ALL, _BELOW, _TOP = np.int64(0), np.int64(1), np.int64(0)
REACH = np.float32(40)
NOT_LOWER = np.float32(-126)
LOG2_E = np.float32(1.4426950408889634)
_HALF, _ONE = np.float32(0.5), np.float32(1)
# 2^f ≈ 1 + f (c1 + f (c2 + …)) for |f| ≤ 1/2: least greatest relative error, 9e-8.
EXPONENT = tuple(map(np.float32, (0.69314698, 0.24022242, 0.05550734, 0.00967151, 0.00132647)))
_C1, _C2, _C3, _C4, _C5 = EXPONENT
TWICE_LOG2_E = 2.0 / math.log(2.0)
SERIES = 21  # the last power of the logarithm's series


@kernel
def _padded(n):
    return (n + LANES - 1) // LANES * LANES


@kernel
def _exponentials(scores, base, out):
    """exp(score − base) of scores not above base, never below 2^−126.

    The relative error stays below 1e-7 (2 + base − score), mostly from rounding the exponent.
    """
    for j in range(scores.size):
        exponent = max(LOG2_E * (scores[j] - base), NOT_LOWER)
        whole = np.int32(exponent - _HALF)
        f = exponent - np.float32(whole)
        power = _ONE + f * (_C1 + f * (_C2 + f * (_C3 + f * (_C4 + f * _C5))))
        out[j] = power * np.int32((whole + np.int32(127)) << np.int32(23)).view(np.float32)


@kernel
def _pair_gradient(delta, e, spread):
    """λ of the lower document of a pair and its hessian, e = exp(−distance); one division does for both.

    ρ is 1 / (1 + e) if the lower document should rise, e / (1 + e) if the two stand right.
    """
    both = _ONE + e
    part = delta / (both * both * spread)
    return part * both * (_ONE if part > 0 else e), abs(part) * e


@kernel(by_address=True)
def _add_pairs(
    first, last, near, slope, excess, room, upper, share, lower, head, others, n_others, below, sums, out_size
):
    """Add the pairs of ranks [first, last) with `n_others` others; out_size[0] becomes the sum of all |λ|.

    upper, share, lower (…,) terms of Δ · head, others (6, …) see `_lay_out` · below : 1 if the others are the
    head again, of which only the ranks below make pairs, else 0 · sums (5,) room to work in.

    A pair counts r_a r_b. Where Δ is not clipped, r of the row is a factor of its terms, which costs nothing.
    """
    rule, is_clipped, lambda_size = (near, slope, excess, room), room < np.inf, 0.0
    for a in range(first, last, 2):
        # Two rows at a time: what is read and written of the others then serves both.
        b = min(a + 1, last - 1)
        a_terms = head[2, a], _ONE / head[3, a], head[4, a]
        b_terms = head[2, b], _ONE / head[3, b], head[4, b]
        begin = below * (a + 1)
        n_vectors = (n_others - begin + LANES - 1) // LANES
        if n_vectors == 0:
            continue
        # Against itself a row's Δ is 0.
        b_upper, b_share = (upper[b], share[b]) if b > a else (0.0, 0.0)
        a_weight, b_weight = head[5, a], head[5, b]
        if is_clipped:
            push_clipped_pairs(
                n_vectors, below, others[0, begin:], others[1, begin:], others[2, begin:], others[3, begin:],
                others[4, begin:], others[5, begin:], lower[begin:], rule, (*a_terms, a_weight),
                (upper[a], share[a]), (*b_terms, b_weight), (b_upper, b_share), sums,
            )  # fmt: skip
        else:
            push_pairs(
                n_vectors, below, others[0, begin:], others[1, begin:], others[2, begin:], others[3, begin:],
                others[4, begin:], others[5, begin:], lower[begin:], rule, a_terms,
                (upper[a] * a_weight, share[a] * a_weight), b_terms,
                (b_upper * b_weight, b_share * b_weight), sums,
            )  # fmt: skip
        head[0, a] -= sums[0]
        head[1, a] += sums[1]
        head[0, b] -= sums[2]
        head[1, b] += sums[3]
        lambda_size += np.float64(sums[4])
    out_size[0] = lambda_size


@kernel
def _distance_rule(differ, sigma, normalize):
    """(near, slope, unit) such that λ is unit · ρ Δ / (near + slope · σ |s_i − s_j|)."""
    if normalize and differ:
        return np.float32(0.01 * sigma), np.float32(1), sigma * sigma
    return np.float32(1), np.float32(0), sigma


@kernel
def log2(x):
    """The logarithm of a number of at least 1, to 1e-15: of sums and products, the same bits anywhere."""
    exponent = 0.0
    while 1.5 < x < np.inf:
        x *= 0.5
        exponent += 1.0
    s = (x - 1.0) / (x + 1.0)
    square, series = s * s, 0.0
    for k in range(SERIES, 0, -2):
        series = series * square + 1.0 / k
    return exponent + TWICE_LOG2_E * s * series


@kernel
def _write(lambdas, hessians, lambda_size, unit, sigma, weight, normalize, out_gradient, out_hessian):
    """Lambdas times the factors that a whole query has in common; minus, as the loss is minimized."""
    factor, total = unit * weight, 2.0 * unit * lambda_size
    if normalize and total > 0:
        factor *= log2(1.0 + total) / total
    gradient_factor, hessian_factor = np.float32(-factor), np.float32(factor * sigma)
    for j in range(out_gradient.size):
        out_gradient[j] = gradient_factor * lambdas[j]
        out_hessian[j] = hessian_factor * hessians[j]


@kernel
def _lay_out(scores, value, relative, keys, rows, sigma, rest, head):
    """Scores and values of the head by rank and of the rest by document; returns whether scores differ.

    rest, head (6, …): lambda, hessian, score, power, value, and r (`relative`, empty where all are 1), which
    is 0 of what is no document, or of the other part.
    """
    n, m = scores.size, rows.size
    best, lowest = keys[0], keys[m - 1]
    for j in range(_padded(n)):
        rest[0, j] = rest[1, j] = 0
    for i in range(m + LANES):
        head[0, i] = head[1, i] = 0
    if m < n:
        rest_score, rest_value, rest_weight = rest[2], rest[4], rest[5]
        for j in range(n):
            lowest = min(lowest, scores[j])
            rest_score[j] = sigma * (scores[j] - best)
            rest_value[j] = value[j]
            rest_weight[j] = relative[j] if relative.size else _ONE
    # In the padding, and for the head where the rest lies, the lowest score: no distance is ever negative.
    floor = np.float32(sigma * (lowest - best))
    for j in range(n, _padded(n)):
        rest[2, j], rest[5, j] = floor, 0
    for i in range(m, m + LANES):
        head[2, i], head[4, i], head[5, i] = floor, 0, 0
    for i in range(m):
        row = rows[i]
        head[2, i], head[4, i] = sigma * (keys[i] - best), value[row]
        head[5, i] = relative[row] if relative.size else _ONE
        rest[2, row], rest[5, row] = floor, 0
    return best > lowest


@kernel
def _add_query(weight, family, ceiling, n, m, n_rows, near, slope, rest, head, terms, sums, add_pairs):
    """All pairs with at least one of the first `n_rows` ranks; returns the sum of all |λ|.

    rest, head : as laid out, lambdas and hessians are added to · terms (6, …), sums (5,) : work
    space, row 4 of the terms is 0 · add_pairs : where `_add_pairs` is.
    """
    upper, share, lower, skipping, nothing, size = terms[0], terms[1], terms[2], terms[3], terms[4], terms[5]
    score, value, span = head[2], head[4, :m], _padded(n)
    rest_lower = head_terms(family, value, weight, upper[:m], share[:m], lower[:m])
    excess, room = clip_rule(value, weight, ceiling)
    lambda_size, a = 0.0, _TOP
    while a < n_rows:
        # As many rows as one base serves: further below, exponentials are lost in single precision.
        base, end, now, rest_now = score[a], a + 1, lower, rest_lower
        if share[a] == 0:
            if upper[a] == 0:  # nobody reads so far
                break
            now, rest_now = skipping, read_past(a, value, weight, upper[a], skipping)
            upper[a], share[a] = upper[a] * weight[a], 1.0
        else:
            while end < n_rows and share[end] != 0 and score[end] >= base - REACH:
                end += 1
        _exponentials(score[a : m + LANES], base, head[3, a : m + LANES])
        rows = a, end, near, slope, excess, room, upper, share
        call(add_pairs, *rows, now, head, head, m, _BELOW, sums, size)
        lambda_size += size[0]
        if m < n:
            for r in range(a, end):
                upper[r], share[r] = upper[r] - share[r] * rest_now, 0.0
            _exponentials(rest[2, :span], base, rest[3, :span])
            call(add_pairs, *rows, nothing, head, rest, n, _ALL, sums, size)
            lambda_size += size[0]
        a = end
    return lambda_size


@kernel(compact=True)
def lambda_gradients(
    first, last, scores, query_ptr, shuffle, place, query_weight, relative, value, weight, factor, family,
    ceiling, truncation, sigma, normalize, order, out_gradient, out_hessian, add_pairs,
):  # fmt: skip
    """Gradients and hessians of queries [first, last) by a closed form.

    shuffle, place (n_docs,) : rows of each query, counted from its first, in the order that breaks ties, and
    the inverse · query_weight (n_queries,) 0 for a query with nothing to learn · relative (n_docs,) what
    documents weigh beside it, or empty, where that is 1 · value (n_docs,) over the query's normalizer ·
    weight (depth,) of the ranks that count · factor (n_queries,) of Δ · order (n_docs,) the last ranking,
    from which the next one starts · add_pairs : where `_add_pairs` is.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, query_ptr[q + 1] - query_ptr[q])
    size = longest + 2 * LANES
    rest, head, terms = np.empty((6, size), np.float32), np.empty((6, size), np.float32), np.empty((6, size))
    keys, spare_keys, spare_rows = np.empty(size), np.empty(size), np.empty(size, np.int32)
    sums = np.empty(N_SUMS, np.float32)
    for row in range(6):
        for j in range(size):
            rest[row, j] = head[row, j] = terms[row, j] = 0
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        gradient, hessian = out_gradient[begin:end], out_hessian[begin:end]
        if query_weight[q] == 0:
            for j in range(gradient.size):
                gradient[j] = hessian[j] = 0
            continue
        n = end - begin
        depth = min(weight.size, n)
        m = depth if 2 * depth <= n else n  # ranking more than half takes as long as ranking all
        query_scores, rows = scores[begin:end], order[begin : begin + m]
        rank(query_scores, shuffle[begin:end], place[begin:end], rows, keys, spare_keys, spare_rows)
        of_query = relative[begin:end] if relative.size else relative
        differ = _lay_out(query_scores, value[begin:end], of_query, keys, rows, sigma, rest, head)
        near, slope, unit = _distance_rule(differ, sigma, normalize)
        unit *= factor[q]
        n_rows = min(truncation, depth)
        lambda_size = _add_query(
            weight, family, ceiling, n, m, n_rows, near, slope, rest, head, terms, sums, add_pairs
        )
        for i in range(m):
            rest[0, rows[i]], rest[1, rows[i]] = head[0, i], head[1, i]
        _write(rest[0], rest[1], lambda_size, unit, sigma, query_weight[q], normalize, gradient, hessian)


_INTEGER, _FLOAT, _SINGLE = types.int64, types.float64, types.float32
_PAIRS = (
    *(_INTEGER,) * 2, *(_SINGLE,) * 4, *(_FLOAT[::1],) * 3, *(_SINGLE[:, ::1],) * 2, *(_INTEGER,) * 2,
    _SINGLE[::1], _FLOAT[::1],
)  # fmt: skip
_GRADIENTS = (
    *(_INTEGER,) * 2, _FLOAT[::1], _INTEGER[::1], *(types.int32[::1],) * 2, _FLOAT[::1],
    *(_SINGLE[::1],) * 2, *(_FLOAT[::1],) * 2, _INTEGER, _FLOAT, _INTEGER, _FLOAT, types.boolean,
    types.int32[::1], *(_SINGLE[::1],) * 2, _INTEGER,
)  # fmt: skip
"""The types of arguments, as `lambda_gradients` is called by `LambdaObjective`."""


def compile_gradients() -> None:
    """Have the kernels of `lambda_gradients` compiled while there is other work."""
    compile_beside(lambda_gradients, *_GRADIENTS)
    compile_beside(_add_pairs, *_PAIRS)


@cache
def add_pairs_address() -> int:
    """Where `_add_pairs` is."""
    return address_of(_add_pairs, *_PAIRS)


@kernel
def delta_gradients(
    scores, rows, deltas, truncation, sigma, normalize, weight, relative, out_gradient, out_hessian
):  # fmt: skip
    """Gradients and hessians of one query by its swap deltas.

    rows (n,) documents, best first · deltas (n, n) by rank · scores and out_… (n,) by document · relative
    (n,) what documents weigh beside the query's weight, or empty, where that is 1.
    """
    n = scores.size
    near, slope, unit = _distance_rule(scores[rows[0]] > scores[rows[n - 1]], sigma, normalize)
    lambdas, hessians = np.zeros(n), np.zeros(n)
    lambda_size = 0.0
    for a in range(min(truncation, n)):
        for b in range(a + 1, n):
            high, low = rows[a], rows[b]
            distance = sigma * (scores[high] - scores[low])
            delta = deltas[a, b]
            if relative.size:
                delta *= relative[high] * relative[low]
            pair_lambda, pair_hessian = _pair_gradient(delta, np.exp(-distance), near + slope * distance)
            lambdas[low] += pair_lambda
            lambdas[high] -= pair_lambda
            hessians[low] += pair_hessian
            hessians[high] += pair_hessian
            lambda_size += abs(pair_lambda)
    _write(lambdas, hessians, lambda_size, unit, sigma, weight, normalize, out_gradient, out_hessian)
