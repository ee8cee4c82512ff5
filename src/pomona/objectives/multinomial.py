"""Labels as classes, by multinomial logit boosting (Friedman 2001; McRank: Li, Burges & Wu 2007).

    L = −Σ_i log p_{i, y_i},   p_ik = exp(s_ik) / Σ_c exp(s_ic)

Documents are ranked by the value they are expected to have, S_i = Σ_k p_ik T(k), not by the likeliest class.
The hessian is K/(K − 1) · p (1 − p), so that a leaf's Newton step is Friedman's (K−1)/K Σr / Σ p (1 − p).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._types import Values
from pomona.objectives.base import LEAST_HESSIAN, Objective, classes_of, weighted_sum, weights_of


def class_probabilities(scores: Values) -> Values:
    """(K, n_docs) probabilities of (K, n_docs) scores.

    >>> class_probabilities(np.log([[1.0], [3.0]])).ravel().round(2)
    array([0.25, 0.75])
    """
    powers: Values = np.exp(scores - scores.max(axis=0))
    powers /= powers.sum(axis=0)
    return powers


def expected_value(scores: Values, values: Values) -> Values:
    """Σ_k p_ik T(k) of every document; `values` (K,) is T."""
    return weighted_sum(values, class_probabilities(scores))


class MultinomialObjective(Objective):
    """Each document belongs to the class of its label, one score for every class.

    Attributes
    ----------
    levels : (K,) the distinct labels, ascending: the classes.

    >>> objective = MultinomialObjective([0, 1, 2, 2])
    >>> gradient, hessian = np.empty((3, 4), np.float32), np.empty((3, 4), np.float32)
    >>> objective.gradients(np.zeros((3, 4)), gradient, hessian)
    >>> gradient[:, 0].round(2)
    array([-0.67,  0.33,  0.33], dtype=float32)
    """

    def __init__(self, labels: ArrayLike, *, weights: ArrayLike | None = None) -> None:
        self.levels, self._codes = classes_of(labels, weights)
        self.n_outputs = len(self.levels)
        self._weights = weights_of(weights, len(self._codes), "documents")

    def gradients(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> None:
        """p_ik − [y_i = k] and K/(K − 1) p_ik (1 − p_ik), all (K, n_docs)."""
        probabilities = class_probabilities(scores)
        hessian = probabilities * (1.0 - probabilities) * (self.n_outputs / (self.n_outputs - 1))
        out_hessian[:] = self._weights * np.maximum(hessian, LEAST_HESSIAN)
        probabilities[self._codes, np.arange(len(self._codes))] -= 1.0
        out_gradient[:] = self._weights * probabilities
