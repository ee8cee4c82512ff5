"""Sums of floats without any rounding, so that neither their order nor who adds them changes a bit.

A sum is an integer of units of 2⁻¹⁰⁷⁴, the least float, kept as digits of 32 bits: such digits can be added
up by anything that adds arrays of integers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BITS = 32
_UNITS = 1074
N_DIGITS = (_UNITS + 1024 + 64) // _BITS + 1
"""Enough for 2⁶⁴ of the largest floats."""


def exact_sum(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """(N_DIGITS,) the digits of a sum of finite floats, lowest first; those of a sum below 0 are negative.

    >>> float_ratio(exact_sum(np.array([1e100, 1.0, -1e100])), exact_sum(np.array([4.0])))
    0.25
    """
    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**53).astype(np.int64)
    total = 0
    for exponent in np.unique(exponents).tolist():
        some = whole[exponents == exponent]
        # In two halves, whose sums stay within 64 bits.
        units = (int((some >> 26).sum()) << 26) + int((some & (2**26 - 1)).sum())
        shift = exponent - 53 + _UNITS
        total += units << shift if shift >= 0 else units >> -shift  # those of tiny floats end in zeros
    digits = [(abs(total) >> (_BITS * k)) & (2**_BITS - 1) for k in range(N_DIGITS)]
    return np.array(digits, np.int64) * (1 if total >= 0 else -1)


def float_ratio(above: NDArray[np.int64], below: NDArray[np.int64]) -> float:
    """The float nearest to the quotient of two sums, 0 where there is nothing to divide by."""
    numerator, denominator = (
        sum(int(digit) << (_BITS * k) for k, digit in enumerate(digits.tolist())) for digits in (above, below)
    )
    return numerator / denominator if denominator else 0.0
