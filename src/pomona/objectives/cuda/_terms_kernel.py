"""Terms of swap deltas on a GPU: those of `measures.closed_form`, products rounded before they are added."""

from __future__ import annotations

import numpy as np

from pomona._cuda import cuda, kernel, product

POSITION, PRECISION = 0, 1  # of measures.closed_form; the third is CASCADE


@kernel
def _weight_of(rank, weight):
    return weight[rank] if rank < weight.size else 0.0


@kernel
def _precision_terms(begin, m, value, weight, out):
    n_relevant, inverse = 0.0, 0.0
    for r in range(m):
        w = _weight_of(r, weight)
        relevant = 1.0 if value[begin + r] > 0 else 0.0
        n_relevant += relevant
        out[2, begin + r] = product(n_relevant, w) - inverse
        inverse += product(relevant, w)
        out[0, begin + r] = product(n_relevant + 1.0 - relevant, w) - inverse
        out[1, begin + r] = 1.0
    return -inverse


@kernel
def _cascade_terms(begin, m, value, weight, out):
    reading, stopped = 1.0, 0.0
    for r in range(m):
        w, chance = _weight_of(r, weight), np.float64(value[begin + r])
        reached = product(w, reading)
        out[2, begin + r] = stopped + reached
        stopped += product(reached, chance)
        if abs(1.0 - chance) < 1e-6:
            out[1, begin + r], out[0, begin + r] = 0.0, reading
        else:
            share = 1.0 / (1.0 - chance)
            out[1, begin + r], out[0, begin + r] = share, reached + product(stopped, share)
        reading = product(reading, 1.0 - chance)
    return stopped


@kernel
def head_terms(family, begin, m, value, weight, out):
    """Fill out[0:3, begin:] with upper, share and lower of the first m ranks, by the whole block.

    Returns `lower` of the rest, to the first thread.
    """
    t, rest_lower = cuda.threadIdx.x, 0.0
    if family == POSITION:
        for r in range(t, m, cuda.blockDim.x):
            w = _weight_of(r, weight)
            out[0, begin + r], out[1, begin + r], out[2, begin + r] = w, 1.0, w
    elif t == 0:
        if family == PRECISION:
            rest_lower = _precision_terms(begin, m, value, weight, out)
        else:
            rest_lower = _cascade_terms(begin, m, value, weight, out)
    return rest_lower


@kernel
def read_past(a, begin, m, value, weight, reading, out):
    """`lower` of the ranks below a as if the document at a were not there, by one thread."""
    between, passed = 0.0, 1.0
    for b in range(a + 1, m):
        reached, chance = product(_weight_of(b, weight), passed), np.float64(value[begin + b])
        out[3, begin + b] = product(reading, between + reached)
        between += product(reached, chance)
        passed = product(passed, 1.0 - chance)
    return product(reading, between)


@kernel
def clip_total(begin, m, value, weight):
    """The sum over the ranks that count, by one thread."""
    total = 0.0
    for r in range(min(m, weight.size)):
        total += product(np.float64(value[begin + r]), weight[r])
    return total
