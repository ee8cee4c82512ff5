"""Learning automata: actions chosen by probabilities that feedback moves (Narendra & Thathachar 1989).

    reward of action i      p_i ← p_i + a (1 − p_i),   p_j ← (1 − a) p_j
    penalty of action i     p_i ← (1 − b) p_i,         p_j ← b / (r − 1) + (1 − b) p_j

Where only a subset of the actions is available, its probabilities are scaled to sum to 1, chosen by, updated,
and scaled back: the others keep theirs (a *variable action set*, Thathachar & Harita 1987). Either way all
probabilities stay within [0, 1] and sum to 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona._splitmix import word_of
from pomona._types import Labels, Offsets, Values
from pomona.errors import NothingToLearnError


@kernel
def random_number(seed, k):
    """The k-th number of [0, 1) of a seed (uint64)."""
    return np.float64(np.int64(word_of(seed, np.uint64(k)) >> np.uint64(11))) / (1 << 53)


@kernel
def available_mass(probability, available):
    """The summed probability of the actions that can be chosen."""
    total = 0.0
    for i in range(probability.size):
        if available[i]:
            total += probability[i]
    return total


@kernel
def choose(probability, available, u):
    """An available action, drawn by a random number u of [0, 1)."""
    left = u * available_mass(probability, available)
    chosen = -1
    for i in range(probability.size):
        if available[i]:
            chosen = i
            left -= probability[i]
            if left < 0.0:
                break
    return chosen


@kernel
def reward(probability, available, i, a):
    """Action i did well: it gains the share a of what the other available actions have."""
    mass = available_mass(probability, available)
    for j in range(probability.size):
        if available[j]:
            probability[j] *= 1.0 - a
    probability[i] += a * mass


@kernel
def penalize(probability, available, i, b):
    """Action i did badly: it loses the share b, which the other available actions divide evenly."""
    mass, n_available = available_mass(probability, available), 0
    for j in range(probability.size):
        n_available += available[j]
    if n_available < 2:
        return
    for j in range(probability.size):
        if available[j]:
            probability[j] *= 1.0 - b
            if j != i:
                probability[j] += b * mass / (n_available - 1)


def relative_gains(
    labels: Labels, query_ptr: Offsets, weights: Values, counts: NDArray[np.bool_] | None = None
) -> tuple[Values, Values]:
    """What a user makes of documents: (gains 2^label − 1 as shares of the highest, weights of the queries).

    A query without any gain gets the weight 0: whatever is shown, nothing is learnt from it. A document that
    does not count has no gain.

    >>> relative_gains(np.array([2, 1, 0], np.float32), np.array([0, 2, 3]), np.ones(2))
    (array([1.        , 0.33333333, 0.        ]), array([1., 0.]))
    """
    grades = np.maximum(labels.astype(np.float64), 0.0)
    if counts is not None:
        grades = np.where(counts, grades, 0.0)
    top = grades.max()
    gain = np.exp2(grades - top) - np.exp2(-top)  # divided by 2^top, so that no label is too large
    counted = np.where(np.maximum.reduceat(gain, query_ptr[:-1]) > 0, weights, 0.0)
    if not counted.any():
        raise NothingToLearnError("no query that counts has a relevant document (label above 0)")
    return gain / gain.max(), counted
