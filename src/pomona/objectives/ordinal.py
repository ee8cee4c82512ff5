"""Labels as steps, by a binary logit for each (ordinal McRank: Li, Burges & Wu 2007).

    L = −Σ_{k<K−1} Σ_i log P([y_i ≤ k]),   P(y_i ≤ k) = 1 / (1 + exp(−s_ik))

Documents are ranked by their expected value Σ_k P(y = k) T(k), which telescopes: unlike single class
probabilities, which may come out slightly negative, it needs no clipping.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._types import Values
from pomona.objectives.base import LEAST_HESSIAN, Objective, classes_of, weighted_sum, weights_of


def cumulative_probabilities(scores: Values) -> Values:
    """P(y ≤ k) of scores of any shape, without overflow.

    >>> cumulative_probabilities(np.log([[1.0], [3.0]])).ravel()
    array([0.5 , 0.75])
    """
    powers = np.exp(-np.abs(scores))
    probabilities: Values = np.where(scores >= 0, 1.0, powers) / (1.0 + powers)
    return probabilities


def expected_value(scores: Values, values: Values) -> Values:
    """Σ_k P(y = k) T(k) = T(K−1) − Σ_{k<K−1} P(y ≤ k) (T(k+1) − T(k)); scores (K − 1, n_docs), T (K,)."""
    expected: Values = values[-1] - weighted_sum(np.diff(values), cumulative_probabilities(scores))
    return expected


class OrdinalObjective(Objective):
    """Each document stands below or above every step between two neighbouring labels.

    Attributes
    ----------
    levels : (K,) the distinct labels, ascending; there are K − 1 scores a document.

    >>> objective = OrdinalObjective([0, 1, 2])
    >>> gradient, hessian = np.empty((2, 3), np.float32), np.empty((2, 3), np.float32)
    >>> objective.gradients(np.zeros((2, 3)), gradient, hessian)
    >>> gradient
    array([[-0.5,  0.5,  0.5],
           [-0.5, -0.5,  0.5]], dtype=float32)
    """

    def __init__(self, labels: ArrayLike, *, weights: ArrayLike | None = None) -> None:
        self.levels, codes = classes_of(labels, weights)
        self.n_outputs = len(self.levels) - 1
        self._below = codes <= np.arange(self.n_outputs)[:, None]
        self._weights = weights_of(weights, len(codes), "documents")

    def gradients(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> None:
        """P(y_i ≤ k) − [y_i ≤ k] and P (1 − P), all (K − 1, n_docs)."""
        probabilities = cumulative_probabilities(scores)
        out_gradient[:] = self._weights * (probabilities - self._below)
        out_hessian[:] = self._weights * np.maximum(probabilities * (1.0 - probabilities), LEAST_HESSIAN)
