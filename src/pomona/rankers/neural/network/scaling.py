"""Features on a common scale, as the network sees them: mean 0 and deviation 1 over the training documents.

    x' = (t − mean) / deviation, cut to [−10, 10],   t = x, or sign(x) log(1 + |x|), or z(share below x)

The logarithm tames counts and clicks, whose few huge values would leave all others at about 0 (Qin et al.
2021). The last makes any feature normal: z is the normal quantile, and the share below x, those equal to it
counted half, is that of the training documents at up to 256 of their values, on a line between two of them.
The cut keeps a value far out of the training data's range from outweighing all others. An undefined value
becomes 0, which is the mean, and so does a feature that is constant in the training data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Offsets, Values
from pomona.data.rows import read_only
from pomona.data.text import offsets
from pomona.errors import InputError
from pomona.rankers.learnt import Array, check_learnt

_PIECE = 4096  # rows summed apart, so that sums do not depend on the number of threads
_MOST_KNOTS = 256
FARTHEST = 10.0


@kernel
def _between(x, knots, heights):
    """The height at x of the line through (knots, heights), level beyond its ends; knots ascend."""
    if not x > knots[0]:
        return heights[0] if x == x else x
    low, high = 0, knots.size
    while high - low > 1:  # knots[low] < x, and x <= knots[high] or that is the end
        middle = (low + high) // 2
        if knots[middle] < x:
            low = middle
        else:
            high = middle
    if high == knots.size:
        return heights[low]
    share = (x - knots[low]) / (np.float64(knots[high]) - knots[low])
    return heights[low] + share * (heights[high] - heights[low])


@kernel
def _tamed(x, j, log, knots, heights, knot_ptr):
    """knots, heights (knot_ptr[-1],) of all features; none where knot_ptr is empty."""
    x = np.float64(x)
    if knot_ptr.size:
        first, last = knot_ptr[j], knot_ptr[j + 1]
        return _between(x, knots[first:last], heights[first:last]) if first < last else np.nan
    return np.copysign(np.log1p(abs(x)), x) if log else x


@kernel
def scale_row(row, mean, inverse, log, knots, heights, knot_ptr, out):
    """row, out (n_features,) float32 · mean, inverse (n_features,) float64."""
    for j in range(mean.size):
        x = (_tamed(row[j], j, log, knots, heights, knot_ptr) - mean[j]) * inverse[j]
        out[j] = 0.0 if np.isnan(x) else min(max(x, -FARTHEST), FARTHEST)


@kernel
def _scale_rows(first, last, X, rows, mean, inverse, log, knots, heights, knot_ptr, out):
    for i in range(first, last):
        scale_row(X[rows[i]], mean, inverse, log, knots, heights, knot_ptr, out[i])


@kernel
def _sum_pieces(first, last, X, center, log, knots, heights, knot_ptr, out):
    """out (n_pieces, 5, n_features): count, Σ (t − center), Σ (t − center)², least and most defined value."""
    for piece in range(first, last):
        count, total, squares, least, most = out[piece]
        least[:], most[:] = np.inf, -np.inf
        for i in range(piece * _PIECE, min((piece + 1) * _PIECE, len(X))):
            for j in range(center.size):
                away = _tamed(X[i, j], j, log, knots, heights, knot_ptr) - center[j]
                if not np.isnan(away):
                    count[j] += 1
                    total[j] += away
                    squares[j] += away * away
                    least[j], most[j] = min(least[j], away), max(most[j], away)


@dataclass(frozen=True)
class Quantiles:
    """Values of each feature, and the normal quantile of the share of training documents below each.

    Attributes
    ----------
    knots, heights : of all features, one after the other; a feature's knots ascend, as do its heights.
    knot_ptr : offsets of the features; empty where features are not put on this scale.
    """

    knots: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    heights: Values = field(default_factory=lambda: np.empty(0))
    knot_ptr: Offsets = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def of(cls, X: Features) -> Quantiles:
        """Learn the quantiles of the features.

        >>> found = Quantiles.of(np.array([[0], [0], [7], [np.nan]], np.float32))
        >>> found.knots.tolist(), found.heights.round(4).tolist()  # shares of 1/3 and 5/6
        ([0.0, 7.0], [-0.4307, 0.9674])
        """
        parts: list[tuple[Features, Values]] = [(X[:0, 0], np.empty(0))] * X.shape[1]

        def learn(first: int, last: int) -> None:
            for j in range(first, last):
                parts[j] = _quantiles(np.sort(X[:, j][~np.isnan(X[:, j])]))

        over_chunks(learn, X.shape[1])
        knots, heights = (np.concatenate(part) for part in zip(*parts, strict=True))
        return cls(knots, heights, offsets(np.array([len(part) for part, _ in parts])))

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_features: int) -> Quantiles:
        """Those of a model file; a ValueError, where they are not of so many features."""
        names = ("knots", "heights", "knot_ptr")
        if not any(name in arrays and arrays[name].size for name in names):  # older files have none at all
            return cls()
        declared = {
            "knots": Array("n_knots", dtype=np.float32),
            "heights": Array("n_knots"),
            "knot_ptr": Array(n_features + 1, dtype=np.int64),
        }
        check_learnt(declared, arrays)
        knots, heights, knot_ptr = (arrays[name] for name in names)
        if knot_ptr[0] != 0 or knot_ptr[-1] != len(knots) or (np.diff(knot_ptr) < 0).any():
            raise ValueError("the offsets of quantiles do not fit")
        return cls(knots, heights, knot_ptr)


def _quantiles(ascending: Features) -> tuple[Features, Values]:
    """(knots, heights) of one feature, from its defined values."""
    knots = np.unique(ascending)
    if len(knots) > _MOST_KNOTS:
        knots = np.unique(ascending[np.linspace(0, len(ascending) - 1, _MOST_KNOTS).round().astype(int)])
    halves = np.searchsorted(ascending, knots) + np.searchsorted(ascending, knots, side="right")
    heights: Values = ndtri(halves / (2 * max(len(ascending), 1)))
    return knots, heights


@dataclass(frozen=True)
class Scaling:
    """Mean and inverse deviation of each feature, its logarithm or quantile; 0 inverts that of a constant."""

    mean: Values
    inverse: Values
    log: bool = False
    quantiles: Quantiles = field(default_factory=Quantiles)

    @classmethod
    def of(cls, X: Features, *, log: bool = False, quantile: bool = False) -> Scaling:
        """Learn the scale of the features.

        >>> scaling = Scaling.of(np.array([[1, 5], [3, 5], [np.nan, 5]], np.float32))
        >>> scaling.mean, scaling.inverse
        (array([2., 5.]), array([1., 0.]))
        """
        zeros = np.zeros(X.shape[1])
        sums = cls(zeros, zeros, log)._sums(X)
        if np.isinf(sums[:, 1]).any() or np.isnan(sums[:, 1]).any():
            raise InputError("X holds an infinite value, which no scale can hold: clip it, or make it NaN")
        quantiles = Quantiles.of(X) if quantile else Quantiles()
        if quantile:
            sums = cls(zeros, zeros, log, quantiles)._sums(X)
        count = np.maximum(sums[:, 0].sum(axis=0), 1)
        mean = sums[:, 1].sum(axis=0) / count
        varies = sums[:, 4].max(axis=0) > sums[:, 3].min(axis=0)  # rounding may give a constant a deviation
        deviation = np.sqrt(cls(mean, zeros, log, quantiles)._sums(X)[:, 2].sum(axis=0) / count)
        return cls(mean, np.divide(1.0, deviation, out=np.zeros(len(mean)), where=varies), log, quantiles)

    @classmethod
    def done(cls, n_features: int) -> Scaling:
        """Of features that are on the common scale already."""
        return cls(np.zeros(n_features), np.ones(n_features))

    @property
    def rules(self) -> tuple[Values, Values, bool, NDArray[np.float32], Values, Offsets]:
        """What kernels take."""
        curve = self.quantiles
        taming = read_only(curve.knots), read_only(curve.heights), read_only(curve.knot_ptr)
        return read_only(self.mean), read_only(self.inverse), self.log, *taming

    def scale(self, X: Features, rows: Offsets, out: Features) -> None:
        """Write these rows of X to `out`, on the common scale."""
        over_chunks(_scale_rows, len(rows), read_only(X), rows, *self.rules, out, smallest=_PIECE)

    def _sums(self, X: Features) -> Values:
        n_pieces = -(-len(X) // _PIECE)
        out = np.zeros((n_pieces, 5, X.shape[1]))
        center, _, *taming = self.rules
        over_chunks(_sum_pieces, n_pieces, read_only(X), center, *taming, out)
        return out
