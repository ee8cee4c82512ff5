"""Smoothed measures as the formulas have them (Chapelle & Wu 2010), for one query without tied scores."""

import math


def held(values, scores, sigma):
    """What each rank holds of the values: Σ_i v_i h_ij."""
    out = []
    for center in sorted(scores, reverse=True):
        near = [math.exp(-((s - center) ** 2) / sigma) for s in scores]
        out.append(sum(n * v for n, v in zip(near, values, strict=True)) / sum(near))
    return out


def position(values, scores, sigma, weight):
    """Σ_j w(j) v̄_j."""
    return sum(w * v for w, v in zip(weight, held(values, scores, sigma), strict=False))


def average_precision(relevant, scores, sigma, depth):
    """(1/R) Σ_j v̄_j (v̄_1 + … + v̄_j) / j."""
    soft = held(relevant, scores, sigma)[:depth]
    return sum(v * sum(soft[: j + 1]) / (j + 1) for j, v in enumerate(soft)) / sum(relevant)


def cascade(satisfies, scores, sigma, weight):
    """Σ_j w(j) v̄_j Π_{t<j} (1 − v̄_t)."""
    total, reading = 0.0, 1.0
    for w, v in zip(weight, held(satisfies, scores, sigma), strict=False):
        total += w * v * reading
        reading *= 1 - v
    return total
