"""Products with the matrix of features: Xw, the scores of weights, and Xᵀu, the way back.

A gradient by the scores becomes one by the weights through sums over documents. These are added up in pieces
that depend on the data alone, then the pieces in order, so that any number of threads gives the same bits.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Offsets, Scores, Values
from pomona.data.rows import read_only

N_PIECES = 64


@kernel(fastmath=True)
def _weighted_sums(first, last, X, coef, out):
    """X (n_docs, n_features) float32 · coef (n_features,) float64 · out (n_docs,)."""
    for i in range(first, last):
        row, total = X[i], 0.0
        for j in range(coef.size):
            total += coef[j] * np.float64(row[j])
        out[i] = total


@kernel
def _sum(first, last, X, weight, center, out):
    """X (n_docs, n_features) · weight (n_docs,) · center (n_features,) · out (n_pieces, n_features)."""
    size = -(-X.shape[0] // out.shape[0])
    for piece in range(first, last):
        total = out[piece]
        for i in range(piece * size, min((piece + 1) * size, X.shape[0])):
            row, u = X[i], weight[i]
            for j in range(total.size):
                total[j] += u * (np.float64(row[j]) - center[j])


@kernel
def _sum_products(first, last, X, query_ptr, weight, relative, out):
    """Of two features less their means in the query · weight (n_queries,) · out (n_pieces, d, d).

    relative (n_docs,) : of each document, beside the others of its query.
    """
    size = -(-(query_ptr.size - 1) // out.shape[0])
    mean = np.empty(X.shape[1])
    for piece in range(first, last):
        for q in range(piece * size, min((piece + 1) * size, query_ptr.size - 1)):
            begin, end = query_ptr[q], query_ptr[q + 1]
            if weight[q] == 0.0 or begin == end:
                continue
            mean[:], size_of_query = 0.0, 0.0
            for i in range(begin, end):
                size_of_query += relative[i]
            for i in range(begin, end):
                for j in range(mean.size):
                    mean[j] += relative[i] * np.float64(X[i, j]) / size_of_query
            for i in range(begin, end):
                for j in range(mean.size):
                    u, total = weight[q] * relative[i] * (np.float64(X[i, j]) - mean[j]), out[piece, j]
                    for k in range(j + 1):
                        total[k] += u * (np.float64(X[i, k]) - mean[k])


def weighted_sums(X: Features, coef: Values) -> Scores:
    """X @ coef in float64, each row added in the same order wherever it stands."""
    out = np.empty(len(X))
    over_chunks(_weighted_sums, len(X), read_only(X), read_only(coef), out, smallest=4096)
    return out


def feature_sums(X: Features, weight: Values, center: Values | None = None) -> Values:
    """Xᵀu: for each feature, the sum of its values (less `center`) times the documents' weights.

    >>> feature_sums(np.array([[1, 2], [3, 4]], np.float32), np.array([1.0, 10.0]))
    array([31., 42.])
    """
    pieces = np.zeros((N_PIECES, X.shape[1]))
    base = np.zeros(X.shape[1]) if center is None else center
    over_chunks(_sum, N_PIECES, read_only(X), read_only(weight), read_only(base), pieces)
    return sum_of_pieces(pieces)


def feature_covariance(
    X: Features, query_ptr: Offsets, weights: Values, relative: Values | None = None
) -> Values:
    """How features vary together inside queries: Σ_q u_q Σ_i r_i (x_i − mean of q)(x_i − mean of q)ᵀ.

    `weights` has one u a query, `relative` one r a document; 1 for all if left out.

    >>> feature_covariance(np.array([[1, 2], [3, 4]], np.float32), np.array([0, 2]), np.ones(1))
    array([[2., 2.],
           [2., 2.]])
    """
    pieces = np.zeros((N_PIECES // 4, X.shape[1], X.shape[1]))
    given = read_only(weights), read_only(np.ones(len(X)) if relative is None else relative)
    over_chunks(_sum_products, len(pieces), read_only(X), read_only(query_ptr), *given, pieces)
    return symmetric(sum_of_pieces(pieces))


def varying_features(X: Features, query_ptr: Offsets, weights: Values) -> Offsets:
    """The features that are not constant inside every query with a weight.

    >>> varying_features(np.array([[1, 2], [1, 3]], np.float32), np.array([0, 2]), np.ones(1))
    array([1])
    """
    starts = query_ptr[:-1]
    varies = np.maximum.reduceat(X, starts) > np.minimum.reduceat(X, starts)
    return np.flatnonzero(varies[weights > 0].any(axis=0))


def sum_of_pieces(pieces: Values) -> Values:
    """The pieces added in order."""
    total = np.zeros(pieces.shape[1:])
    for piece in pieces:
        total += piece
    return total


def symmetric(lower: Values) -> Values:
    """The symmetric matrix of a lower triangle."""
    return lower + np.tril(lower, -1).T
