"""Winning Numbers (Tax, Bockting & Hiemstra 2015): who beats how many others, where results are sparse.

    WN_i = Σ_j Σ_k 1[M_i(j) > M_k(j)]        IWN_i = the WN it could have had        NWN_i = WN_i / IWN_i

over the results j (a measure on a dataset) that method i has. NWN tells how good a method is, IWN how sure
one can be of it. The ideal of a result has two readings:

    pairs      every comparison won: the number of other methods with that result (the paper's words)
    attained   the largest number of wins that any method has there, which a tie for the first place lowers
               (an R script that appears to be the authors')

On the Pareto front are methods that no other equals or exceeds in both IWN and NWN, exceeding one; *rank 2*
are those with exactly one other above them in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._types import Values
from pomona.errors import InputError, UnknownNameError

Reading = Literal["pairs", "attained"]
READINGS: tuple[Reading, ...] = ("pairs", "attained")


@dataclass(frozen=True)
class WinningNumbers:
    """One number a method, in the order of the table's rows.

    Attributes
    ----------
    winning, ideal : WN and IWN.
    """

    winning: NDArray[np.int64]
    ideal: NDArray[np.int64]

    @property
    def normalized(self) -> Values:
        """NWN; NaN where nothing was compared."""
        with np.errstate(invalid="ignore"):
            return self.winning / self.ideal

    @property
    def is_pareto(self) -> NDArray[np.bool_]:
        """Whether no other method is at least as good in both numbers and better in one."""
        return pareto(self.ideal, self.normalized)

    @property
    def is_rank2(self) -> NDArray[np.bool_]:
        """Whether exactly one other method is better in both numbers."""
        return rank2(self.ideal, self.normalized)


def winning_numbers(table: ArrayLike, reading: Reading = "pairs") -> WinningNumbers:
    """Count wins in a table of methods (rows) × results (columns, higher is better, NaN where absent).

    >>> won = winning_numbers([[0.5, 0.4], [0.5, np.nan], [0.3, 0.2]])
    >>> won.winning.tolist(), won.ideal.tolist(), won.normalized.tolist()
    ([2, 1, 0], [3, 2, 3], [0.6666666666666666, 0.5, 0.0])
    """
    if reading not in READINGS:
        raise UnknownNameError("reading", reading, READINGS)
    results = np.asarray(table, np.float64)
    if results.ndim != 2:
        raise InputError(f"expected a table of methods × results, found {results.ndim} dimensions")
    winning = np.zeros(len(results), np.int64)
    ideal = np.zeros(len(results), np.int64)
    for column in results.T:
        present = ~np.isnan(column)
        wins = (column[:, None] > column[None, :]).sum(axis=1)
        winning += wins
        ideal += present * (present.sum() - 1 if reading == "pairs" else wins.max(initial=0))
    return WinningNumbers(winning, ideal)


def pareto(x: ArrayLike, y: ArrayLike) -> NDArray[np.bool_]:
    """Points that no other equals or exceeds in both x and y, exceeding one; NaN never is one.

    >>> pareto([1, 2, 3, 3], [3, 3, 1, 0]).tolist()
    [False, True, True, False]
    """
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    at_least = (a[None, :] >= a[:, None]) & (b[None, :] >= b[:, None])
    above = (a[None, :] > a[:, None]) | (b[None, :] > b[:, None])
    return ~(at_least & above).any(axis=1) & ~np.isnan(a) & ~np.isnan(b)


def rank2(x: ArrayLike, y: ArrayLike) -> NDArray[np.bool_]:
    """Points with exactly one other above them in both x and y.

    >>> rank2([1, 2, 3, 0], [1, 2, 3, 0]).tolist()
    [False, True, False, False]
    """
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    above_both = (a[None, :] > a[:, None]) & (b[None, :] > b[:, None])
    one_above: NDArray[np.bool_] = above_both.sum(axis=1) == 1
    return one_above
