"""Cutting planes (Joachims, Finley & Yu 2009; Teo et al. 2010): the solver of the structural SVMs.

    min_w  ½‖w‖² + C · loss(w)

for a convex loss that is known by its value and a tangent plane at any w. Tangents lie below the loss. Those
found so far make a lower bound, which is minimized exactly; at its minimum a new tangent is found, and so on:
the bound rises, the best w seen falls, and when they are within C · tolerance of each other that w is as good
as optimal. This is the 1-slack form: the constraints of all queries are averaged into one plane a round. The
n-slack form, with constraints for each query apart, has the same optimum and needs fewer rounds, but its
quadratic programs grow with the number of queries.

The minimum over planes of height offset_k − slope_k · w (the first is 0) is a quadratic program in the dual,

    max_α  Σ α_k offset_k − ½‖w‖²,   w = Σ α_k slope_k,   α ≥ 0, Σ α_k = C

of which few α_k are above 0. SciPy has no solver for these, so here is Wolfe's (1976): solve the equations
of the planes that bear, step back where an α would turn negative, let the plane that now is highest bear too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pomona._types import Values

Tangent = Callable[[Values], tuple[Values, float]]
"""At w, a (slope, offset) with loss(w) = offset − slope · w and loss(v) ≥ offset − slope · v for all v."""


class Planes:
    """Planes that lie below a loss; they still do when C changes, or when the loss grows.

    >>> planes = Planes(1)
    >>> planes.add(np.array([2.0]), 1.0)  # of the loss max(0, 1 − 2 w)
    >>> w, bound = planes.minimize(10.0)
    >>> w.round(9), round(bound, 9)
    (array([0.5]), 0.125)
    """

    def __init__(self, n_features: int) -> None:
        self._slopes = np.zeros((1, n_features))  # no loss is below 0
        self._offsets = np.zeros(1)
        self._shares = np.ones(1)
        """α / C."""

    def add(self, slope: Values, offset: float) -> None:
        """One more plane."""
        self._slopes = np.vstack((self._slopes, slope))
        self._offsets = np.append(self._offsets, offset)
        self._shares = np.append(self._shares, 0.0)

    def minimize(self, C: float) -> tuple[Values, float]:
        """The w with the least ½‖w‖² + C · (height of the highest plane at w), and that least value."""
        bearing, bound = np.flatnonzero(self._shares), -np.inf
        while True:
            bearing = self._balance(bearing, C)
            w = C * (self._shares[bearing] @ self._slopes[bearing])
            before, bound = bound, C * float(self._shares @ self._offsets) - 0.5 * float(w @ w)
            highest = int(np.argmax(self._offsets - self._slopes @ w))
            if highest in bearing or bound <= before + 1e-14 * abs(before):
                return w, bound
            bearing = np.append(bearing, highest)

    def _balance(self, bearing: NDArray[np.intp], C: float) -> NDArray[np.intp]:
        """Give these planes the best shares; those that would turn negative stop at 0 and bear no longer."""
        while True:
            now, target = self._shares[bearing], self._level(bearing, C)
            falls = np.flatnonzero(target < 0)
            if not falls.size:
                self._shares[bearing] = target
                return bearing
            ways = now[falls] / (now[falls] - target[falls])
            moved = np.maximum(now + ways.min() * (target - now), 0.0)
            moved[falls[ways.argmin()]] = 0.0
            self._shares[bearing] = moved / moved.sum()
            bearing = bearing[moved > 0]

    def _level(self, bearing: NDArray[np.intp], C: float) -> Values:
        """The shares, negative ones too, at whose w these planes are all equally high."""
        n, slopes = len(bearing), self._slopes[bearing]
        products = slopes @ slopes.T
        # Planes that depend on each other leave the shares open: a trace of ridge decides.
        products += 1e-12 * (products.diagonal().max() or 1.0) * np.eye(n)
        equations = np.ones((n + 1, n + 1))
        equations[:n, :n], equations[n, n] = C * products, 0.0
        shares: Values = np.linalg.solve(equations, np.append(self._offsets[bearing], 1.0))[:n]
        return shares


class CuttingPlanes:
    """Minimizes ½‖w‖² + C · loss(w) for one C after the other; the planes are kept.

    Attributes
    ----------
    coef : the best w of the last `solve`, or so far.
    gap : how far its value is at most above the least possible, divided by C.
    converged : whether that is within the tolerance.
    """

    def __init__(
        self, tangent: Tangent, n_features: int, *, typical_c: float, tolerance: float, max_iterations: int
    ) -> None:
        self._tangent, self._planes = tangent, Planes(n_features)
        self._tolerance, self._max_iterations = tolerance, max_iterations
        self.typical_c = typical_c
        self.coef = np.zeros(n_features)
        self.gap, self.converged = np.inf, False

    def solve(self, C: float) -> None:
        """Minimize for this C."""
        best, self.converged = np.inf, False
        for _ in range(self._max_iterations):
            w, bound = self._planes.minimize(C)
            slope, offset = self._tangent(w)
            value = 0.5 * float(w @ w) + C * (offset - float(slope @ w))
            if value < best:
                best, self.coef = value, w
            self.gap = (best - bound) / C
            if self.gap <= self._tolerance:
                self.converged = True
                return
            self._planes.add(slope, offset)
