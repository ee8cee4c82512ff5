"""One number for a ranker over several measures (Modrý 2014, eq. 5.1 and section 5.7.1).

    AVG_Norm_i        = mean over measures z of (z_i − min z) / (max z − min z)
    NormPerformance_i = mean over measures z of z_i / max z

Of AVG_Norm, minimum and maximum are over all rows, with the worst and the best possible ranking among them: 0
is the worst that could be, 1 the best, whatever the measure's scale. NormPerformance is 1 of a model that is
the best of all by every measure. (The thesis prints a division by the number of models; its own Table 5.7 has
the number of measures.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pomona._types import Values
from pomona.errors import InputError


def avg_norm(table: ArrayLike) -> Values:
    """AVG_Norm of each row of a table of rankers × measures (NaN where absent).

    A measure that is the same for all rows says nothing and is left out; a row without any is NaN.

    >>> avg_norm([[1.0, 0.8], [0.5, 0.4], [0.0, 0.0]]).tolist()
    [1.0, 0.5, 0.0]
    """
    values = _table(table)
    present = ~np.isnan(values)
    low = np.where(present, values, np.inf).min(axis=0, initial=np.inf)
    high = np.where(present, values, -np.inf).max(axis=0, initial=-np.inf)
    telling = high > low
    values, low, high = values[:, telling], low[telling], high[telling]
    shares, counts = (values - low) / (high - low), present[:, telling].sum(axis=1)
    with np.errstate(invalid="ignore"):
        mean: Values = np.nansum(shares, axis=1) / counts
    return mean


def norm_performance(table: ArrayLike) -> Values:
    """NormPerformance of each row of a table of rankers × measures (NaN where absent).

    A measure that is nowhere above 0 is left out; a row without any is NaN.

    >>> norm_performance([[0.5, 0.8], [0.4, 0.8]]).tolist()
    [1.0, 0.9]
    """
    values = _table(table)
    highest = np.where(np.isnan(values), -np.inf, values).max(axis=0, initial=-np.inf)
    shares = values[:, highest > 0] / highest[highest > 0]
    with np.errstate(invalid="ignore"):
        mean: Values = np.nansum(shares, axis=1) / (~np.isnan(shares)).sum(axis=1)
    return mean


def _table(table: ArrayLike) -> Values:
    values = np.asarray(table, np.float64)
    if values.ndim != 2:
        raise InputError(f"expected a table of rankers × measures, found {values.ndim} dimensions")
    return values
