"""Least squares on labels or gains (Friedman 2001; Cossock & Zhang 2008 for gains).   L = ½ Σ w (s − t)²"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._exact import exact_sum, float_ratio
from pomona._types import Values
from pomona.errors import InputError, UnknownNameError
from pomona.measures.conventions import gains_of
from pomona.objectives.base import Objective, Whole, labels_of, weights_of


class RegressionObjective(Objective):
    """Each document's score should be its label, or its gain.

    With a hessian of 1 a leaf's Newton step is the mean residual, so boosting is MART.

    Parameters
    ----------
    target : `label`, or `gain` for 2^label − 1: the squared error of gains bounds the loss of NDCG.
    weights : one a document.

    >>> objective = RegressionObjective([0, 2], target="gain")
    >>> gradient, hessian = np.empty(2, np.float32), np.empty(2, np.float32)
    >>> objective.gradients(np.array([0.5, 2.0]), gradient, hessian)
    >>> objective.start(), gradient
    (1.5, array([ 0.5, -1. ], dtype=float32))
    """

    def __init__(self, labels: ArrayLike, *, target: str = "label", weights: ArrayLike | None = None) -> None:
        if target not in ("label", "gain"):
            raise UnknownNameError("target", target, ("label", "gain"))
        given = labels_of(labels)
        self._weights = weights_of(weights, len(given), "documents")
        given = np.where(self._weights > 0, given, 0.0)
        self._target = given if target == "label" else gains_of(given, "exp2")
        if (worst := np.flatnonzero(np.abs(self._target) > np.finfo(np.float32).max)).size:
            raise InputError(
                f"label {given[worst[0]]:g} has a gain of {self._target[worst[0]]:g}, beyond what residuals "
                "can hold (3.4e38): give smaller labels, or target='label'"
            )
        self._sums = np.stack([exact_sum(self._weights * self._target), exact_sum(self._weights)])

    def start(self) -> float:
        """The mean of the targets: the best score for all."""
        return float_ratio(*self._sums)

    def join(self, whole: Whole) -> None:
        """The mean is that of all targets."""
        whole.add(self._sums)

    def gradients(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> None:
        """w (s − t) and w."""
        out_gradient[:] = self._weights * (scores - self._target)
        out_hessian[:] = self._weights
