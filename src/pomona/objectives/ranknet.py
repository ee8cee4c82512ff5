"""Pairwise cross entropy (RankNet: Burges et al. 2005).   L = Σ log(1 + exp(−σ (s_i − s_j))), y_i > y_j

The gradient is factorized: each pair moves its two documents apart by σ / (1 + exp(σ (s_i − s_j))), and only
the sum over the pairs of a document reaches the model. Pairs of equal labels teach nothing.

What we do differently: a query's loss is the mean over its pairs, so that a query of 900 documents does not
outweigh hundreds of short ones; `average=False` gives the paper's sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pomona._jit import kernel
from pomona._types import Offsets, Values
from pomona.errors import InputError
from pomona.objectives.query_objective import QueryObjective

_WIDEST = 600.0
"""Exponentials of scores that lie further apart than this cannot be divided by each other."""
_MOST_FACTORS = 512
"""Factors of at most 2 that are multiplied before the logarithm is taken: their product is finite."""


@kernel
def _ratios(s, power, i, first, is_wide, out):
    """exp(−|s_i − s_j|) of the documents j from `first` on; power (n,) is exp(s − the highest s)."""
    for j in range(first, s.size):
        if is_wide:
            out[j] = np.exp(-abs(s[i] - s[j]))
        else:
            out[j] = min(power[i], power[j]) / max(power[i], power[j])


@kernel(fastmath=True)
def _add_row(distance, ratio, gradient, hessian):
    """Add the pairs of one document with others of lower labels; returns its (loss, gradient, hessian)."""
    loss, gradient_sum, hessian_sum = 0.0, 0.0, 0.0
    for begin in range(0, ratio.size, _MOST_FACTORS):
        factors = 1.0
        for j in range(begin, min(begin + _MOST_FACTORS, ratio.size)):
            rho = (ratio[j] if distance[j] > 0.0 else 1.0) / (1.0 + ratio[j])
            pair_hessian = rho * (1.0 - rho)
            gradient[j] += rho
            hessian[j] += pair_hessian
            gradient_sum -= rho
            hessian_sum += pair_hessian
            factors *= 1.0 + ratio[j]
            loss += max(-distance[j], 0.0)
        loss += np.log(factors)
    return loss, gradient_sum, hessian_sum


@kernel
def _add_weighted_row(weight, weights, distance, ratio, gradient, hessian):
    """As `_add_row`, of a document and others of these weights; returns the sum of their weights, too."""
    loss, gradient_sum, hessian_sum, total = 0.0, 0.0, 0.0, 0.0
    for j in range(ratio.size):
        both = weight * weights[j]
        rho = (ratio[j] if distance[j] > 0.0 else 1.0) / (1.0 + ratio[j])
        pair_gradient, pair_hessian = both * rho, both * rho * (1.0 - rho)
        gradient[j] += pair_gradient
        hessian[j] += pair_hessian
        gradient_sum -= pair_gradient
        hessian_sum += pair_hessian
        loss += both * (np.log1p(ratio[j]) + max(-distance[j], 0.0))
        total += both
    return loss, gradient_sum, hessian_sum, total


@kernel
def _add_pairs(
    first, last, scores, query_ptr, weights, relative, order, lower, sigma, average, out_gradient,
    out_hessian, out_loss,
):  # fmt: skip
    """relative (n_docs,) weights of documents, or empty, where they are 1 · order (n_docs,) documents of each
    query by falling label · lower (n_docs,) the place, within its query, of the first document with a lower
    label."""
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        n = end - begin
        s = sigma * scores[order[begin:end]]
        gradient, hessian, distance, ratio = np.zeros(n), np.zeros(n), np.empty(n), np.empty(n)
        highest, lowest = -np.inf, np.inf
        for i in range(n):
            highest, lowest = max(highest, s[i]), min(lowest, s[i])
        power = np.exp(s - highest)
        own = relative[order[begin:end]] if relative.size else relative
        loss, n_pairs = 0.0, 0.0
        for i in range(n):
            below = lower[begin + i]
            _ratios(s, power, i, below, highest - lowest > _WIDEST, ratio)
            for j in range(below, n):
                distance[j] = s[i] - s[j]
            rest = distance[below:], ratio[below:], gradient[below:], hessian[below:]
            if relative.size:
                row_loss, row_gradient, row_hessian, pairs = _add_weighted_row(own[i], own[below:], *rest)
                n_pairs += pairs
            else:
                row_loss, row_gradient, row_hessian = _add_row(*rest)
                n_pairs += n - below
            gradient[i] += row_gradient
            hessian[i] += row_hessian
            loss += row_loss
        weight = weights[q] / (n_pairs if n_pairs > 0 else 1.0) if average else weights[q]
        out_loss[q] = weight * loss
        for i in range(n):
            out_gradient[order[begin + i]] = weight * sigma * gradient[i]
            out_hessian[order[begin + i]] = weight * sigma * sigma * hessian[i]


class RankNetObjective(QueryObjective):
    """Of two documents, the one of the higher label should score higher.

    Parameters
    ----------
    labels, query_ptr : documents grouped by query.
    sigma : steepness of the logistic.
    average : whether a query's loss is the mean over its pairs, by their weights r_i r_j, or their sum.
    weights : one a query, multiplies its loss.
    relative : one a document, r: a pair counts r_i r_j. None for 1.

    >>> objective = RankNetObjective([2, 1, 0], [0, 3], average=False)
    >>> objective.losses(np.array([0.0, 1.0, 2.0])).round(6)
    array([4.753451])
    """

    def __init__(
        self,
        labels: ArrayLike,
        query_ptr: ArrayLike,
        *,
        sigma: float = 1.0,
        average: bool = True,
        weights: ArrayLike | None = None,
        relative: ArrayLike | None = None,
    ) -> None:
        super().__init__(labels, query_ptr, weights, relative)
        if not sigma > 0:
            raise InputError(f"sigma must be above 0, found {sigma:g}")
        self._sigma, self._average = float(sigma), bool(average)
        self._order, self._lower = _by_label(self._labels, self._query_ptr)

    def _kernel(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _add_pairs, (self._relative, self._order, self._lower, self._sigma, self._average)


def _by_label(labels: Values, query_ptr: Offsets) -> tuple[Offsets, Offsets]:
    """The documents of each query by falling label, and for each place the first one of a lower label.

    >>> _by_label(np.array([0.0, 2.0, 1.0, 1.0]), np.array([0, 4]))
    (array([1, 2, 3, 0]), array([1, 3, 3, 4]))
    """
    lengths = np.diff(query_ptr)
    query = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((-labels, query))
    is_last = np.append((np.diff(labels[order]) != 0) | (np.diff(query) != 0), True)
    ends = np.flatnonzero(is_last) + 1
    following = ends[np.searchsorted(ends, np.arange(len(labels)), side="right")]
    return order, following - np.repeat(query_ptr[:-1], lengths)
