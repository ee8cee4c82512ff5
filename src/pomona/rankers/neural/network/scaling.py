"""Features on a common scale, as the network sees them: mean 0 and deviation 1 over the training documents.

    x' = (t − mean) / deviation, cut to [−10, 10],   t = sign(x) log(1 + |x|), or x itself

The logarithm tames counts and clicks, whose few huge values would leave all others at about 0 (Qin et al.
2021). The cut keeps a value far out of the training data's range from outweighing all others. An undefined
value becomes 0, which is the mean, and so does a feature that is constant in the training data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Offsets, Values
from pomona.data.dataset import read_only
from pomona.errors import InputError

_PIECE = 4096  # rows summed apart, so that sums do not depend on the number of threads
FARTHEST = 10.0


@kernel
def _tamed(x, log):
    x = np.float64(x)
    return np.copysign(np.log1p(abs(x)), x) if log else x


@kernel
def scale_row(row, mean, inverse, log, out):
    """row, out (n_features,) float32 · mean, inverse (n_features,) float64."""
    for j in range(mean.size):
        x = (_tamed(row[j], log) - mean[j]) * inverse[j]
        out[j] = 0.0 if np.isnan(x) else min(max(x, -FARTHEST), FARTHEST)


@kernel
def _scale_rows(first, last, X, rows, mean, inverse, log, out):
    for i in range(first, last):
        scale_row(X[rows[i]], mean, inverse, log, out[i])


@kernel
def _sum_pieces(first, last, X, center, log, out):
    """out (n_pieces, 5, n_features): count, Σ (t − center), Σ (t − center)², least and most defined value."""
    for piece in range(first, last):
        count, total, squares, least, most = out[piece]
        least[:], most[:] = np.inf, -np.inf
        for i in range(piece * _PIECE, min((piece + 1) * _PIECE, len(X))):
            for j in range(center.size):
                away = _tamed(X[i, j], log) - center[j]
                if not np.isnan(away):
                    count[j] += 1
                    total[j] += away
                    squares[j] += away * away
                    least[j], most[j] = min(least[j], away), max(most[j], away)


def _sums(X: Features, center: Values, log: bool) -> Values:
    n_pieces = -(-len(X) // _PIECE)
    out = np.zeros((n_pieces, 5, X.shape[1]))
    over_chunks(_sum_pieces, n_pieces, read_only(X), center, log, out)
    return out


@dataclass(frozen=True)
class Scaling:
    """Mean and inverse deviation of each feature, or of its logarithm; 0 inverts that of a constant."""

    mean: Values
    inverse: Values
    log: bool = False

    @classmethod
    def of(cls, X: Features, *, log: bool = False) -> Scaling:
        """Learn the scale of the features.

        >>> Scaling.of(np.array([[1, 5], [3, 5], [np.nan, 5]], np.float32))
        Scaling(mean=array([2., 5.]), inverse=array([1., 0.]), log=False)
        """
        sums = _sums(X, np.zeros(X.shape[1]), log)
        if np.isinf(sums[:, 1]).any() or np.isnan(sums[:, 1]).any():
            raise InputError("X holds an infinite value, which no scale can hold: clip it, or make it NaN")
        count = np.maximum(sums[:, 0].sum(axis=0), 1)
        mean = sums[:, 1].sum(axis=0) / count
        varies = sums[:, 4].max(axis=0) > sums[:, 3].min(axis=0)  # rounding may give a constant a deviation
        deviation = np.sqrt(_sums(X, mean, log)[:, 2].sum(axis=0) / count)
        return cls(mean, np.divide(1.0, deviation, out=np.zeros(len(mean)), where=varies), log)

    @classmethod
    def done(cls, n_features: int) -> Scaling:
        """Of features that are on the common scale already."""
        return cls(np.zeros(n_features), np.ones(n_features))

    def scale(self, X: Features, rows: Offsets, out: Features) -> None:
        """Write these rows of X to `out`, on the common scale."""
        scale = self.mean, self.inverse, self.log
        over_chunks(_scale_rows, len(rows), read_only(X), rows, *scale, out, smallest=_PIECE)
