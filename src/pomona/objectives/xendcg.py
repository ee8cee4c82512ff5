"""Cross entropy that bounds NDCG (XE-NDCG: Bruch 2021).   L = −Σ_i φ_i log ρ_i

    ρ_i = exp(s_i) / Σ_j exp(s_j),     φ_i = (2^y_i − γ_i) / Σ_j (2^y_j − γ_j),     γ_i ~ U(0, 1)

With φ drawn anew at every call, the loss is a convex bound of mean NDCG, and documents of equal labels are
told apart by chance only. The hessian H of a softmax is dense, H = D − R, D its diagonal ρ_i (1 − ρ_i) and
R_ij = ρ_i ρ_j, i ≠ j. Leaves take diagonal Newton steps, so gradients are made such that these are those of
the dense one, in three terms of its series:

    H⁻¹ g ≈ D⁻¹ (g + R D⁻¹ g + (R D⁻¹)² g),     g = ρ − φ

Documents may have weights r: ρ_i is then in proportion to r_i exp(s_i), φ_i to r_i (2^y_i − γ_i).

What we do differently: queries of equal labels teach nothing; their φ would only be noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._jit import kernel
from pomona._splitmix import word_of
from pomona._types import Values
from pomona.errors import InputError
from pomona.objectives.base import draws_seed
from pomona.objectives.lambdas import differ
from pomona.objectives.query_objective import DrawingObjective

_MOST = 1000.0  # 2^label must be a number
_UNIT = 2.0**-53
_LEAST = 1e-15  # of 1 − ρ, which is 0 for a document far above all others


@kernel
def _match(s, gain, relative, seed, begin, terms, gradient, hessian):
    """The loss of one query, its derivatives written."""
    best, gains, powers = -np.inf, 0.0, 0.0
    for i in range(s.size):
        gamma = np.float64(word_of(seed, np.uint64(begin + i)) >> np.uint64(11)) * _UNIT
        gradient[i] = gain[i] - gamma
        if relative.size:
            gradient[i] *= relative[begin + i]
        gains += gradient[i]
        best = max(best, s[i])
    for i in range(s.size):
        hessian[i] = np.exp(s[i] - best)
        powers += hessian[i]
    loss = 0.0
    for i in range(s.size):
        chance, wanted = hessian[i] / powers, gradient[i] / gains
        loss -= wanted * (s[i] - best - np.log(powers))
        gradient[i], hessian[i] = chance - wanted, chance
    last = gradient.copy()
    for _ in range(1, terms):
        total = 0.0
        for i in range(s.size):
            last[i] /= max(1.0 - hessian[i], _LEAST)
            total += last[i]
        for i in range(s.size):
            last[i] = hessian[i] * (total - last[i])
            gradient[i] += last[i]
    for i in range(s.size):
        hessian[i] *= 1.0 - hessian[i]
    return loss


@kernel
def _match_gains(
    first, last, scores, query_ptr, weights, gain, relative, seed, terms, out_gradient, out_hessian, out_loss
):  # fmt: skip
    """gain (n_docs,) 2^label · relative (n_docs,) weights of documents, or empty, where they are 1."""
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        gradient, hessian = np.zeros(end - begin), np.zeros(end - begin)
        out_loss[q] = 0.0
        if weights[q] > 0:
            loss = _match(scores[begin:end], gain[begin:end], relative, seed, begin, terms, gradient, hessian)
            out_loss[q] = weights[q] * loss
        for i in range(end - begin):
            out_gradient[begin + i] = weights[q] * gradient[i]
            out_hessian[begin + i] = weights[q] * hessian[i]


class XENDCGObjective(DrawingObjective):
    """The chances of coming first should be as the gains of the labels, less a random part of 1.

    Parameters
    ----------
    labels, query_ptr : documents grouped by query; labels of at least 0.
    terms : of the series of the Newton step; 1 for the plain gradient.
    weights : one a query, multiplies its loss.
    relative : one a document, r: a document of weight 2 counts as two. None for 1.
    seed : of γ, which is also drawn by the scores: the same scores always meet the same γ.

    >>> objective = XENDCGObjective([2, 1, 0], [0, 3])
    >>> bool(objective.losses(np.array([2.0, 1.0, 0.0])) < objective.losses(np.array([0.0, 1.0, 2.0])))
    True
    """

    def __init__(
        self,
        labels: ArrayLike,
        query_ptr: ArrayLike,
        *,
        terms: int = 3,
        weights: ArrayLike | None = None,
        relative: ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(labels, query_ptr, weights, relative)
        if terms < 1:
            raise InputError(f"terms must be at least 1, found {terms}")
        outside = self._labels[(self._labels < 0) | (self._labels > _MOST)]
        if len(outside):
            raise InputError(f"XE-NDCG needs labels between 0 and {_MOST:g}, found {outside[0]:g}")
        self._weights = np.where(differ(self._labels, self._query_ptr), self._weights, 0.0)
        self._gain: Values = np.exp2(self._labels)
        self._terms, self._seed = terms, seed
        self._drawn = np.uint64(0)

    def _losses(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> Values:
        self._drawn = draws_seed(self._seed, scores)
        return super()._losses(scores, out_gradient, out_hessian)

    def _kernel(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _match_gains, (self._gain, self._relative, self._drawn, self._terms)
