"""The squared hinge over pairs, pair by pair; and FenchelRank's steps as published, on all pairs at once."""

import itertools

import numpy as np


def pairs(labels, query_ptr):
    """(better, worse) rows of every pair of a query with different labels, and its query."""
    return [
        (i, j, q)
        for q in range(len(query_ptr) - 1)
        for i in range(query_ptr[q], query_ptr[q + 1])
        for j in range(query_ptr[q], query_ptr[q + 1])
        if labels[i] > labels[j]
    ]


def hinge(labels, query_ptr, scores, weights=None):
    """(value, gradient by the scores)."""
    value, gradient, total = 0.0, [0.0] * len(scores), 0.0
    for i, j, q in pairs(labels, query_ptr):
        weight = 1.0 if weights is None else weights[q]
        lack = max(0.0, 1.0 - scores[i] + scores[j])
        value += weight * lack**2
        gradient[i] -= 2 * weight * lack
        gradient[j] += 2 * weight * lack
        total += weight
    return value / total, [g / total for g in gradient]


def differences(X, labels, query_ptr):
    """The matrix K of the paper: a row x_i − x_j for every pair."""
    found = pairs(labels, query_ptr)
    return X[[i for i, _, _ in found]].astype(float) - X[[j for _, j, _ in found]]


def fenchel_rank(K, radius, tolerance, max_iterations):
    """Lai et al. 2013: (weights, objective at every step, last duality gap)."""
    w, margins, values = np.zeros(K.shape[1]), np.zeros(len(K)), []
    for _ in range(max_iterations):
        dual = 2 * radius**2 / len(K) * np.maximum(0, 1 / radius - margins)
        values.append(radius**2 * np.mean(np.maximum(0, 1 / radius - margins) ** 2))
        pull = K.T @ dual
        j = int(np.argmax(np.abs(pull)))
        sign = np.sign(pull[j])
        gap = abs(pull[j]) - dual @ margins
        if gap <= tolerance:
            break
        a, b = sign * K[:, j] - margins, 1 / radius - margins
        step = _best_step(a, b)
        w *= 1 - step
        w[j] += step * sign
        margins = (1 - step) * margins + step * sign * K[:, j]
    return radius * w, values, gap


def _best_step(a, b):
    """The step of [0, 1] that minimizes Σ max(0, b − step·a)², a quadratic between breakpoints b / a."""
    with np.errstate(divide="ignore", invalid="ignore"):
        breaks = b / a
    ends = np.unique(np.concatenate(([0.0, 1.0], breaks[(breaks > 0) & (breaks < 1)])))
    candidates = list(ends)
    for low, high in itertools.pairwise(ends):
        active = b - (low + high) / 2 * a > 0
        if (a[active] ** 2).sum() > 0:
            candidates.append(np.clip((a * b)[active].sum() / (a[active] ** 2).sum(), low, high))
    return min(candidates, key=lambda step: (np.maximum(0, b - step * a) ** 2).sum())
