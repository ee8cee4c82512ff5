"""Where the spread of a ranker's values comes from: queries, folds, seeds.

    value = mean + fold + query (of a fold) + seed (a training, of a fold) + rest

Variance components by expected mean squares: with a folds of n_f queries, N in all, and k seeds each,

    E SS_rest    = (N − a)(k − 1) σ²_rest
    E SS_seeds   = (k − 1)(a σ²_rest + N σ²_seed)
    E SS_queries = (N − a)(σ²_rest + k σ²_query)
    E SS_folds   = (a − 1)(σ²_rest + k σ²_query) + (N − Σn_f²/N)(σ²_seed + k σ²_fold)

Estimates are differences and may fall below 0; such a one counts as 0. Seeds are nested in folds, since a
seed trains another model in each. What the data cannot tell is NaN: folds if there is one, seeds and the rest
if there is one seed (the rest is then within the share of the queries).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pomona._types import Values
from pomona.errors import InputError
from pomona.stats.sample import sample_of

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class VarianceShares:
    """Shares of the variance, which sum to 1 (to 0 if nothing varies); NaN where the data cannot tell."""

    queries: float
    folds: float
    seeds: float
    residual: float


def variance_shares(values: Sequence[Values]) -> VarianceShares:
    """The shares of one ranker's values: for each fold an array (queries × seeds), as many seeds in each.

    >>> variance_shares([np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]])])  # queries differ, folds do not
    VarianceShares(queries=1.0, folds=0.0, seeds=nan, residual=nan)
    """
    folds = [sample_of(fold) for fold in values]
    if not folds or any(fold.ndim != 2 or fold.shape[1] != folds[0].shape[1] for fold in folds):
        raise InputError("expected for each fold an array of queries × seeds, as many seeds in each")
    a, k = len(folds), folds[0].shape[1]
    sizes = np.array([len(fold) for fold in folds])
    n = int(sizes.sum())
    ss_queries = ss_seeds = ss_rest = 0.0
    for fold in folds:
        by_query = fold.mean(axis=1, keepdims=True) - fold.mean()
        by_seed = fold.mean(axis=0, keepdims=True) - fold.mean()
        ss_queries += k * float((by_query**2).sum())
        ss_seeds += len(fold) * float((by_seed**2).sum())
        ss_rest += float(((fold - fold.mean() - by_query - by_seed) ** 2).sum())
    means = np.array([fold.mean() for fold in folds])
    ss_folds = k * float((sizes * (means - np.average(means, weights=sizes)) ** 2).sum())

    ms_queries = ss_queries / max(n - a, 1)
    rest = ss_rest / max((n - a) * (k - 1), 1)
    query = max(0.0, (ms_queries - rest) / k)
    seed = max(0.0, (ss_seeds / max(k - 1, 1) - a * rest) / n)
    unevenness = n - float((sizes**2).sum()) / n
    fold_ = max(0.0, ((ss_folds - (a - 1) * ms_queries) / unevenness - seed) / k) if a > 1 else 0.0
    total = query + fold_ + seed + rest
    shares = np.array([query, fold_, seed, rest]) / (total if total > 0 else 1.0)
    shares[shares < _ROUNDING] = 0.0
    shares[[False, a == 1, k == 1, k == 1]] = np.nan
    return VarianceShares(*shares.tolist())
