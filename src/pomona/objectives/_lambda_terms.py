"""Kernels of the swap deltas: all closed forms have one shape, and differ in three terms a rank.

When the documents at ranks a < b trade places, the measure changes by

    Δ_ab = (v_b − v_a) · (own_a − share_a · other_b)

where v is the value of a document and the terms come from one walk down the ranking:

    position    upper = w_a                           share = 1               lower = w_b
    precision   upper = (A_a + 1 − rel_a) / a − H_a   share = 1               lower = A_b / b − H_{b−1}
    cascade     upper = w_a P_a + C_a / (1 − R_a)     share = 1 / (1 − R_a)   lower = C_{b−1} + w_b P_b

A and H are the running sums of rel and rel / rank, P the chance of reading on to a rank, C the running sum
of w P R. Beyond the cut-off w is 0 and `lower` is one number, so the order there does not matter.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel
from pomona.measures.closed_form import POSITION, PRECISION


@kernel
def _position_terms(weight, out_upper, out_share, out_lower):
    for r in range(out_upper.size):
        out_upper[r] = out_lower[r] = weight[r] if r < weight.size else 0.0
        out_share[r] = 1.0
    return 0.0


@kernel
def _precision_terms(value, weight, out_upper, out_share, out_lower):
    """weight (depth,) is 1 / rank."""
    n_relevant, inverse = 0.0, 0.0
    for r in range(value.size):
        w = weight[r] if r < weight.size else 0.0
        relevant = 1.0 if value[r] > 0 else 0.0
        n_relevant += relevant
        out_lower[r] = n_relevant * w - inverse
        inverse += relevant * w
        out_upper[r] = (n_relevant + 1.0 - relevant) * w - inverse
        out_share[r] = 1.0
    return -inverse


@kernel
def _cascade_terms(value, weight, out_upper, out_share, out_lower):
    """A document that satisfies (almost) for certain has share 0, and the chance that it is read as upper."""
    reading, stopped = 1.0, 0.0
    for r in range(value.size):
        w = weight[r] if r < weight.size else 0.0
        chance = np.float64(value[r])
        out_lower[r] = stopped + w * reading
        stopped += w * reading * chance
        if abs(1.0 - chance) < 1e-6:
            out_share[r], out_upper[r] = 0.0, reading
        else:
            out_share[r] = 1.0 / (1.0 - chance)
            out_upper[r] = w * reading + stopped * out_share[r]
        reading *= 1.0 - chance
    return stopped


@kernel
def head_terms(family, value, weight, out_upper, out_share, out_lower):
    """Fill the terms of the head's ranks; returns `lower` of the rest."""
    if family == POSITION:
        return _position_terms(weight, out_upper, out_share, out_lower)
    if family == PRECISION:
        return _precision_terms(value, weight, out_upper, out_share, out_lower)
    return _cascade_terms(value, weight, out_upper, out_share, out_lower)


@kernel
def read_past(a, value, weight, reading, out_lower):
    """`lower` of the ranks below a as if the document at a were not there, where 1 / (1 − R_a) is no use."""
    between, passed = 0.0, 1.0
    for b in range(a + 1, value.size):
        w = weight[b] if b < weight.size else 0.0
        out_lower[b] = reading * (between + w * passed)
        between += w * passed * value[b]
        passed *= 1.0 - value[b]
    return reading * between


@kernel
def clip_rule(value, weight, ceiling):
    """(excess, room) such that min(Δ + excess, room) is the change of min(sum, ceiling)."""
    total = 0.0
    for r in range(min(value.size, weight.size)):
        total += value[r] * weight[r]
    return np.float32(max(total - ceiling, 0.0)), np.float32(max(ceiling - total, 0.0))
