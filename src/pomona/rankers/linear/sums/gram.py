"""Second moments of features: XᵀWX, and a basis that makes it 1.

Least squares and logistic regression need little else of the data. Rows are added up in pieces whose size
depends on their number alone, and the pieces in order; the small matrices are handled without a BLAS, which
splits its work by cores. So the same data give the same bits whatever the number of threads.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Values
from pomona.data.rows import read_only
from pomona.rankers.linear.sums.feature_sums import feature_sums, sum_of_pieces, symmetric

_PIECES = 32
_BLOCK = 128
_DEPENDENT = 1e-12
"""A feature of which no larger share is left, once the others are taken out of it, is made up of them."""


@kernel(fastmath=True)
def _add_products(first, last, X, weights, center, size, out):
    """X (n_docs, n_features) · weights (n_docs,) · out (n_pieces, n_features, n_features), lower half."""
    n_features = center.size
    columns, weighted = np.empty((n_features, _BLOCK)), np.empty((n_features, _BLOCK))
    for piece in range(first, last):
        stop = min((piece + 1) * size, len(X))
        for begin in range(piece * size, stop, _BLOCK):
            n = min(_BLOCK, stop - begin)
            for i in range(n):
                row, weight = X[begin + i], weights[begin + i]
                for j in range(n_features):
                    x = np.float64(row[j]) - center[j]
                    columns[j, i], weighted[j, i] = x, x * weight
            for j in range(n_features):
                left = weighted[j, :n]
                for k in range(j + 1):
                    right, total = columns[k, :n], 0.0
                    for i in range(n):
                        total += left[i] * right[i]
                    out[piece, j, k] += total


@kernel(fastmath=True)
def _orthogonalize(matrix, out):
    """Unit vectors made orthonormal in the inner product of the matrix, the most independent first.

    matrix (d, d) with a diagonal of 1 or 0 · out (d, d), a vector a row. Returns how many there are.
    """
    d = len(matrix)
    left = np.diag(matrix).copy()  # of each unit vector's square, once those before are taken out
    products = np.zeros((d, d))  # of each unit vector with each vector found
    for rank in range(d):
        pivot = np.argmax(left)
        if left[pivot] <= _DEPENDENT:
            return rank
        root, pivot_products = np.sqrt(left[pivot]), products[pivot, :rank].copy()
        for i in range(d):
            total, row = matrix[i, pivot], products[i]
            for r in range(rank):
                total -= row[r] * pivot_products[r]
            row[rank] = total / root
            left[i] -= row[rank] * row[rank]
        left[pivot] = 0.0
        vector = out[rank]
        for r in range(rank):
            earlier = out[r]
            for j in range(d):
                vector[j] -= pivot_products[r] * earlier[j]
        vector[pivot] += 1.0
        for j in range(d):
            vector[j] /= root
    return d


def weighted_means(X: Features, weights: Values) -> Values:
    """The mean of each feature: of one that is constant, exactly its value."""
    first = X[0].astype(np.float64)
    means: Values = first + feature_sums(X, weights, first) / weights.sum()
    return means


def gram(X: Features, weights: Values, center: Values) -> Values:
    """Σ_i weights_i (x_i − center)(x_i − center)ᵀ."""
    size = max(1024, -(-len(X) // _PIECES))
    pieces = np.zeros((-(-len(X) // size), *center.shape * 2))
    over_chunks(_add_products, len(pieces), read_only(X), read_only(weights), read_only(center), size, pieces)
    return symmetric(sum_of_pieces(pieces))


def whitening(matrix: Values) -> Values:
    """(d, rank) B with Bᵀ A B = 1 for a (d, d) matrix A without negative eigenvalues; A⁻¹ b is B Bᵀ b.

    By Gram–Schmidt, with the diagonal of A scaled to 1. A feature that others make up has a row of zeros in
    B: it gets no weight.

    >>> whitening(np.array([[4.0, 4.0, 0.0], [4.0, 4.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [[0.5], [0.0], [0.0]]
    """
    diagonal = np.diag(matrix)
    scale = np.divide(1.0, np.sqrt(diagonal), out=np.zeros(len(matrix)), where=diagonal > 0)
    basis = np.zeros(matrix.shape)
    rank = _orthogonalize(matrix * scale * scale[:, None], basis)
    return np.ascontiguousarray(basis[:rank].T * scale[:, None])


def combined(rows: Values, weights: Values) -> Values:
    """Σ_r weights_r rows_r, without a BLAS."""
    total: Values = np.einsum("rj,r->j", rows, weights)
    return total
