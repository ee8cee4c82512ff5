"""A sum of feature values: what boosting of unthresholded features leaves.

    H(x) = Σ_t weight_t · h_t(x),   h = (x_f − low_f) / (high_f − low_f), cut to [0, 1]

with low and high those of the training data. An infinite value counts as the end that it lies beyond, and an
undefined one as 0 or as 1, as each step says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Scores, Values
from pomona.data.rows import read_only
from pomona.errors import InputError
from pomona.rankers.learnt import Array, check_learnt

_ARRAYS = {name: Array("n_features") for name in ("low", "high", "weight", "undefined")}


@kernel
def _scaled(x, low, high):
    """A defined value on [0, 1]."""
    if x <= low or high <= low:
        return 0.0
    return 1.0 if x >= high else (np.float64(x) - low) / (high - low)


@kernel
def _sum_values(first, last, X, low, high, weight, undefined, out):
    """X (n_docs, n_features) · the others (n_features,) · out (n_docs,)."""
    for i in range(first, last):
        total = 0.0
        for f in range(weight.size):
            x = X[i, f]
            total += undefined[f] if np.isnan(x) else weight[f] * _scaled(x, low[f], high[f])
        out[i] = total


@kernel
def _best_sides(first, last, columns, low, high, potential, out_r, out_undefined):
    """Of every feature, the r = Σ π h of larger size with undefined values as 0 or as 1.

    columns (n_features, n_docs) · potential (n_docs,) · out_undefined (n_features,): whether it is as 1.
    """
    for f in range(first, last):
        total, missing = 0.0, 0.0
        for i in range(potential.size):
            x = columns[f, i]
            if np.isnan(x):
                missing += potential[i]
            else:
                total += potential[i] * _scaled(x, low[f], high[f])
        out_undefined[f] = abs(total + missing) > abs(total)
        out_r[f] = total + missing if out_undefined[f] else total


@dataclass(frozen=True, eq=False)
class ValueSum:
    """A sum of features on [0, 1].

    Attributes
    ----------
    low, high : of each feature, what becomes 0 and 1.
    weight : of each feature.
    undefined : what an undefined value of each feature adds.
    feature_names : of all features, for printing.

    >>> values = ValueSum(np.zeros(2), np.array([1.0, 4.0]), np.array([2.0, -1.0]), np.zeros(2), ("a", "b"))
    >>> values.score(np.array([[0.5, 1.0], [9.0, np.nan]], np.float32)).tolist()
    [0.75, 2.0]
    >>> print(values)
    a in [0, 1] +2.0000
    b in [0, 4] -1.0000
    """

    low: Values
    high: Values
    weight: Values
    undefined: Values
    feature_names: tuple[str, ...]

    def score(self, X: Features) -> Scores:
        """One sum a row."""
        out = np.empty(len(X))
        rows = read_only(np.ascontiguousarray(X, np.float32))
        if rows.ndim != 2 or rows.shape[1] != len(self.feature_names):
            raise InputError(
                f"found features of shape {rows.shape}, expected {len(self.feature_names)} of them"
            )
        given = (read_only(getattr(self, name)) for name in _ARRAYS)
        over_chunks(_sum_values, len(X), rows, *given, out, smallest=4096)
        return out

    def importance(self) -> Values:
        """The size of each feature's weight."""
        return np.abs(self.weight)

    def __str__(self) -> str:
        """Every feature that has a weight, the largest first."""
        used = [j for j in np.argsort(-self.importance(), kind="stable") if self.weight[j]]
        width = max((len(self.feature_names[j]) for j in used), default=0)
        return "\n".join(
            f"{self.feature_names[j]:<{width}} in [{self.low[j]:g}, {self.high[j]:g}] {self.weight[j]:+.4f}"
            for j in used
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `of_arrays` reads back."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], feature_names: tuple[str, ...]) -> ValueSum:
        """Values from `arrays()`; a ValueError tells what does not fit."""
        check_learnt(_ARRAYS, arrays, n_features=len(feature_names))
        return cls(**{name: arrays[name] for name in _ARRAYS}, feature_names=feature_names)


class ScaledFeatures:
    """The values of every feature of the training documents, as weak rankers."""

    def __init__(self, X: Features, feature_names: tuple[str, ...]) -> None:
        self._columns, self._names = np.ascontiguousarray(X.T), feature_names
        finite = np.isfinite(X)
        nothing = ~finite.any(axis=0)
        self._low = np.where(nothing, 0.0, np.where(finite, X, np.inf).min(axis=0)).astype(np.float64)
        self._high = np.where(nothing, 0.0, np.where(finite, X, -np.inf).max(axis=0)).astype(np.float64)

    def best(self, potential: Values) -> tuple[tuple[int, bool], float]:
        """(feature, whether undefined values count as 1), and its r: the largest, the first of equals."""
        n = len(self._columns)
        r, undefined = np.empty(n), np.empty(n, np.bool_)
        over_chunks(_best_sides, n, self._columns, self._low, self._high, potential, r, undefined)
        best = int(np.argmax(np.abs(r)))
        return (best, bool(undefined[best])), float(r[best])

    def values(self, weak: tuple[int, bool]) -> Scores:
        """h of every training document."""
        feature, undefined = weak
        alone = slice(feature, feature + 1)
        one = ValueSum(
            self._low[alone], self._high[alone], np.ones(1), np.array([float(undefined)]), self._names[alone]
        )
        return one.score(self._columns[alone].T)

    def sum_of(self, steps: Sequence[tuple[tuple[int, bool], float]]) -> ValueSum:
        """The sum of weak rankers with these weights."""
        weight, undefined = np.zeros(len(self._names)), np.zeros(len(self._names))
        for (feature, as_one), alpha in steps:
            weight[feature] += alpha
            undefined[feature] += alpha * as_one
        return ValueSum(self._low, self._high, weight, undefined, self._names)

    def growing(self, X: Features) -> Callable[[tuple[int, bool], float], Scores]:
        """What takes step after step and scores these rows."""
        steps: list[tuple[tuple[int, bool], float]] = []

        def with_step(weak: tuple[int, bool], alpha: float) -> Scores:
            steps.append((weak, alpha))
            return self.sum_of(steps).score(X)

        return with_step
