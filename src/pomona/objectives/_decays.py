"""The weights of ranks as a sum of few exponentials: w_r = Σ_m share_m · decay_m^(r − 1).

A discount that falls smoothly (logarithmic, geometric, reciprocal) is that, to twelve digits, with at most 40
decays; what is linear in w then needs so many products instead of a sum over all ranks.
"""

from __future__ import annotations

import numpy as np

from pomona._types import Values

_PRECISION = 1e-12  # of the largest weight


def as_decays(weight: Values, longest: int) -> tuple[Values, Values]:
    """(shares, decays); none if ranks up to `longest` are cut off, or the weights do not fall smoothly.

    >>> shares, decays = as_decays(1 / np.log2(np.arange(2, 502)), 500)
    >>> len(decays), [round(float(shares @ decays**r), 6) for r in (0, 2)]
    (32, [1.0, 0.5])
    >>> as_decays(0.2 * 0.8 ** np.arange(500), 500)
    (array([0.2]), array([0.8]))
    >>> as_decays(1 / np.log2(np.arange(2, 12)), 500)
    (array([], dtype=float64), array([], dtype=float64))
    """
    if len(weight) >= max(longest, 2):
        rank = np.arange(len(weight))[:, None]
        geometric = np.array([weight[1] / weight[0] if 0 < weight[1] <= weight[0] else 1.0])
        for decays in (geometric, *(_spread(count, longest) for count in (8, 16, 24, 32, 40))):
            powers = decays**rank
            shares = np.linalg.lstsq(powers, weight, rcond=None)[0]
            if np.abs(powers @ shares - weight).max() <= _PRECISION * np.abs(weight).max():
                return shares.astype(np.float64), decays
    return np.empty(0), np.empty(0)


def _spread(count: int, longest: int) -> Values:
    """Decays between 0.002 and 1: quick ones for the first ranks, slower ones for ever longer stretches."""
    decays: Values = np.exp(-np.append(0.0, np.geomspace(0.5 / longest, 6.0, count - 1)))
    return decays
