"""Ranks of numbers, and two tests by them.

SciPy has both; but `scipy.stats` takes 0.4 s to load, as long as all else that a comparison computes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import chdtrc, ndtr

from pomona._types import Values


def mean_ranks(values: Values) -> tuple[Values, Values]:
    """The ranks of numbers from 1, equal ones at their mean; and how many each is equal to, itself included.

    >>> ranks, equals = mean_ranks(np.array([5.0, 7.0, 5.0]))
    >>> ranks.tolist(), equals.tolist()
    ([1.5, 3.0, 1.5], [2.0, 1.0, 2.0])
    """
    ordered = np.sort(values)
    below, up_to = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return (below + up_to + 1) / 2, (up_to - below).astype(np.float64)


def exact_wilcoxon(d: Values) -> float:
    """p of Wilcoxon's signed-rank test, two-sided, of a few numbers without zeros and ties.

    >>> exact_wilcoxon(np.array([1.0, 2.0, 3.0]))  # 1 of the 8 patterns of signs, doubled
    0.25
    """
    n, (ranks, _) = len(d), mean_ranks(np.abs(d))
    patterns = np.ones(1)  # how many have each sum of ranks
    for rank in range(1, n + 1):
        patterns = np.append(patterns, np.zeros(rank)) + np.append(np.zeros(rank), patterns)
    rarer = int(min(ranks[d > 0].sum(), ranks[d < 0].sum()))
    return min(1.0, float(2 * patterns[: rarer + 1].sum() / 2**n))


def normal_wilcoxon(d: Values) -> float:
    """p of Wilcoxon's signed-rank test, two-sided, of numbers without zeros: normal, corrected for ties.

    >>> round(normal_wilcoxon(np.array([1.0, 2.0, 3.0])), 4)  # 6, where 3 is expected: z = 3 / √3.5
    0.1088
    """
    n, (ranks, equals) = len(d), mean_ranks(np.abs(d))
    # A group of t equals lessens by (t³ − t) / 2; here each of the t by its part.
    variance = (n * (n + 1) * (2 * n + 1) - (equals**2 - 1).sum() / 2) / 24
    z = (ranks[d > 0].sum() - n * (n + 1) / 4) / np.sqrt(variance)
    return float(2 * ndtr(-abs(z)))


def kruskal(groups: Sequence[Values]) -> float:
    """p of Kruskal & Wallis's test that groups of numbers, not all equal, are spread alike: chi-squared.

    >>> round(kruskal([np.array([1.0, 2.0]), np.array([3.0, 4.0])]), 4)  # H = 2.4
    0.1213
    """
    numbers = np.concatenate(groups)
    n, (ranks, equals) = len(numbers), mean_ranks(numbers)
    ends = np.cumsum([len(group) for group in groups])[:-1]
    spread = sum(part.sum() ** 2 / len(part) for part in np.split(ranks, ends))
    h = (12 * spread / (n * (n + 1)) - 3 * (n + 1)) / (1 - (equals**2 - 1).sum() / (n**3 - n))
    return float(chdtrc(len(groups) - 1, h))
