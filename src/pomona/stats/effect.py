"""How large a difference is: Cohen's d, wins and losses, and the smallest difference that n queries can show.

Of the differences d_q of two rankers' values, Cohen's (1988) d_z = mean(d) / sd(d): unlike p it does not grow
with the number of queries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import nctdtrinc, stdtrit

from pomona._types import Values
from pomona.errors import InputError
from pomona.stats.sample import sample_of

_ROUNDING = 1e-12


def spread(d: ArrayLike) -> Values:
    """The standard deviation of differences, the last axis being the queries; of a single query NaN.

    >>> float(spread([1, 2, 3]))
    1.0
    """
    sample = sample_of(d)
    if sample.shape[-1] == 1:
        return np.full(sample.shape[:-1], np.nan)[()]
    deviation = sample.std(axis=-1, ddof=1)
    # The same number everywhere has a mean that differs from it in the last bit.
    return np.where(deviation <= _ROUNDING * np.abs(sample).max(axis=-1), 0.0, deviation)[()]


def cohen_d(d: ArrayLike) -> Values:
    """The mean difference in standard deviations of the differences, the last axis being the queries.

    No difference at all is 0, the same difference everywhere is infinite, a single query undefined (NaN).

    >>> float(cohen_d([1, 2, 3]))
    2.0
    """
    sample = sample_of(d)
    deviation, mean = spread(sample), sample.mean(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((mean == 0) & (deviation == 0), 0.0, mean / deviation)[()]


def win_tie_loss(d: ArrayLike) -> NDArray[np.int64]:
    """How many differences are above, at and below 0, in a first axis of three.

    >>> win_tie_loss([0.2, 0, -0.1, 0.4]).tolist()
    [2, 1, 1]
    """
    sample = sample_of(d)
    signs = (sample > 0, sample == 0, sample < 0)
    return np.stack([np.count_nonzero(sign, axis=-1) for sign in signs])


def smallest_detectable(n: int, sd: ArrayLike, alpha: float = 0.05, power: float = 0.8) -> Values:
    """The mean difference that a paired t-test on n queries finds with probability `power`.

    sd : of the differences. The noncentral t distribution gives it exactly (but for the chance, far below
        `alpha`, of finding it with the wrong sign). A single query can detect nothing (NaN).

    >>> round(float(smallest_detectable(100, sd=0.2)), 4)  # a little above 0.2 (1.96 + 0.84) / 10
    0.0566
    """
    if not (0 < alpha < 1 and 0 < power < 1):
        raise InputError(f"found alpha={alpha} and power={power}, expected numbers between 0 and 1")
    deviation = np.asarray(sd, np.float64)
    if n < 2:
        return np.full(deviation.shape, np.nan)[()]
    critical = stdtrit(n - 1, 1 - alpha / 2)
    detectable: Values = nctdtrinc(n - 1, 1 - power, critical) * deviation / np.sqrt(n)
    return detectable
