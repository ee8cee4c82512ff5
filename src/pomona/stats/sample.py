"""What every test is given: values a query, checked, and their differences without the rounding.

Two rankers that place a query's documents equally well may differ in the last bit (0.3 − 0.1 is not
0.4 − 0.2, and a mean over seeds rounds too). Rank and sign tests would count that as wins and break true
ties, so differences are rounded to twelve decimals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pomona._types import Values
from pomona.errors import InputError

_DECIMALS = 12


def sample_of(values: ArrayLike) -> Values:
    """Values as float64, the last axis being the queries; an empty or undefined one is refused.

    >>> sample_of([0, 1]).dtype
    dtype('float64')
    """
    try:
        sample = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError("expected numbers, one a query (each ranker as many)") from None
    if sample.ndim == 0 or sample.shape[-1] == 0:
        raise InputError("found no query, expected at least one value")
    if not np.isfinite(sample).all():
        place = np.argwhere(~np.isfinite(sample))[0]
        raise InputError(
            f"the value of query number {place[-1] + 1} is {sample[tuple(place)]}, expected a finite number: "
            "leave out queries that were not judged"
        )
    return sample


def differences(a: ArrayLike, b: ArrayLike) -> Values:
    """a − b for each query, rounded so that equal is equal.

    >>> differences([0.3, 0.4], [0.1, 0.2]).tolist()
    [0.2, 0.2]
    """
    ours, theirs = sample_of(a), sample_of(b)
    if ours.shape != theirs.shape:
        raise InputError(
            f"found {ours.shape[-1]} and {theirs.shape[-1]} values, expected the same queries for both"
        )
    return np.round(ours - theirs, _DECIMALS)
