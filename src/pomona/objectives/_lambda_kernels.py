"""Kernels of the lambda gradients: rank a query, then push the two documents of every pair apart.

All closed forms have one shape. When the documents at ranks a < b trade places, the measure changes by

    Δ_ab = (v_b − v_a) · (own_a − share_a · other_b)

where v is what a document is worth and the terms come from one walk down the ranking:

    position    own = w_a                           share = 1             other = w_b
    precision   own = (A_a + 1 − rel_a) / a − H_a   share = 1             other = A_b / b − H_{b−1}
    cascade     own = w_a P_a + C_a / (1 − R_a)     share = 1 / (1 − R_a) other = C_{b−1} + w_b P_b

A and H are the running sums of rel and rel / rank, P the chance of reading on to a rank, C the running sum
of w P R. Beyond the cut-off `other` is one number, so the order there does not matter: only documents down
to the cut-off are ranked (the *head*), the others are met where they lie (the *rest*).

Scores are kept as σ (score − best score), in single precision: near the top, where lambdas are large, nothing
is lost. Arrays that `_push` walks are padded to whole vectors with pairs that change nothing.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel

POSITION, PRECISION, CASCADE = 0, 1, 2

_LANES = 16
_LOWEST = np.float32(-126)
_LOG2_E = np.float32(1.4426950408889634)
_HALF, _ONE = np.float32(0.5), np.float32(1)
# 2^f ≈ 1 + f (c1 + f (c2 + …)) for |f| ≤ 1/2: least greatest relative error, 9e-8.
_C1, _C2, _C3 = np.float32(0.69314698), np.float32(0.24022242), np.float32(0.05550734)
_C4, _C5 = np.float32(0.00967151), np.float32(0.00132647)


@kernel(fastmath=True)
def _push(score, delta, below, near, slope, out_lambda, out_hessian):
    """Push one document against those ranked below it; the push on it, its hessian, the sum of all pushes.

    delta, below (scores), out_… (m,), m a multiple of the vector width. A pair's push is
    ρ Δ / (near + slope · distance), signed as it acts on the lower document; in e = exp(−distance) ≤ 1 it
    needs one division. The relative error of a push is below 1e-6.
    """
    own, own_hessian, pushed = np.float32(0), np.float32(0), np.float32(0)
    for j in range(delta.size // _LANES * _LANES):
        distance = score - below[j]
        exponent = max(-_LOG2_E * distance, _LOWEST)
        whole = np.int32(exponent - _HALF)
        f = exponent - np.float32(whole)
        power = _ONE + f * (_C1 + f * (_C2 + f * (_C3 + f * (_C4 + f * _C5))))
        e = power * np.int32((whole + np.int32(127)) << np.int32(23)).view(np.float32)
        both = _ONE + e
        part = delta[j] / (both * both * (near + slope * distance))
        # ρ is 1 / (1 + e) if the lower document should rise, e / (1 + e) if it stands right.
        push = part * both * (_ONE if part > 0 else e)
        bend = abs(part) * e
        out_lambda[j] += push
        out_hessian[j] += bend
        own += push
        own_hessian += bend
        pushed += abs(push)
    return own, own_hessian, pushed


@kernel
def _padded(n):
    return (n + _LANES - 1) // _LANES * _LANES


@kernel
def _select(scores, shuffle, out_keys, out_rows):
    """The best `out_rows.size` documents, best first; among equals, those earlier in `shuffle`."""
    m = out_rows.size
    for i in range(scores.size):
        row = shuffle[i]
        key = scores[row]
        j = min(i, m - 1)
        if i >= m and not key > out_keys[j]:
            continue
        while j > 0 and out_keys[j - 1] < key:
            out_keys[j], out_rows[j] = out_keys[j - 1], out_rows[j - 1]
            j -= 1
        out_keys[j], out_rows[j] = key, row


@kernel
def _sort(scores, shuffle, keys, rows, spare_keys, spare_rows):
    """All documents, best first, among equals in the order of `shuffle`: runs of 16, then merging."""
    n = scores.size
    for a in range(0, n, 16):
        for i in range(a, min(a + 16, n)):
            row = shuffle[i]
            key = scores[row]
            j = i
            while j > a and keys[j - 1] < key:
                keys[j], rows[j] = keys[j - 1], rows[j - 1]
                j -= 1
            keys[j], rows[j] = key, row
    width = 16
    while width < n:
        for a in range(0, n, 2 * width):
            middle, b = min(a + width, n), min(a + 2 * width, n)
            i, j = a, middle
            for t in range(a, b):
                if i < middle and (j >= b or not keys[i] < keys[j]):
                    spare_keys[t], spare_rows[t] = keys[i], rows[i]
                    i += 1
                else:
                    spare_keys[t], spare_rows[t] = keys[j], rows[j]
                    j += 1
        keys[:n], rows[:n] = spare_keys[:n], spare_rows[:n]
        width *= 2


@kernel
def rank(scores, shuffle, depth, keys, rows, spare_keys, spare_rows):
    """Rank at least `depth` documents and say how many; the others are not in `rows`."""
    n = scores.size
    m = depth if 2 * depth <= n else n
    if m < n or n <= 16:
        _select(scores, shuffle, keys[:m], rows[:m])
    else:
        _sort(scores, shuffle, keys, rows, spare_keys, spare_rows)
    return m


@kernel
def _position_terms(weight, out_own, out_share, out_other):
    for r in range(out_own.size):
        out_own[r] = out_other[r] = weight[r] if r < weight.size else 0.0
        out_share[r] = 1.0
    return 0.0


@kernel
def _precision_terms(value, weight, out_own, out_share, out_other):
    """weight (depth,) is 1 / rank."""
    found, inverse = 0.0, 0.0
    for r in range(value.size):
        w = weight[r] if r < weight.size else 0.0
        relevant = 1.0 if value[r] > 0 else 0.0
        found += relevant
        out_other[r] = found * w - inverse
        inverse += relevant * w
        out_own[r] = (found + 1.0 - relevant) * w - inverse
        out_share[r] = 1.0
    return -inverse


@kernel
def _cascade_terms(value, weight, out_own, out_share, out_other):
    """A document that satisfies (almost) for certain has share 0 and the chance that it is read as own."""
    reading, stopped = 1.0, 0.0
    for r in range(value.size):
        w = weight[r] if r < weight.size else 0.0
        chance = np.float64(value[r])
        out_other[r] = stopped + w * reading
        stopped += w * reading * chance
        if abs(1.0 - chance) < 1e-6:
            out_share[r], out_own[r] = 0.0, reading
        else:
            out_share[r] = 1.0 / (1.0 - chance)
            out_own[r] = w * reading + stopped * out_share[r]
        reading *= 1.0 - chance
    return stopped


@kernel
def _read_past(a, value, weight, reading, out_other):
    """`other` of the ranks below a as if the document at a were not there, where 1 / (1 − R_a) is no use."""
    between, passed = 0.0, 1.0
    for b in range(a + 1, value.size):
        w = weight[b] if b < weight.size else 0.0
        out_other[b] = reading * (between + w * passed)
        between += w * passed * value[b]
        passed *= 1.0 - value[b]
    return reading * between


@kernel
def _head_deltas(worth, own, share, value, other, excess, room, out):
    for b in range(value.size):
        out[b] = min((value[b] - worth) * np.float32(own - share * other[b]) + excess, room)
    for b in range(value.size, _padded(value.size)):
        out[b] = 0


@kernel
def _rest_deltas(worth, coefficient, value, unranked, excess, room, out):
    for j in range(value.size):
        out[j] = min((value[j] - worth) * coefficient + excess, room) * unranked[j]
    for j in range(value.size, _padded(value.size)):
        out[j] = 0


@kernel
def _write(lambdas, hessians, pushed, unit, sigma, weight, normalize, out_gradient, out_hessian):
    """To what was pushed, the factors that a whole query has in common; minus, as the loss is minimized."""
    factor, total = unit * weight, 2.0 * unit * pushed
    if normalize and total > 0:
        factor *= np.log2(1.0 + total) / total
    gradient_factor, hessian_factor = np.float32(-factor), np.float32(factor * sigma)
    for j in range(out_gradient.size):
        out_gradient[j] = gradient_factor * lambdas[j]
        out_hessian[j] = hessian_factor * hessians[j]


@kernel
def _distance_rule(differ, sigma, normalize):
    """(near, slope, unit) such that a push is unit · ρ Δ / (near + slope · σ |s_i − s_j|)."""
    if normalize and differ:
        return np.float32(0.01 * sigma), np.float32(1), sigma * sigma
    return np.float32(1), np.float32(0), sigma


@kernel
def _head_terms(family, value, weight, own, share, other):
    if family == POSITION:
        return _position_terms(weight, own, share, other)
    if family == PRECISION:
        return _precision_terms(value, weight, own, share, other)
    return _cascade_terms(value, weight, own, share, other)


@kernel
def _clip_rule(value, weight, ceiling):
    """(excess, room) such that min(Δ + excess, room) is the change of min(ceiling, sum)."""
    total = 0.0
    for r in range(min(value.size, weight.size)):
        total += value[r] * weight[r]
    return np.float32(max(total - ceiling, 0.0)), np.float32(max(ceiling - total, 0.0))


@kernel
def _push_query(
    scores, shuffle, value, weight, family, ceiling, truncation, sigma, normalize, singles, doubles, rows
):
    """Lambdas and hessians of one query into singles[0] and singles[1]; returns (Σ pushes, unit).

    singles (9, …) float32, doubles (6, …) float64, rows (2, …): room to work in.
    """
    n = scores.size
    depth = min(weight.size, n)
    m = rank(scores, shuffle, depth, doubles[0], rows[0], doubles[1], rows[1])
    lambdas, hessians, delta, rest_score, unranked = (
        singles[0],
        singles[1],
        singles[2],
        singles[3],
        singles[4],
    )
    head_score, head_value, head_lambda, head_hessian = singles[5], singles[6], singles[7], singles[8]
    keys, best, lowest = doubles[0], doubles[0, 0], doubles[0, m - 1]
    if m < n:
        for j in range(n):
            lowest = min(lowest, scores[j])
            rest_score[j] = sigma * (scores[j] - best)
            unranked[j] = 1
    floor = np.float32(sigma * (lowest - best))
    # Lowest scores in the padding, and for the head among the rest: no distance there is ever negative.
    rest_score[n : _padded(n)] = floor
    head_score[m : m + _LANES] = floor
    for i in range(m):
        row = rows[0, i]
        head_score[i], head_value[i] = sigma * (keys[i] - best), value[row]
        rest_score[row], unranked[row] = floor, 0
    lambdas[: _padded(n)] = hessians[: _padded(n)] = 0
    head_lambda[: m + _LANES] = head_hessian[: m + _LANES] = 0

    own, share, other, skipping = doubles[2], doubles[3], doubles[4], doubles[5]
    rest = _head_terms(family, head_value[:m], weight, own[:m], share[:m], other[:m])
    excess, room = _clip_rule(head_value[:m], weight, ceiling)
    near, slope, unit = _distance_rule(best > lowest, sigma, normalize)
    pushed = 0.0
    for a in range(min(truncation, depth)):
        own_a, share_a, other_a, rest_a = own[a], share[a], other, rest
        if share_a == 0:
            if own_a == 0:  # nobody reads so far
                break
            rest_a = _read_past(a, head_value[:m], weight, own_a, skipping)
            own_a, share_a, other_a = own_a * weight[a], 1.0, skipping
        worth, score = head_value[a], head_score[a]
        span = _padded(m - a - 1)
        _head_deltas(
            worth, own_a, share_a, head_value[a + 1 : m], other_a[a + 1 : m], excess, room, delta[:span]
        )
        end = a + 1 + span
        push, bend, size = _push(
            score, delta[:span], head_score[a + 1 : end], near, slope,
            head_lambda[a + 1 : end], head_hessian[a + 1 : end],
        )  # fmt: skip
        head_lambda[a] -= push
        head_hessian[a] += bend
        pushed += size
        if m < n:
            span = _padded(n)
            _rest_deltas(
                worth, np.float32(own_a - share_a * rest_a), value, unranked[:n], excess, room, delta[:span]
            )
            push, bend, size = _push(
                score, delta[:span], rest_score[:span], near, slope, lambdas[:span], hessians[:span]
            )
            head_lambda[a] -= push
            head_hessian[a] += bend
            pushed += size
    for i in range(m):
        lambdas[rows[0, i]], hessians[rows[0, i]] = head_lambda[i], head_hessian[i]
    return pushed, unit


@kernel
def push_queries(
    first, last, scores, query_ptr, shuffle, query_weight, value, weight, family, ceiling,
    truncation, sigma, normalize, out_gradient, out_hessian,
):  # fmt: skip
    """Gradients and hessians of queries [first, last) by a closed form.

    shuffle (n_docs,) rows of each query, counted from its first, in the order that breaks ties ·
    query_weight (n_queries,) 0 for a query without anything to learn · value (n_docs,) worth, divided by the
    query's normalizer · weight (depth,) of the ranks that count.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, query_ptr[q + 1] - query_ptr[q])
    room = longest + 2 * _LANES
    singles = np.zeros((9, room), np.float32)
    doubles, rows = np.empty((6, room)), np.empty((2, room), np.int32)
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        gradient, hessian = out_gradient[begin:end], out_hessian[begin:end]
        if query_weight[q] == 0:
            gradient[:] = 0
            hessian[:] = 0
            continue
        pushed, unit = _push_query(
            scores[begin:end], shuffle[begin:end], value[begin:end], weight, family, ceiling,
            truncation, sigma, normalize, singles, doubles, rows,
        )  # fmt: skip
        _write(singles[0], singles[1], pushed, unit, sigma, query_weight[q], normalize, gradient, hessian)


@kernel
def push_deltas(scores, rows, deltas, truncation, sigma, normalize, weight, out_gradient, out_hessian):
    """Gradients and hessians of one ranked query by its swap deltas.

    rows (n,) documents, best first · deltas (n, n) float32 by rank · scores and out_… (n,) by document.
    """
    n = scores.size
    room = n + 2 * _LANES
    ranked, lambdas, hessians = (
        np.empty(room, np.float32),
        np.zeros(room, np.float32),
        np.zeros(room, np.float32),
    )
    delta = np.zeros(room, np.float32)
    best, lowest = scores[rows[0]], scores[rows[n - 1]]
    for i in range(n):
        ranked[i] = sigma * (scores[rows[i]] - best)
    ranked[n:] = ranked[n - 1]
    near, slope, unit = _distance_rule(best > lowest, sigma, normalize)
    pushed = 0.0
    for a in range(min(truncation, n - 1)):
        span = _padded(n - a - 1)
        end = a + 1 + span
        delta[: n - a - 1] = deltas[a, a + 1 :]
        delta[n - a - 1 : span] = 0
        push, bend, size = _push(
            ranked[a], delta[:span], ranked[a + 1 : end], near, slope,
            lambdas[a + 1 : end], hessians[a + 1 : end],
        )  # fmt: skip
        lambdas[a] -= push
        hessians[a] += bend
        pushed += size
    by_document = np.empty((2, n), np.float32)
    for i in range(n):
        by_document[0, rows[i]], by_document[1, rows[i]] = lambdas[i], hessians[i]
    _write(by_document[0], by_document[1], pushed, unit, sigma, weight, normalize, out_gradient, out_hessian)
