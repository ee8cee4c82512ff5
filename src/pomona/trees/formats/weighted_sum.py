"""A weighted sum of features, as engines and other trainers hold linear models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._types import Scores, Values
from pomona.errors import InputError


class ScaledSum(NamedTuple):
    """Σ weight · (x − center) / width, by feature, for engines that scale features themselves."""

    center: Values
    width: Values
    weight: Values


def owned(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only copy, which nobody changes after it was checked."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy.view()


@dataclass(frozen=True, eq=False)
class WeightedSum:
    """start + Σ weight · x[feature], added in this order; an undefined value counts as 0.

    single : whether products and sums are rounded to float32.
    scaled : the same sum, less a constant, where its features were scaled: in float32 that keeps more digits.

    >>> WeightedSum(np.array([1, 0]), np.array([2.0, 0.5]), n_features=2).score([[4.0, 1.0]]).tolist()
    [4.0]
    """

    feature: NDArray[np.int64]
    weight: Values
    n_features: int
    start: float = 0.0
    single: bool = False
    scaled: ScaledSum | None = None

    def __post_init__(self) -> None:
        for name in ("feature", "weight"):
            object.__setattr__(self, name, owned(getattr(self, name)))
        if self.feature.ndim != 1 or self.feature.shape != self.weight.shape:
            raise InputError("a weighted sum needs a weight for every feature in it")
        if self.feature.size and not 0 <= self.feature.min() <= self.feature.max() < self.n_features:
            raise InputError(f"a feature lies outside 0..{self.n_features - 1}")
        if not (np.isfinite(self.weight).all() and np.isfinite(self.start)):
            raise InputError("a weight is not finite")

    def score(self, X: ArrayLike) -> Scores:
        """One sum a row."""
        columns = np.asarray(X, np.float32).T
        dtype = np.float32 if self.single else np.float64
        total: NDArray[Any] = np.full(columns.shape[1], self.start, dtype)
        for j, weight in zip(self.feature.tolist(), list(self.weight.astype(dtype)), strict=True):
            column = columns[j].astype(dtype)
            total += weight * np.where(np.isnan(column), 0, column)
        return total.astype(np.float64)

    @property
    def coef(self) -> Values:
        """The weight of every feature."""
        return np.bincount(self.feature, self.weight, self.n_features).astype(np.float64)

    def importance(self) -> Values:
        """The size of every feature's weight."""
        return np.abs(self.coef)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `of_arrays` reads back."""
        return {"feature": self.feature, "weight": self.weight}

    @classmethod
    def of_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], n_features: int, start: float, *, single: bool
    ) -> WeightedSum:
        """The sum whose `arrays()` these are."""
        if arrays["feature"].dtype != np.int64 or arrays["weight"].dtype != np.float64:
            raise InputError("not a weighted sum: its arrays are of other types")
        return cls(arrays["feature"], arrays["weight"], n_features, start, single)
