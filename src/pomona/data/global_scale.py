"""Global normalization: each feature on one scale over all training documents, as engines can do it too.

    global-minmax     x' = (x − min) / (max − min)
    global-standard   x' = (x − mean) / deviation       population deviation
    global-log1p      x' = sign(x) log(1 + |x|)

An undefined value counts as 0, which is what engines hand to a linear model, and is then scaled as any other.
A feature that is constant in the training data becomes 0. Scaling inside each query (`normalize.py`) ranks
better where queries differ, but no engine can do it: it sees one document at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pomona._types import Features, Values
from pomona.errors import InputError, UnknownNameError

METHODS = ("global-minmax", "global-standard", "global-log1p")


def is_global(method: str | None) -> bool:
    """Whether a normalization is of this kind, and not one inside each query."""
    return method is not None and method.startswith("global")


@dataclass(frozen=True)
class GlobalScale:
    """x' = (t(x) − center) · factor, t the logarithm or nothing."""

    center: Values
    factor: Values
    log: bool = False

    @classmethod
    def of(cls, X: Features, method: str) -> GlobalScale:
        """Learn the scale of the features.

        >>> GlobalScale.of(np.array([[1, 5], [3, 5], [np.nan, 5]], np.float32), "global-minmax")
        GlobalScale(center=array([0., 5.]), factor=array([0.33333333, 0.        ]), log=False)
        """
        if method not in METHODS:
            raise UnknownNameError("normalization", method, METHODS)
        if method == "global-log1p":
            return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]), log=True)
        values = _defined(X)
        low, high = values.min(axis=0), values.max(axis=0)
        center, width = low, high - low
        if method == "global-standard":
            center = values.mean(axis=0)
            width = np.sqrt(((values - center) ** 2).mean(axis=0))
        return cls(center, np.divide(1.0, width, out=np.zeros(len(width)), where=high > low))

    def __call__(self, X: Features) -> Features:
        """The scaled features."""
        values = _defined(X)
        if self.log:
            values = np.copysign(np.log1p(np.abs(values)), values)
        return ((values - self.center) * self.factor).astype(np.float32)

    def folded(self, coef: Values) -> tuple[Values, float]:
        """Weights, and a constant, that do to unscaled features what `coef` does to scaled ones.

        >>> GlobalScale(np.array([2.0]), np.array([0.5])).folded(np.array([3.0]))
        (array([1.5]), -3.0)
        """
        if self.log:
            raise InputError("no weights do what a logarithm does")
        folded = coef * self.factor
        return folded, -float((folded * self.center).sum())


def _defined(X: Features) -> Values:
    if np.isinf(X).any():
        raise InputError("X holds an infinite value, which no scale can hold: clip it, or make it NaN")
    return np.nan_to_num(X.astype(np.float64))
