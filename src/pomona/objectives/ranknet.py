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
from pomona.errors import InputError
from pomona.objectives.query_objective import QueryObjective


@kernel
def _add_pairs(
    first, last, scores, query_ptr, weights, labels, sigma, average, out_gradient, out_hessian, out_loss
):
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        n = end - begin
        s, y = scores[begin:end], labels[begin:end]
        gradient, hessian = np.zeros(n), np.zeros(n)
        loss, n_pairs = 0.0, 0
        for i in range(n):
            for j in range(i + 1, n):
                if y[i] == y[j]:
                    continue
                up, down = (i, j) if y[i] > y[j] else (j, i)
                distance = sigma * (s[up] - s[down])
                e = np.exp(-abs(distance))
                rho = (e if distance > 0 else 1.0) / (1.0 + e)
                loss += np.log1p(e) + max(-distance, 0.0)
                gradient[up] -= rho
                gradient[down] += rho
                pair_hessian = rho * (1.0 - rho)
                hessian[up] += pair_hessian
                hessian[down] += pair_hessian
                n_pairs += 1
        weight = weights[q] / max(n_pairs, 1) if average else weights[q]
        out_loss[q] = weight * loss
        for i in range(n):
            out_gradient[begin + i] = weight * sigma * gradient[i]
            out_hessian[begin + i] = weight * sigma * sigma * hessian[i]


class RankNetObjective(QueryObjective):
    """Of two documents, the one of the higher label should score higher.

    Parameters
    ----------
    labels, query_ptr : documents grouped by query.
    sigma : steepness of the logistic.
    average : whether a query's loss is the mean over its pairs, or their sum.
    weights : one a query, multiplies its loss.

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
    ) -> None:
        super().__init__(labels, query_ptr, weights)
        if not sigma > 0:
            raise InputError(f"sigma must be above 0, found {sigma:g}")
        self._sigma, self._average = float(sigma), bool(average)

    def _kernel(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _add_pairs, (self._labels, self._sigma, self._average)
