"""How many queries must be judged? From a pilot: the values of two systems on some queries.

The formula of the paired t-test takes the pilot's standard deviation for that of all queries; the simulation
draws queries from the pilot itself. Where the two differ, the differences are far from normal: with few
queries believe the simulation, and with a pilot of less than some 30 queries neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from pomona._types import Values
from pomona.errors import InputError
from pomona.stats.effect import smallest_detectable, spread
from pomona.stats.power import check_share, paired_power, queries_needed, simulated_power
from pomona.stats.sample import sample_of

FEW = 30
"""A pilot of fewer queries tells little about the spread of all."""
_STEPS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


@dataclass(frozen=True)
class PowerAnalysis:
    """What a pilot tells about the number of queries.

    Attributes
    ----------
    n_queries, observed, sd : of the pilot: its queries, the mean and standard deviation of the differences.
    difference : the one that is to be shown.
    needed : the queries that show it with `power`; None if no number does.
    detectable : the smallest difference that the pilot's number of queries shows with `power`.
    power_now : how likely that number shows `difference`.
    curve : n_queries, power by the formula and simulated, and the detectable difference.
    """

    n_queries: int
    observed: float
    sd: float
    difference: float
    alpha: float
    power: float
    needed: int | None
    detectable: float
    power_now: float
    curve: pl.DataFrame

    @property
    def answer(self) -> str:
        """In words."""
        sure = f"with a probability of {self.power:.0%}"
        now = f"{self.n_queries} queries show a difference of {self.detectable:.4f} {sure}"
        if self.needed is None:
            return f"No number of queries shows a difference of {self.difference:.4f}. {now}."
        wanted = f"{abs(self.difference):.4f}"
        return (
            f"{self.needed} queries show a difference of {wanted} {sure} (paired t-test at {self.alpha:g}, "
            f"standard deviation {self.sd:.4f}). {now}, and one of {wanted} with {self.power_now:.0%}."
        )

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table by its name."""
        names = ("n_queries", "observed", "sd", "difference", "alpha", "power", "needed", "detectable")
        facts = {name: getattr(self, name) for name in (*names, "power_now")}
        return {"power": pl.DataFrame([facts]), "curve": self.curve}


def power(
    values: ArrayLike,
    baseline: ArrayLike | None = None,
    *,
    difference: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    n_simulations: int = 2000,
    seed: int = 0,
) -> PowerAnalysis:
    """Queries needed, and the difference that can be shown now, from a pilot.

    Parameters
    ----------
    values : a system's value of each query; or, without `baseline`, the differences themselves.
    baseline : the other system's values of the same queries.
    difference : what is to be shown; the pilot's own if left out.
    power, alpha : how likely a true difference shall be found, and a false one.

    >>> found = power([0.5, 0.7, 0.6, 0.4], [0.4, 0.4, 0.5, 0.4], difference=0.1)
    >>> found.needed, round(found.detectable, 3)
    (15, 0.268)
    """
    check_share("power", power)
    d: Values = sample_of(values)
    if baseline is not None:
        other = sample_of(baseline)
        if other.shape != d.shape:
            raise InputError(f"found {d.size} and {other.size} values, expected the same queries for both")
        d = np.round(d - other, 12)
    if d.ndim != 1 or d.size < 2:
        raise InputError(f"found a pilot of {d.size} query, expected two or more")
    sd, observed = float(spread(d)), float(d.mean())
    wanted = observed if difference is None else float(difference)
    if sd == 0:
        raise InputError("all differences are the same: a pilot without any spread tells nothing")
    needed = queries_needed(wanted / sd, alpha, power)
    sizes = {len(d), *(max(2, round(step * (needed or len(d)))) for step in _STEPS)}
    curve = [
        {
            "n_queries": n,
            "power": float(paired_power(n, wanted / sd, alpha)),
            "simulated": _simulated(d, n, wanted, alpha, n_simulations, seed),
            "detectable": float(smallest_detectable(n, sd, alpha, power)),
        }
        for n in sorted(sizes)
    ]
    return PowerAnalysis(
        len(d),
        observed,
        sd,
        wanted,
        alpha,
        power,
        needed,
        float(smallest_detectable(len(d), sd, alpha, power)),
        float(paired_power(len(d), wanted / sd, alpha)),
        pl.DataFrame(curve),
    )


_MOST_SIMULATED = 20_000  # queries; with more, the formula is as good


def _simulated(d: Values, n: int, wanted: float, alpha: float, n_simulations: int, seed: int) -> float | None:
    if n > _MOST_SIMULATED:
        return None
    return simulated_power(d, n, wanted, alpha=alpha, n_simulations=n_simulations, seed=seed)
