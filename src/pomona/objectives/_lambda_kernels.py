"""Kernels of the lambda gradients: push the two documents of every pair of a ranked query apart.

Only documents down to the cut-off are ranked (the *head*); the others are met where they lie (the *rest*), as
their order does not matter. Swap deltas come from `_lambda_terms`.

Scores are kept as σ (score − best score) in single precision: near the top, where lambdas are large, nothing
is lost. One exponential a document is enough, as exp(s_b − s_a) = exp(s_b − base) / exp(s_a − base).
Arrays that pairs are walked in are padded to whole vectors with documents that are not pushed.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel
from pomona.objectives._lambda_terms import clip_rule, head_terms, read_past
from pomona.objectives._rank_kernel import rank_all, rank_head

_LANES = 16
_REACH = np.float32(40)
_NOT_LOWER = np.float32(-126)
_LOG2_E = np.float32(1.4426950408889634)
_HALF, _ONE = np.float32(0.5), np.float32(1)
# 2^f ≈ 1 + f (c1 + f (c2 + …)) for |f| ≤ 1/2: least greatest relative error, 9e-8.
_C1, _C2, _C3 = np.float32(0.69314698), np.float32(0.24022242), np.float32(0.05550734)
_C4, _C5 = np.float32(0.00967151), np.float32(0.00132647)


@kernel
def _padded(n):
    return (n + _LANES - 1) // _LANES * _LANES


@kernel
def _exponentials(scores, base, out):
    """exp(score − base) of scores not above base, never below 2^−126.

    The relative error stays below 1e-7 (2 + base − score), mostly from rounding the exponent.
    """
    for j in range(scores.size):
        exponent = max(_LOG2_E * (scores[j] - base), _NOT_LOWER)
        whole = np.int32(exponent - _HALF)
        f = exponent - np.float32(whole)
        power = _ONE + f * (_C1 + f * (_C2 + f * (_C3 + f * (_C4 + f * _C5))))
        out[j] = power * np.int32((whole + np.int32(127)) << np.int32(23)).view(np.float32)


@kernel
def _push_pair(delta, e, spread):
    """The push on the lower document and its hessian, e = exp(−distance); one division does for both.

    ρ is 1 / (1 + e) if the lower document should rise, e / (1 + e) if the two stand right.
    """
    both = _ONE + e
    part = delta / (both * both * spread)
    return part * both * (_ONE if part > 0 else e), abs(part) * e


@kernel(fastmath=True)
def _push_head(first, last, near, slope, excess, room, own, share, other, head):
    """Push ranks [first, last) against all ranks below them; returns the sum of all sizes of pushes.

    own, share, other (m,) terms of Δ · head (6, m + padding), see `_lay_out`.
    """
    m = own.size
    pushed = 0.0
    for a in range(first, last, 2):
        # Two rows at a time, as starting a vector loop is not free. Against itself a row's Δ is 0.
        b = min(a + 1, last - 1)
        begin, end = a + 1, a + 1 + _padded(m - a - 1)
        a_score, a_inverse, a_worth, a_own, a_share = (
            head[2, a],
            _ONE / head[3, a],
            head[4, a],
            own[a],
            share[a],
        )
        b_score, b_inverse, b_worth, b_own, b_share = (
            head[2, b],
            _ONE / head[3, b],
            head[4, b],
            own[b],
            share[b],
        )
        if b == a:
            b_own = b_share = 0.0
        lambdas, hessians, score = head[0, begin:end], head[1, begin:end], head[2, begin:end]
        power, value, counts = head[3, begin:end], head[4, begin:end], head[5, begin:end]
        below = other[begin:end]
        a_lambda, a_hessian, b_lambda = np.float32(0), np.float32(0), np.float32(0)
        b_hessian, size = np.float32(0), np.float32(0)
        for j in range(score.size // _LANES * _LANES):
            delta = min((value[j] - a_worth) * np.float32(a_own - a_share * below[j]) + excess, room)
            a_push, a_bend = _push_pair(
                delta * counts[j], power[j] * a_inverse, near + slope * (a_score - score[j])
            )
            delta = min((value[j] - b_worth) * np.float32(b_own - b_share * below[j]) + excess, room)
            b_push, b_bend = _push_pair(
                delta * counts[j], power[j] * b_inverse, near + slope * (b_score - score[j])
            )
            lambdas[j] += a_push + b_push
            hessians[j] += a_bend + b_bend
            a_lambda += a_push
            b_lambda += b_push
            a_hessian += a_bend
            b_hessian += b_bend
            size += abs(a_push) + abs(b_push)
        head[0, a] -= a_lambda
        head[1, a] += a_hessian
        head[0, b] -= b_lambda
        head[1, b] += b_hessian
        pushed += np.float64(size)
    return pushed


@kernel(fastmath=True)
def _push_rest(first, last, near, slope, coefficient, head, score, power, value, unranked, lambdas, hessians):
    """Push ranks [first, last) against the rest; returns the sum of all sizes of pushes.

    coefficient (m,) of (v_b − v_a) in Δ · score, … (n padded,) of the rest by document.
    """
    pushed = 0.0
    for a in range(first, last, 2):
        b = min(a + 1, last - 1)
        a_score, a_inverse, a_worth, a_own = head[2, a], _ONE / head[3, a], head[4, a], coefficient[a]
        b_score, b_inverse, b_worth, b_own = head[2, b], _ONE / head[3, b], head[4, b], coefficient[b]
        if b == a:
            b_own = np.float32(0)
        a_lambda, a_hessian, b_lambda = np.float32(0), np.float32(0), np.float32(0)
        b_hessian, size = np.float32(0), np.float32(0)
        for j in range(score.size // _LANES * _LANES):
            delta = (value[j] - a_worth) * a_own * unranked[j]
            a_push, a_bend = _push_pair(delta, power[j] * a_inverse, near + slope * (a_score - score[j]))
            delta = (value[j] - b_worth) * b_own * unranked[j]
            b_push, b_bend = _push_pair(delta, power[j] * b_inverse, near + slope * (b_score - score[j]))
            lambdas[j] += a_push + b_push
            hessians[j] += a_bend + b_bend
            a_lambda += a_push
            b_lambda += b_push
            a_hessian += a_bend
            b_hessian += b_bend
            size += abs(a_push) + abs(b_push)
        head[0, a] -= a_lambda
        head[1, a] += a_hessian
        head[0, b] -= b_lambda
        head[1, b] += b_hessian
        pushed += np.float64(size)
    return pushed


@kernel
def _distance_rule(differ, sigma, normalize):
    """(near, slope, unit) such that a push is unit · ρ Δ / (near + slope · σ |s_i − s_j|)."""
    if normalize and differ:
        return np.float32(0.01 * sigma), np.float32(1), sigma * sigma
    return np.float32(1), np.float32(0), sigma


@kernel
def _write(lambdas, hessians, pushed, unit, sigma, weight, normalize, out_gradient, out_hessian):
    """Pushes times the factors that a whole query has in common; minus, as the loss is minimized."""
    factor, total = unit * weight, 2.0 * unit * pushed
    if normalize and total > 0:
        factor *= np.log2(1.0 + total) / total
    gradient_factor, hessian_factor = np.float32(-factor), np.float32(factor * sigma)
    for j in range(out_gradient.size):
        out_gradient[j] = gradient_factor * lambdas[j]
        out_hessian[j] = hessian_factor * hessians[j]


@kernel
def _lay_out(scores, value, keys, rows, sigma, rest, head):
    """Scores and values of the head by rank and of the rest by document; returns whether scores differ.

    rest, head (6, …): lambda, hessian, score, power, value, unranked.
    """
    n, m = scores.size, rows.size
    best, lowest = keys[0], keys[m - 1]
    rest[:2, : _padded(n)] = 0
    head[:2, : m + _LANES] = 0
    if m < n:
        rest_score, rest_value, unranked = rest[2], rest[4], rest[5]
        for j in range(n):
            lowest = min(lowest, scores[j])
            rest_score[j] = sigma * (scores[j] - best)
            rest_value[j] = value[j]
            unranked[j] = 1
        unranked[n : _padded(n)] = 0
    # In the padding, and for the head where the rest lies, the lowest score: no distance is ever negative.
    floor = np.float32(sigma * (lowest - best))
    rest[2, n : _padded(n)] = floor
    head[2, m : m + _LANES] = floor
    head[4, m : m + _LANES] = 0
    head[5, :m] = 1
    head[5, m : m + _LANES] = 0
    for i in range(m):
        row = rows[i]
        head[2, i], head[4, i] = sigma * (keys[i] - best), value[row]
        rest[2, row], rest[5, row] = floor, 0
    return best > lowest


@kernel
def _push_query(weight, family, ceiling, n, m, n_rows, near, slope, rest, head, terms, coefficient):
    """All pairs with at least one of the first `n_rows` ranks; returns the sum of all sizes of pushes.

    rest, head : as laid out, lambdas and hessians are added to · terms (4, …), coefficient (…,) : work space.
    """
    own, share, other, skipping = terms[0], terms[1], terms[2], terms[3]
    score, value, span = head[2], head[4, :m], _padded(n)
    rest_other = head_terms(family, value, weight, own[:m], share[:m], other[:m])
    excess, room = clip_rule(value, weight, ceiling)
    pushed, a = 0.0, np.int64(0)  # numba types a plain 0 apart, and would compile all below twice
    while a < n_rows:
        # As many rows as one base serves: further below, exponentials are lost in single precision.
        base, end, now, rest_now = score[a], a + 1, other, rest_other
        if share[a] == 0:
            if own[a] == 0:  # nobody reads so far
                break
            now, rest_now = skipping, read_past(a, value, weight, own[a], skipping)
            own[a], share[a] = own[a] * weight[a], 1.0
        else:
            while end < n_rows and share[end] != 0 and score[end] >= base - _REACH:
                end += 1
        _exponentials(score[a : m + _LANES], base, head[3, a : m + _LANES])
        pushed += _push_head(a, end, near, slope, excess, room, own[:m], share[:m], now, head)
        if m < n:
            for r in range(a, end):
                coefficient[r] = own[r] - share[r] * rest_now
            rest_score, power = rest[2, :span], rest[3, :span]
            _exponentials(rest_score, base, power)
            pushed += _push_rest(
                a, end, near, slope, coefficient, head, rest_score, power,
                rest[4, :span], rest[5, :span], rest[0, :span], rest[1, :span],
            )  # fmt: skip
        a = end
    return pushed


@kernel
def push_queries(
    first, last, scores, query_ptr, shuffle, place, query_weight, value, weight, family, ceiling,
    truncation, sigma, normalize, order, out_gradient, out_hessian,
):  # fmt: skip
    """Gradients and hessians of queries [first, last) by a closed form.

    shuffle, place (n_docs,) : rows of each query, counted from its first, in the order that breaks ties, and
    the inverse · query_weight (n_queries,) 0 for a query with nothing to learn · value (n_docs,) worth over
    the query's normalizer · weight (depth,) of the ranks that count · order (n_docs,) the last ranking,
    from which the next one starts.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, query_ptr[q + 1] - query_ptr[q])
    size = longest + 2 * _LANES
    rest, head = np.zeros((6, size), np.float32), np.zeros((6, size), np.float32)
    keys, spare_keys, spare_rows = np.empty(size), np.empty(size), np.empty(size, np.int32)
    terms, coefficient = np.zeros((4, size)), np.empty(size, np.float32)
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        gradient, hessian = out_gradient[begin:end], out_hessian[begin:end]
        if query_weight[q] == 0:
            gradient[:] = 0
            hessian[:] = 0
            continue
        n = end - begin
        depth = min(weight.size, n)
        # Half of the ranks cost as much as all of them; and a ceiling is kept to in the head alone.
        m = depth if 2 * depth <= n and ceiling == np.inf else n
        own_scores, rows = scores[begin:end], order[begin : begin + m]
        if m < n:
            rank_head(own_scores, shuffle[begin:end], rows, keys[:m], spare_rows)
        else:
            rank_all(own_scores, place[begin:end], rows, keys, spare_keys, spare_rows)
        differ = _lay_out(own_scores, value[begin:end], keys, rows, sigma, rest, head)
        near, slope, unit = _distance_rule(differ, sigma, normalize)
        n_rows = min(truncation, depth)
        pushed = _push_query(
            weight, family, ceiling, n, m, n_rows, near, slope, rest, head, terms, coefficient
        )
        for i in range(m):
            rest[0, rows[i]], rest[1, rows[i]] = head[0, i], head[1, i]
        _write(rest[0], rest[1], pushed, unit, sigma, query_weight[q], normalize, gradient, hessian)


@kernel
def push_deltas(scores, rows, deltas, truncation, sigma, normalize, weight, out_gradient, out_hessian):
    """Gradients and hessians of one query by its swap deltas.

    rows (n,) documents, best first · deltas (n, n) by rank · scores and out_… (n,) by document.
    """
    n = scores.size
    near, slope, unit = _distance_rule(scores[rows[0]] > scores[rows[n - 1]], sigma, normalize)
    lambdas, hessians = np.zeros(n), np.zeros(n)
    pushed = 0.0
    for a in range(min(truncation, n)):
        for b in range(a + 1, n):
            high, low = rows[a], rows[b]
            distance = sigma * (scores[high] - scores[low])
            push, bend = _push_pair(deltas[a, b], np.exp(-distance), near + slope * distance)
            lambdas[low] += push
            lambdas[high] -= push
            hessians[low] += bend
            hessians[high] += bend
            pushed += abs(push)
    _write(lambdas, hessians, pushed, unit, sigma, weight, normalize, out_gradient, out_hessian)
