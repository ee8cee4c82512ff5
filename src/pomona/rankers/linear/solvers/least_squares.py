"""Least squares inside queries: where a ranker starts from, or what it ends in.

    min_w  Σ_q u_q Σ_i r_i (w·(x_i − mean of q) − (t_i − mean of q))² / Σ_q u_q n_q  +  l2 ‖w‖²

Each query has its own intercept, as none changes a ranking: with one for all, weights would also be spent on
telling queries apart. Solved by the normal equations; where features repeat each other, the shortest of the
many solutions is taken, and constant features have no weight.
"""

from __future__ import annotations

import numpy as np

from pomona._types import Features, Offsets, Values
from pomona.rankers.linear.sums.feature_sums import feature_covariance, feature_sums, varying_features


def least_squares(
    X: Features,
    target: Values,
    query_ptr: Offsets,
    weights: Values,
    l2: float = 0.0,
    relative: Values | None = None,
) -> Values:
    """The weights of the features; l2 is for features of the scale of X.

    `weights` has one u a query, `relative` one r a document, 1 in the mean of a query; 1 for all if left out.

    >>> X, target = np.array([[0], [1], [5], [3]], np.float32), np.array([7.0, 10.0, 6.0, 0.0])
    >>> least_squares(X, target, np.array([0, 2, 4]), np.ones(2)).round(9)
    array([3.])
    """
    lengths, starts = np.diff(query_ptr), query_ptr[:-1]
    of_documents, weighted, sizes = np.repeat(weights, lengths), target, lengths.astype(np.float64)
    if relative is not None:
        of_documents, weighted = of_documents * relative, target * relative
        sizes = np.maximum(np.add.reduceat(relative, starts), np.finfo(np.float64).tiny)
    total = weights @ sizes
    centered = target - np.repeat(np.add.reduceat(weighted, starts) / sizes, lengths)
    square = feature_covariance(X, query_ptr, weights, relative) / total + l2 * np.eye(X.shape[1])
    moment = feature_sums(X, of_documents * centered) / total
    used, solution = varying_features(X, query_ptr, weights), np.zeros(X.shape[1])
    solution[used] = np.linalg.lstsq(square[np.ix_(used, used)], moment[used], rcond=1e-10)[0]
    return solution
