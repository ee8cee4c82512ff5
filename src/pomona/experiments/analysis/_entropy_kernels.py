"""Kernels of `informative`: the distribution of largest entropy with a given value of a measure.

A list has n documents, count_ζ of each grade ζ. P_nζ is the chance that rank n holds grade ζ. Of all P with

    Σ_ζ P_nζ = 1,     Σ_n P_nζ = count_ζ,     Σ_n Σ_ζ v_ζ w_n P_nζ = target

the one of largest entropy is P_nζ ∝ exp(μ_ζ + λ v_ζ w_n), where μ and λ minimize the convex dual

    Σ_n ln Σ_ζ exp(μ_ζ + λ v_ζ w_n) − Σ_ζ μ_ζ count_ζ − λ target          by Newton's method.

Average precision is quadratic in p_n, the chance that rank n is relevant. Stationary points fulfil

    ln(p_n / (1 − p_n)) = μ + (λ/R) c_n(p),     c_n(p) = (1 + Σ_{j<n} p_j) / n + Σ_{m>n} p_m / m,

Σ p = R, and Σ p_n (1 + Σ_{j<n} p_j) / n = R · AP: again Newton's method, in the logits, from p = R/N and
λ = 0 on, its steps held back so that it follows the path of rising |λ|. The matrix of a step is a diagonal
minus (λ/R) / max(n, m), which one sweep up and one down the list eliminate: 1,000 documents take about 1 ms.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel

LARGEST = 1e4
"""Of |λ|: at the largest and least possible value it would be infinite."""
_TOLERANCE = 1e-11
_MOST_STEPS = 200
_LONGEST = 0.5
"""By how much a logit may change in a step: one that is too long leaves the path for a worse one."""


@kernel
def _chances(value, weight, theta, out):
    """Fill out (n, G) with P; returns Σ_n ln Σ_ζ exp(…). theta (G,) : μ of grades but the first, then λ."""
    n_grades, total = value.size, 0.0
    slope = theta[n_grades - 1]
    for n in range(weight.size):
        highest = slope * value[0] * weight[n]
        out[n, 0] = highest
        for g in range(1, n_grades):
            out[n, g] = theta[g - 1] + slope * value[g] * weight[n]
            highest = max(highest, out[n, g])
        norm = 0.0
        for g in range(n_grades):
            out[n, g] = np.exp(out[n, g] - highest)
            norm += out[n, g]
        for g in range(n_grades):
            out[n, g] /= norm
        total += highest + np.log(norm)
    return total


@kernel
def _slopes(value, count, weight, target, chance, out_gradient, out_hessian):
    """The first and second derivatives of the dual by theta."""
    last = value.size - 1
    out_gradient[:last], out_gradient[last] = -count[1:], -target
    out_hessian[:] = 0.0
    for n in range(weight.size):
        mean, square = 0.0, 0.0
        for g in range(last + 1):
            mean += value[g] * chance[n, g]
            square += value[g] * value[g] * chance[n, g]
        out_gradient[last] += weight[n] * mean
        out_hessian[last, last] += weight[n] * weight[n] * (square - mean * mean)
        for g in range(1, last + 1):
            p = chance[n, g]
            out_gradient[g - 1] += p
            out_hessian[g - 1, last] += weight[n] * p * (value[g] - mean)
            out_hessian[g - 1, g - 1] += p
            for h in range(1, last + 1):
                out_hessian[g - 1, h - 1] -= p * chance[n, h]
    out_hessian[last, :last] = out_hessian[:last, last]


@kernel
def _solve(matrix, right):
    """Overwrite `right` with the solution, a little towards 0 where the matrix is nearly singular."""
    n = right.size
    for i in range(n):
        matrix[i, i] = matrix[i, i] * (1 + 1e-12) + 1e-14
    for i in range(n):
        for j in range(i + 1, n):
            share = matrix[j, i] / matrix[i, i]
            matrix[j, i:] -= share * matrix[i, i:]
            right[j] -= share * right[i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            right[i] -= matrix[i, j] * right[j]
        right[i] /= matrix[i, i]


@kernel
def fit_chances(value, count, weight, target, theta, out):
    """The P of largest entropy.

    value, count (G,) of grades · weight (n,) of ranks · theta (G,) start, then solution · out (n, G).
    """
    size = value.size
    gradient, hessian, trial = np.empty(size), np.empty((size, size)), np.empty(size)
    linear = np.empty(size)
    linear[: size - 1], linear[size - 1] = count[1:], target
    scale = max(1.0, abs(target))
    dual = _chances(value, weight, theta, out) - (theta * linear).sum()
    for _ in range(_MOST_STEPS):
        _slopes(value, count, weight, target, out, gradient, hessian)
        if theta[size - 1] == (-LARGEST if gradient[size - 1] > 0 else LARGEST):  # λ stays there
            gradient[size - 1], hessian[size - 1] = 0.0, 0.0
            hessian[: size - 1, size - 1] = 0.0
        if np.abs(gradient).max() <= _TOLERANCE * scale * weight.size:
            return
        trial[:] = gradient
        _solve(hessian, gradient)
        step, slope = 1.0, -(trial * gradient).sum()
        start = theta.copy()
        while True:
            theta[:] = start - step * gradient
            theta[size - 1] = min(max(theta[size - 1], -LARGEST), LARGEST)
            now = _chances(value, weight, theta, out) - (theta * linear).sum()
            if now <= dual + 1e-4 * step * slope or -slope < 1e-13 * (1.0 + abs(dual)):
                break
            step *= 0.5
        if now >= dual:
            return
        dual = now


@kernel
def _precision_slopes(p, out):
    """Fill out (n,) with c, the derivatives of R · AP by each p; returns R · AP."""
    below = 0.0
    for n in range(p.size - 1, -1, -1):
        out[n] = below
        below += p[n] / (n + 1)
    above, total = 0.0, 0.0
    for n in range(p.size):
        out[n] += (1.0 + above) / (n + 1)
        total += p[n] * (1.0 + above) / (n + 1)
        above += p[n]
    return total


@kernel
def _eliminate(inverse, pull, right, out):
    """Solve x_n · inverse_n − pull · (A_n / n + B_n) = right_n for three right-hand sides at once.

    A_n is the sum of x_j before n, B_n that of x_m / m after it. Going up, B_n = g A_{n+1} + h; going down,
    A_n is known.  inverse (n,) · right, out (n, 3)
    """
    n_docs = inverse.size
    growth, constant = np.empty(n_docs), np.empty((n_docs, 3))
    g, h0, h1, h2 = 0.0, 0.0, 0.0, 0.0
    for n in range(n_docs - 1, -1, -1):
        share = g + 1.0 / (n + 1)
        pivot = 1.0 / (inverse[n] - pull * g)
        growth[n] = pull * share * pivot
        constant[n, 0] = (right[n, 0] + pull * h0) * pivot
        constant[n, 1] = (right[n, 1] + pull * h1) * pivot
        constant[n, 2] = (right[n, 2] + pull * h2) * pivot
        g += growth[n] * share
        h0 += constant[n, 0] * share
        h1 += constant[n, 1] * share
        h2 += constant[n, 2] * share
    a0, a1, a2 = 0.0, 0.0, 0.0
    for n in range(n_docs):
        out[n, 0] = constant[n, 0] + growth[n] * a0
        out[n, 1] = constant[n, 1] + growth[n] * a1
        out[n, 2] = constant[n, 2] + growth[n] * a2
        a0 += out[n, 0]
        a1 += out[n, 1]
        a2 += out[n, 2]


@kernel
def _follow(n_relevant, average_precision, logit, mu, pull, out):
    """From a stationary point, with pull = λ / R, along the path to the one with this expected AP."""
    n_docs, slopes = out.size, np.empty(out.size)
    inverse, right, x = np.empty(n_docs), np.empty((n_docs, 3)), np.empty((n_docs, 3))
    for _ in range(_MOST_STEPS):
        for n in range(n_docs):
            out[n] = 1.0 / (1.0 + np.exp(-logit[n]))
        missing = n_relevant - out.sum()
        lacking = n_relevant * average_precision - _precision_slopes(out, slopes)
        off = 0.0
        for n in range(n_docs):
            # p (1 − p) without loss where p is nearly 1; bounded, so that its inverse is finite.
            spread = max(out[n] / (1.0 + np.exp(logit[n])), 1e-30)
            inverse[n] = 1.0 / spread
            right[n, 0], right[n, 1] = 1.0, slopes[n]
            right[n, 2] = mu + pull * slopes[n] - logit[n]
            off = max(off, abs(right[n, 2]) * spread)
        if max(off, abs(missing), abs(lacking)) < 1e-10 * n_relevant:
            return pull * n_relevant
        _eliminate(inverse, pull, right, x)
        ones, on_slopes, rest = x[:, 0].sum(), x[:, 1].sum(), x[:, 2].sum()
        by_one, by_slopes = (slopes * x[:, 0]).sum(), (slopes * x[:, 1]).sum()
        by_rest = (slopes * x[:, 2]).sum()
        determinant = ones * by_slopes - on_slopes * by_one
        if determinant == 0:
            return np.nan
        # A step back onto the path, and one along it, no longer than one can see.
        mu_back = ((missing - rest) * by_slopes + by_rest * on_slopes) / determinant
        pull_back = (-by_rest * ones - (missing - rest) * by_one) / determinant
        mu_along, pull_along = -lacking * on_slopes / determinant, lacking * ones / determinant
        share, share_back = 1.0, 1.0
        for n in range(n_docs):
            along = (mu_along * x[n, 0] + pull_along * x[n, 1]) * inverse[n]
            back = (x[n, 2] + mu_back * x[n, 0] + pull_back * x[n, 1]) * inverse[n]
            longest = _LONGEST + 0.5 * max(abs(logit[n]) - 4.0, 0.0)  # a chance near 0 or 1 may go far
            share = min(share, longest / max(abs(along), 1e-9))
            share_back = min(share_back, longest / max(abs(back), 1e-9))
            x[n, 0], x[n, 2] = along, back
        for n in range(n_docs):
            logit[n] += share * x[n, 0] + share_back * x[n, 2]
        mu += share * mu_along + share_back * mu_back
        pull += share * pull_along + share_back * pull_back
    return np.nan


@kernel
def fit_precision(n_relevant, average_precision, out):
    """Fill out (n,) with the p of largest entropy and this expected AP; returns λ, NaN if none was found.

    Of a few relevant documents at the very end of a long list, the path to the value may have a gap.
    """
    first = out.size - n_relevant
    least = 0.0
    for i in range(n_relevant):
        least += (i + 1) / (first + i + 1) / n_relevant
    if average_precision > 1.0 - 1e-12 or average_precision < least + 1e-12:  # only one order has this value
        is_best = average_precision > least + 1e-12
        out[:] = 0.0
        if is_best:
            out[:n_relevant] = 1.0
        else:
            out[first:] = 1.0
        return LARGEST if is_best else -LARGEST
    mu = np.log(n_relevant / first)
    return _follow(n_relevant, average_precision, np.full(out.size, mu), mu, 0.0, out)


@kernel
def infer_positions(first, last, codes, query_ptr, value, is_relevant, weight, target, out, out_lambda):
    """Chances of relevance of lists [first, last) by a sum over ranks.

    value, is_relevant (n_levels,) · weight (depth,) · target (n_queries,) the sums · out (n_docs,)
    """
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        count = np.zeros(value.size)
        for i in range(begin, end):
            count[codes[i]] += 1
        present = np.flatnonzero(count)
        weights = np.zeros(end - begin)
        depth = min(end - begin, weight.size)
        weights[:depth] = weight[:depth]
        chance, theta = np.empty((end - begin, present.size)), np.zeros(present.size)
        for g in range(1, present.size):
            theta[g - 1] = np.log(count[present[g]] / count[present[0]])
        if present.size > 1:
            fit_chances(value[present], count[present], weights, target[q], theta, chance)
        else:
            chance[:] = 1.0
        out_lambda[q] = theta[present.size - 1]
        out[begin:end] = 0.0
        for g in range(present.size):
            if is_relevant[present[g]]:
                out[begin:end] += chance[:, g]


@kernel
def infer_precisions(first, last, query_ptr, n_relevant, average_precision, out, out_lambda):
    """Chances of relevance of lists [first, last) by average precision: out (n_docs,)."""
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        if 0 < n_relevant[q] < end - begin:
            out_lambda[q] = fit_precision(n_relevant[q], average_precision[q], out[begin:end])
        else:
            out[begin:end] = n_relevant[q] / max(end - begin, 1)
            out_lambda[q] = 0.0


@kernel
def curve_errors(first, last, query_ptr, is_relevant, chance, n_top, out):
    """Of lists [first, last), how far the inferred precision–recall curve is from the actual one.

    is_relevant, chance (n_docs,) by rank · out (n_queries, 4) root mean square and mean absolute error over
    the recalls k/R, then actual and inferred precision of the first n_top.
    """
    for q in range(first, last):
        begin, n_docs = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
        squares, sizes, found, actual, inferred = 0.0, 0.0, 0, 0.0, 0.0
        # The inferred curve between (before, recall times R) at rank `at` − 1 and (now) at rank `at`.
        before, now, at = 0.0, chance[begin] if n_docs > 0 else 0.0, 1
        for n in range(n_docs):
            if n < n_top:
                actual += is_relevant[begin + n]
                inferred += chance[begin + n]
            if is_relevant[begin + n]:
                found += 1
                while now < found and at < n_docs:
                    before = now
                    now += chance[begin + at]
                    at += 1
                share = (found - before) / (now - before) if now > before else 1.0
                last_precision = before / (at - 1) if at > 1 else now
                precision = last_precision + min(share, 1.0) * (now / at - last_precision)
                error = precision - found / (n + 1)
                squares += error * error
                sizes += abs(error)
        n_found = max(found, 1)
        out[q, 0], out[q, 1] = np.sqrt(squares / n_found), sizes / n_found
        out[q, 2], out[q, 3] = actual / n_top, inferred / n_top
