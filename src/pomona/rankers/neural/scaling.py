"""Features on a common scale, as the network sees them: mean 0 and deviation 1 over the training documents.

    x' = (x − mean) / deviation, cut to [−10, 10]

The cut keeps a value far out of the training data's range from outweighing all others. An undefined value
becomes 0, which is the mean, and so does a feature that is constant in the training data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Offsets, Values
from pomona.data.dataset import read_only
from pomona.errors import InputError

_PIECE = 4096  # rows summed apart, so that sums do not depend on the number of threads
_FARTHEST = 10.0


@kernel
def scale_row(row, mean, inverse, out):
    """row, out (n_features,) float32 · mean, inverse (n_features,) float64."""
    for j in range(mean.size):
        x = (np.float64(row[j]) - mean[j]) * inverse[j]
        out[j] = 0.0 if np.isnan(x) else min(max(x, -_FARTHEST), _FARTHEST)


@kernel
def _scale_rows(first, last, X, rows, mean, inverse, out):
    for i in range(first, last):
        scale_row(X[rows[i]], mean, inverse, out[i])


@kernel
def _sum_pieces(first, last, X, center, out):
    """out (n_pieces, 3, n_features): count, Σ (x − center) and Σ (x − center)² of defined values."""
    for piece in range(first, last):
        count, total, squares = out[piece, 0], out[piece, 1], out[piece, 2]
        for i in range(piece * _PIECE, min((piece + 1) * _PIECE, len(X))):
            for j in range(center.size):
                away = np.float64(X[i, j]) - center[j]
                if not np.isnan(away):
                    count[j] += 1
                    total[j] += away
                    squares[j] += away * away


def _sums(X: Features, center: Values) -> Values:
    n_pieces = -(-len(X) // _PIECE)
    out = np.zeros((n_pieces, 3, X.shape[1]))
    over_chunks(_sum_pieces, n_pieces, read_only(X), center, out)
    sums: Values = out.sum(axis=0)
    return sums


@dataclass(frozen=True)
class Scaling:
    """Mean and inverse deviation of each feature; the inverse is 0 for a feature that is constant."""

    mean: Values
    inverse: Values

    @classmethod
    def of(cls, X: Features) -> Scaling:
        """Learn the scale of the features.

        >>> Scaling.of(np.array([[1, 5], [3, 5], [np.nan, 5]], np.float32))
        Scaling(mean=array([2., 5.]), inverse=array([1., 0.]))
        """
        if np.isinf(X).any():
            raise InputError("X holds an infinite value, which no scale can hold: clip it, or make it NaN")
        # Around the first defined value the sums of a constant feature are exactly 0.
        some = X[np.isfinite(X).argmax(axis=0), np.arange(X.shape[1])]
        center = np.nan_to_num(some.astype(np.float64))
        count, total, _ = _sums(X, center)
        mean = center + total / np.maximum(count, 1)
        _, _, squares = _sums(X, mean)
        deviation = np.sqrt(squares / np.maximum(count, 1))
        inverse = np.divide(1.0, deviation, out=np.zeros(len(mean)), where=deviation > 0)
        return cls(mean, inverse)

    def scaled(self, X: Features, rows: Offsets) -> Features:
        """These rows of X, on the common scale."""
        out = np.empty((len(rows), X.shape[1]), np.float32)
        over_chunks(_scale_rows, len(rows), read_only(X), rows, self.mean, self.inverse, out, smallest=_PIECE)
        return out
