"""Cutting planes (Joachims, Finley & Yu 2009; Teo et al. 2010): the solver of the structural SVMs.

    min_w  ½‖w‖² + C · loss(w)

for a convex loss that is known by its value and a tangent plane at any w. Tangents lie below the loss. Those
found so far make a lower bound, which is minimized exactly; a new tangent is found near there, and so on: the
bound rises, the least value seen falls, and when they are within C · tolerance of each other its w is as good
as optimal. This is the 1-slack form: the constraints of all queries are averaged into one plane a round. The
n-slack form, with constraints for each query apart, has the same optimum and needs fewer rounds, but its
quadratic programs grow with the number of queries.

What we do differently: the new tangent is found not at the minimum of the bound, which jumps about, but a
quarter of the way there from the best w so far (Franc & Sonnenburg 2008 go a tenth, after a line search). For
SVMmap on LETOR and MSLR data this saved half to five sixths of the rounds with C from 10 to 10000; with the
smallest C, where few are needed, it took up to six more.

The minimum over planes of height offset_k − slope_k · w (the first is 0) is a quadratic program in the dual,

    max_α  Σ α_k offset_k − ½‖w‖²,   w = Σ α_k slope_k,   α ≥ 0, Σ α_k = C

of which few α_k are above 0. SciPy has no solver for these, so here is Wolfe's (1976): solve the equations
of the planes that bear, step back where an α would turn negative, let the plane that now is highest bear too.
It is a kernel without BLAS, whose threads stalled on systems this small when the machine was busy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pomona._jit import kernel
from pomona._types import Values
from pomona.errors import InputError

Tangent = Callable[[Values], tuple[Values, float]]
"""At w, a (slope, offset) with loss(w) = offset − slope · w and loss(v) ≥ offset − slope · v for all v."""

_STEP = 0.25
"""How far from the best w towards the minimum of the bound the next tangent is found."""

_PATIENCE = 50
"""A plane that has not borne for so many rounds is forgotten: rounds get cheaper, it can be found again."""


@kernel(fastmath=True)
def _dot(a, b):
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@kernel
def _level(products, heights, ridge, factor, step):
    """The change of the shares, Σ step = 0, that makes all planes as high as the first.

    Where planes depend on each other, a trace of ridge decides.
    products, factor (most, most), of which the lower half counts · heights (n,) · step (most,).
    """
    n = heights.size
    for i in range(1, n):  # Cholesky's factor of the products of differences from the first slope
        for j in range(1, i + 1):
            product = products[i, j] - products[i, 0] - products[j, 0] + products[0, 0]
            factor[i, j] = product - _dot(factor[i, 1:j], factor[j, 1:j])
            if j < i:
                factor[i, j] /= factor[j, j]
        factor[i, i] = np.sqrt(max(factor[i, i], 0.0) + ridge)
        step[i] = (heights[i] - heights[0] - _dot(factor[i, 1:i], step[1:i])) / factor[i, i]
    step[0] = 0.0
    for i in range(n - 1, 0, -1):
        step[i] /= factor[i, i]
        step[0] -= step[i]
        for j in range(1, i):
            step[j] -= factor[i, j] * step[i]


@kernel
def _enter(slopes, C, plane, n, bearing, products):
    """Let a plane bear after the n that do; returns how many do now."""
    bearing[n] = plane
    for i in range(n + 1):
        products[n, i] = C * _dot(slopes[plane], slopes[bearing[i]])
    return n + 1


@kernel
def _walk(shares, bearing, products, step, longest):
    """Change the shares by `step` times at most `longest`, until one is used up and that plane leaves.

    Returns how many planes still bear.
    """
    way, leaving, last = longest, -1, bearing.size - 1
    for i in range(bearing.size):
        if shares[bearing[i]] < -step[i] * way:
            way, leaving = -shares[bearing[i]] / step[i], i
    for i in range(bearing.size):
        shares[bearing[i]] = max(shares[bearing[i]] + way * step[i], 0.0)
    if leaving < 0:
        return bearing.size
    shares[bearing[leaving]] = 0.0
    for i in range(leaving, last):
        bearing[i] = bearing[i + 1]
        for j in range(i + 1):
            products[i, j] = products[i + 1, j if j < leaving else j + 1]
    return last


@kernel
def _add_up(slopes, shares, bearing, C, w):
    w[:] = 0.0
    for plane in bearing:
        for j in range(w.size):
            w[j] += C * shares[plane] * slopes[plane, j]


@kernel
def _minimize(slopes, offsets, C, shares, w):
    """The best shares of the planes, from those given, and the w that they make; returns the dual's value.

    slopes (n_planes, n_features) · offsets, shares (n_planes,) · w (n_features,).
    """
    most = w.size + 2
    bearing = np.empty(most, np.int64)
    products, factor = np.empty((most, most)), np.empty((most, most))
    heights, step = np.empty(most), np.empty(most)
    scale = 0.0
    for k in range(offsets.size):
        scale = max(scale, _dot(slopes[k], slopes[k]))
    ridge = 1e-12 * C * (scale if scale > 0.0 else 1.0)
    n, dual = 0, -np.inf
    for k in range(offsets.size):
        if shares[k] > 0.0:
            n = _enter(slopes, C, k, n, bearing, products)
    while True:
        walked = n + 1
        while walked != n:
            walked = n
            _add_up(slopes, shares, bearing[:n], C, w)
            for i in range(n):
                heights[i] = offsets[bearing[i]] - _dot(slopes[bearing[i]], w)
            _level(products, heights[:n], ridge, factor, step)
            n = _walk(shares, bearing[:n], products, step, 1.0)
        shares /= shares.sum()
        _add_up(slopes, shares, bearing[:n], C, w)
        before, dual = dual, C * _dot(shares, offsets) - 0.5 * _dot(w, w)
        highest, top = 0, -np.inf
        for k in range(offsets.size):
            height = offsets[k] - _dot(slopes[k], w)
            if height > top:
                highest, top = k, height
        if shares[highest] > 0.0 or not dual - before > 1e-12 * abs(dual):
            return dual
        if n == most:  # some depend on others: along the change that moves w least, one is used up
            for i in range(n):
                heights[i] = ridge * np.cos(i)
            _level(products, heights[:n], ridge, factor, step)
            n = _walk(shares, bearing[:n], products, step, 1e300)
            if n == most:
                return dual
        n = _enter(slopes, C, highest, n, bearing, products)


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
        self._idle = np.zeros(1, np.int64)
        """For how long a plane has not borne."""

    def add(self, slope: Values, offset: float) -> None:
        """One more plane."""
        self._slopes = np.vstack((self._slopes, slope))
        self._offsets = np.append(self._offsets, offset)
        self._shares = np.append(self._shares, 0.0)
        self._idle = np.append(self._idle, 0)

    def minimize(self, C: float) -> tuple[Values, float]:
        """The w with the least ½‖w‖² + C · (height of the highest plane at w), and that least value."""
        w = np.empty(self._slopes.shape[1])
        bound = _minimize(self._slopes, self._offsets, C, self._shares, w)
        self._idle = np.where(self._shares > 0, 0, self._idle + 1)
        kept = self._idle < _PATIENCE
        self._slopes, self._offsets = self._slopes[kept], self._offsets[kept]
        self._shares, self._idle = self._shares[kept], self._idle[kept]
        return w, bound


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
        """Minimize for this C, from the solution of the last."""
        w, best, self.converged = self.coef, np.inf, False
        for _ in range(self._max_iterations):
            slope, offset = self._tangent(w)
            value = 0.5 * float(w @ w) + C * (offset - float(slope @ w))
            if value < best:
                best, self.coef = value, w
            self._planes.add(slope, offset)
            lowest, bound = self._planes.minimize(C)
            if not (np.isfinite(lowest).all() and np.isfinite(bound)):
                raise InputError(
                    f"C = {C:g} or the features are too large to compute with: lower C, or scale X"
                )
            self.gap = (best - bound) / C
            if self.gap <= self._tolerance:
                self.converged = True
                return
            w = self.coef + _STEP * (lowest - self.coef)
