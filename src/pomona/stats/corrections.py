"""Corrections of p-values when many comparisons are made at once.

    Holm                 p₍ᵢ₎ → max_{j≤i} (m − j + 1) p₍ⱼ₎    any false claim at all has probability α
    Benjamini–Hochberg   p₍ᵢ₎ → min_{j≥i} m p₍ⱼ₎ / j          of the claims, a share α is false on average

at most 1, for the sorted p-values p₍₁₎ ≤ … ≤ p₍ₘ₎ of a family.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pomona._types import Values
from pomona.errors import InputError


def holm(p_values: ArrayLike) -> Values:
    """Adjusted p-values of one family, in the order given (Holm 1979).

    >>> holm([0.03, 0.01, 0.04]).tolist()
    [0.06, 0.03, 0.06]
    """
    p = _family(p_values)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> Values:
    """Adjusted p-values of one family, in the order given (Benjamini & Hochberg 1995).

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.04, 0.04]
    """
    p = _family(p_values)
    order, m = np.argsort(p, kind="stable"), len(p)
    adjusted, raised = np.empty_like(p), p[order] * (m / np.arange(1, m + 1))
    adjusted[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return adjusted


def _family(p_values: ArrayLike) -> Values:
    p = np.asarray(p_values, np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("expected a list of p-values between 0 and 1")
    return p
