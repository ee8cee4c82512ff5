"""A weighted sum of models as one model of the same kind: forests are one forest, linear ones one sum.

    Σ_i w_i (b_i + Σ_t tree_it(x)) = Σ_i w_i b_i + Σ_i Σ_t (w_i tree_it)(x)

So an ensemble is scored at the speed of one model, and goes wherever one can be exported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pomona.errors import InputError
from pomona.rankers.base import Ranker
from pomona.trees.forest import Forest
from pomona.trees.formats.weighted_sum import WeightedSum


def weighted(members: Sequence[Ranker], weights: Sequence[float]) -> Forest | WeightedSum:
    """The one model whose scores are the weighted sum of those of all; refused where no such can be."""
    names = members[0].feature_names_
    if any(member.feature_names_ != names for member in members):
        raise InputError("the models have features of different names: they make no one model")
    parts = [member.portable() for member in members]
    return _sum_of(parts, [float(weight) for weight in weights])


def weighted_or_none(members: Sequence[Ranker], weights: Sequence[float]) -> Forest | WeightedSum | None:
    """As `weighted`; None where no such can be."""
    try:
        return weighted(members, weights)
    except InputError:
        return None


def _sum_of(parts: Sequence[Any], weights: Sequence[float]) -> Forest | WeightedSum:
    n_features = parts[0].n_features
    if all(isinstance(part, Forest) for part in parts):
        scaled = [part.scaled(weight) for part, weight in zip(parts, weights, strict=True)]
        return Forest.join(scaled, n_features, sum(part.base for part in scaled))
    if all(isinstance(part, WeightedSum) for part in parts):
        coef = sum(weight * part.coef for part, weight in zip(parts, weights, strict=True))
        start = sum(weight * part.start for part, weight in zip(parts, weights, strict=True))
        features = np.flatnonzero(coef)
        return WeightedSum(features, coef[features], n_features, start)
    kinds = " and ".join(sorted({type(part).__name__ for part in parts}))
    raise InputError(f"the models are {kinds}, whose sum is no one model: combine forests, or weighted sums")
