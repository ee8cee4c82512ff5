"""Cross entropy of top-k distributions (ListNet: Cao et al. 2007).   L = −Σ_g P_y(g) log P_s(g)

g runs over the ordered choices of k documents, and P(j_1 … j_k) = Π_t exp(s_{j_t}) / Σ_{l ≥ t} exp(s_{j_l})
is the chance that they come first, by scores (P_s) or by labels (P_y).

Documents may have weights r: the chances are then in proportion to r exp(score), by labels r exp(label).

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
from pomona.objectives.query_objective import NO_WEIGHTS, DrawingObjective


@kernel
def _powers(scores, left_out, out):
    """exp(score − best) of all but one, whose is 0; returns (best, their sum)."""
    best, total = -np.inf, 0.0
    for i in range(scores.size):
        if i != left_out:
            best = max(best, scores[i])
    for i in range(scores.size):
        out[i] = np.exp(scores[i] - best) if i != left_out else 0.0
        total += out[i]
    return best, total


@kernel
def _match(s, y, left_out, weight, e, target, gradient, hessian):
    """Cross entropy of who comes first among all but one; adds to the derivatives, returns (loss, Σ e)."""
    _, total = _powers(y, left_out, target)
    for i in range(y.size):
        target[i] /= total
    best, total = _powers(s, left_out, e)
    loss = 0.0
    for i in range(s.size):
        if i != left_out:
            chance = e[i] / total
            loss += target[i] * (np.log(total) - (s[i] - best))
            gradient[i] += weight * (chance - target[i])
            hessian[i] += weight * chance * (1.0 - chance)
    return weight * loss, total


@kernel
def _match_second(s, y, e, target, total, gradient, hessian):
    """What the second document adds, given the first: Σ_a P_y(a) · (cross entropy among all but a).

    Where a is the best by score or by label, what is left of the sums may be too little to be told by
    subtraction; for any other a the best is left, and all terms fold into three sums.
    """
    n = s.size
    best, wanted = np.argmax(s), np.argmax(y)
    spare_e, spare_target = np.empty(n), np.empty(n)
    loss, _ = _match(s, y, best, target[best], spare_e, spare_target, gradient, hessian)
    if wanted != best:
        loss += _match(s, y, wanted, target[wanted], spare_e, spare_target, gradient, hessian)[0]
    mean_score = 0.0
    for i in range(n):
        mean_score += target[i] * (s[i] - s[best])
    once, twice, by_label = 0.0, 0.0, 0.0
    for a in range(n):
        if a != best and a != wanted:
            left, left_target = total - e[a], 1.0 - target[a]
            loss += target[a] * (np.log(left) - (mean_score - target[a] * (s[a] - s[best])) / left_target)
            once += target[a] / left
            twice += target[a] / left**2
            by_label += target[a] / left_target
    for i in range(n):
        chance = target[i] if i != best and i != wanted else 0.0
        left = total - e[i] if chance > 0 else 1.0
        drawn = e[i] * (once - chance / left)
        gradient[i] += drawn - target[i] * (by_label - (chance / (1.0 - target[i]) if chance > 0 else 0.0))
        hessian[i] += drawn - e[i] ** 2 * (twice - chance / left**2)
    return loss


@kernel
def _match_top(first, last, scores, query_ptr, weights, labels, k, out_gradient, out_hessian, out_loss):
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        n = end - begin
        s, y = scores[begin:end], labels[begin:end]
        e, target, gradient, hessian = np.empty(n), np.empty(n), np.zeros(n), np.zeros(n)
        loss, total = _match(s, y, -1, 1.0, e, target, gradient, hessian)
        if k == 2 and n > 1:
            loss += _match_second(s, y, e, target, total, gradient, hessian)
        out_loss[q] = weights[q] * loss
        for i in range(n):
            out_gradient[begin + i] = weights[q] * gradient[i]
            out_hessian[begin + i] = weights[q] * hessian[i]


class ListNetObjective(DrawingObjective):
    """The chances of coming first should be those that the labels give.

    Parameters
    ----------
    labels, query_ptr : documents grouped by query.
    k : how many first documents are drawn; above 2 by `n_samples` random prefixes.
    n_samples : prefixes drawn for each query at every call, when k is above 2.
    weights : one a query, multiplies its loss.
    relative : one a document, r: a document of weight 2 is as likely to be drawn as two. None for 1.
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
        relative: ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(labels, query_ptr, weights, relative)
        if self._relative.size:
            self._labels = self._labels + np.log(self._relative)
        if k < 1 or n_samples < 1:
            raise InputError(f"k and n_samples must be at least 1, found {k} and {n_samples}")
        self._k, self._n_samples = k, n_samples
        self._random = np.random.default_rng(seed)

    def _kernel(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if self._k <= 2:
            return _match_top, (self._labels, self._k)
        # Sorting by label plus Gumbel noise draws without replacement with chances ∝ exp(label).
        noise = self._random.gumbel(size=(self._n_samples, len(self._labels)))
        return follow_orders, (NO_WEIGHTS, self._labels + noise, self._k)
