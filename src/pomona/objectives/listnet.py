"""Cross entropy of top-k distributions (ListNet: Cao et al. 2007).   L = −Σ_g P_y(g) log P_s(g)

g runs over the ordered choices of k documents, and P(j_1 … j_k) = Π_t exp(s_{j_t}) / Σ_{l ≥ t} exp(s_{j_l})
is the chance that they come first, by scores (P_s) or by labels (P_y).

k = 1 and k = 2 are exact, both in O(n): the n (n − 1) terms of k = 2 fold into sums that leave one document
out. Larger k would need n! / (n − k)! terms, so prefixes are drawn from P_y, anew at every call (Luo et al.
2015): the gradient is right on average.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pomona._jit import kernel
from pomona.errors import InputError
from pomona.objectives._plackett_luce import follow_orders
from pomona.objectives.query_objective import QueryObjective


@kernel
def _sum_without_each(terms, out):
    """out[i] = Σ_{j ≠ i} terms[j], by adding alone: subtracting from the total would lose small ones."""
    total = 0.0
    for i in range(terms.size):
        out[i] = total
        total += terms[i]
    total = 0.0
    for i in range(terms.size - 1, -1, -1):
        out[i] += total
        total += terms[i]


@kernel
def _powers(scores, out):
    """exp(score − best); returns (best, their sum)."""
    best, total = scores.max(), 0.0
    for i in range(scores.size):
        out[i] = np.exp(scores[i] - best)
        total += out[i]
    return best, total


@kernel
def _match_first(s, e, best, total, target, gradient, hessian):
    """k = 1: adds to the derivatives, returns the loss."""
    loss = 0.0
    for i in range(s.size):
        chance = e[i] / total
        loss += target[i] * (np.log(total) - (s[i] - best))
        gradient[i] += chance - target[i]
        hessian[i] += chance * (1.0 - chance)
    return loss


@kernel
def _match_second(s, e, best, target, gradient, hessian):
    """What the second document adds, given the first: Σ_a P_y(a) · (cross entropy without a)."""
    n = s.size
    worth, term = np.empty(n), np.empty(n)
    others, other_targets, other_worth = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        worth[i] = target[i] * (s[i] - best)
    _sum_without_each(e, others)
    _sum_without_each(target, other_targets)
    _sum_without_each(worth, other_worth)
    loss = 0.0
    for a in range(n):
        if other_targets[a] > 0 and others[a] > 0:
            loss += target[a] * (np.log(others[a]) - other_worth[a] / other_targets[a])
            term[a] = target[a] / others[a]
        else:  # the rest of the query is beyond the reach of double precision
            term[a] = 0.0
    _sum_without_each(term, worth)
    for i in range(n):
        gradient[i] += e[i] * worth[i]
        hessian[i] += e[i] * worth[i]
        term[i] = term[i] / others[i] if others[i] > 0 else 0.0
    _sum_without_each(term, worth)
    for i in range(n):
        hessian[i] -= e[i] * e[i] * worth[i]
        term[i] = target[i] / other_targets[i] if other_targets[i] > 0 else 0.0
    _sum_without_each(term, worth)
    for i in range(n):
        gradient[i] -= target[i] * worth[i]
    return loss


@kernel
def _match_top(first, last, scores, query_ptr, weights, labels, k, out_gradient, out_hessian, out_loss):
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        n = end - begin
        s = scores[begin:end]
        e, target, gradient, hessian = np.empty(n), np.empty(n), np.zeros(n), np.zeros(n)
        _, total = _powers(labels[begin:end], target)
        target /= total
        best, total = _powers(s, e)
        loss = _match_first(s, e, best, total, target, gradient, hessian)
        if k == 2 and n > 1:
            loss += _match_second(s, e, best, target, gradient, hessian)
        out_loss[q] = weights[q] * loss
        for i in range(n):
            out_gradient[begin + i] = weights[q] * gradient[i]
            out_hessian[begin + i] = weights[q] * hessian[i]


class ListNetObjective(QueryObjective):
    """The chances of coming first should be those that the labels give.

    Parameters
    ----------
    labels, query_ptr : documents grouped by query.
    k : how many first documents are drawn; above 2 by `n_samples` random prefixes.
    n_samples : prefixes drawn for each query at every call, when k is above 2.
    weights : one a query, multiplies its loss.
    seed : of the prefixes.

    >>> objective = ListNetObjective([2, 1, 0], [0, 3])
    >>> objective.losses(np.array([0.0, 1.0, 2.0])).round(6)
    array([1.982816])
    """

    def __init__(
        self,
        labels: ArrayLike,
        query_ptr: ArrayLike,
        *,
        k: int = 1,
        n_samples: int = 10,
        weights: ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(labels, query_ptr, weights)
        if k < 1 or n_samples < 1:
            raise InputError(f"k and n_samples must be at least 1, found {k} and {n_samples}")
        self._k, self._n_samples = k, n_samples
        self._random = np.random.default_rng(seed)

    def _kernel(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if self._k <= 2:
            return _match_top, (self._labels, self._k)
        # Sorting by label plus Gumbel noise draws without replacement with chances ∝ exp(label).
        noise = self._random.gumbel(size=(self._n_samples, len(self._labels)))
        return follow_orders, (self._labels + noise, self._k)
