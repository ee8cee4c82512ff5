"""How many queries a paired t-test needs, and what it finds with those there are.

    power = P(|t'| > t_{1−α/2, n−1}),   t' noncentral t with n − 1 degrees and noncentrality d √n

for an effect d = mean difference / standard deviation of the differences (Cohen 1988). Both tails count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import nctdtr, stdtrit

from pomona._types import Values
from pomona.errors import InputError
from pomona.stats.paired import t_test
from pomona.stats.sample import sample_of

MOST_QUERIES = 10**9
_AT_ONCE = 2**22  # numbers drawn at a time


def paired_power(n: ArrayLike, effect: float, alpha: float = 0.05) -> Values:
    """How likely n queries show an effect; 0 for a single one.

    >>> round(float(paired_power(34, 0.5)), 4)
    0.8078
    """
    check_share("alpha", alpha)
    sizes = np.asarray(n, np.float64)
    degrees = np.maximum(sizes - 1, 1)
    limit, shift = stdtrit(degrees, 1 - alpha / 2), abs(effect) * np.sqrt(sizes)
    # Far out the tail on the other side is 0, where SciPy's function gives NaN.
    other = np.nan_to_num(nctdtr(degrees, shift, -limit))
    found = np.nan_to_num(1 - nctdtr(degrees, shift, limit), nan=1.0) + other
    shaped: Values = np.where(sizes < 2, 0.0, np.clip(found, 0, 1))[()]
    return shaped


def queries_needed(effect: float, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """The fewest queries that show an effect with this power; None if it is 0 or next to it.

    >>> queries_needed(0.5)
    34
    """
    check_share("power", power)
    high = 2
    while paired_power(high, effect, alpha) < power:
        high *= 2
        if high > MOST_QUERIES or effect == 0:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if paired_power(middle, effect, alpha) >= power else (middle, high)
    return max(high, 2)


def simulated_power(
    d: ArrayLike, n: int, difference: float, *, alpha: float = 0.05, n_simulations: int = 2000, seed: int = 0
) -> float:
    """How often a t-test rejects on n queries drawn from a pilot's, whose mean is moved to `difference`.

    Unlike the formula it knows how the pilot's differences are spread: mostly 0, with a few large ones, say.
    """
    check_share("alpha", alpha)
    sample = sample_of(d)
    if n < 2 or sample.size < 2:
        return 0.0
    moved = sample - sample.mean() + difference
    random, rejected, done = np.random.default_rng(seed), 0, 0
    while done < n_simulations:
        size = min(n_simulations - done, max(1, _AT_ONCE // n))
        drawn = moved[random.integers(0, len(moved), (size, n))]
        rejected += int(
            ((t_test(drawn) <= alpha) & (np.sign(drawn.mean(axis=1)) == np.sign(difference))).sum()
        )
        done += size
    return rejected / n_simulations


def check_share(name: str, value: float) -> None:
    """Refuse what is no probability."""
    if not 0 < value < 1:
        raise InputError(f"found {name} {value}, expected a number between 0 and 1")
