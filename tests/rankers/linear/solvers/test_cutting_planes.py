import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from pomona.rankers.linear.solvers.cutting_planes import CuttingPlanes, Planes


def by_scipy(slopes, offsets, C):
    """The w of the least ½‖w‖² + C ξ with ξ ≥ 0 above every plane."""
    n = slopes.shape[1]
    found = minimize(
        lambda v: 0.5 * v[:n] @ v[:n] + C * v[n],
        np.append(np.zeros(n), max(offsets.max(), 0)),
        jac=lambda v: np.append(v[:n], C),
        constraints={
            "type": "ineq",
            "fun": lambda v: np.append(slopes @ v[:n] + v[n] - offsets, v[n]),
            "jac": lambda v: np.vstack((np.column_stack((slopes, np.ones(len(slopes)))), np.eye(n + 1)[n])),
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.x[:n]


@given(
    seed=st.integers(0, 10**6),
    n_planes=st.integers(1, 12),
    n_features=st.integers(1, 5),
    C=st.sampled_from([0.01, 1.0, 30.0]),
)
def test_the_minimum_over_planes_is_scipys(seed, n_planes, n_features, C):
    random = np.random.default_rng(seed)
    slopes, offsets = random.normal(size=(n_planes, n_features)), random.normal(size=n_planes)
    planes = Planes(n_features)
    for slope, offset in zip(slopes, offsets, strict=True):
        planes.add(slope, offset)
    w, bound = planes.minimize(C)

    def value(w):
        return 0.5 * w @ w + C * max((offsets - slopes @ w).max(), 0)

    assert value(w) == pytest.approx(bound, rel=1e-8, abs=1e-10)  # the dual has no gap
    assert bound == pytest.approx(value(by_scipy(slopes, offsets, C)), rel=1e-4, abs=1e-6)


def test_by_hand():
    planes = Planes(2)
    assert planes.minimize(5.0)[1] == 0
    planes.add(np.array([1.0, 0.0]), 1.0)
    w, bound = planes.minimize(0.5)  # ½ w₁² + ½ (1 − w₁) has its minimum at ½
    assert w == pytest.approx([0.5, 0])
    assert bound == pytest.approx(0.5**2 / 2 + 0.5 * 0.5)
    planes.add(np.array([-1.0, 0.0]), 1.0)  # |w₁| + 1: nothing to be gained
    w, bound = planes.minimize(7.0)
    assert w == pytest.approx([0, 0], abs=1e-9)
    assert bound == pytest.approx(7.0)


def test_planes_that_depend_on_each_other():
    planes = Planes(2)
    for offset in (0.5, 1.0, 1.0, 0.7):
        planes.add(np.zeros(2), offset)
        planes.add(np.array([1.0, 1.0]), offset)
        planes.add(np.array([1.0, 1.0]), offset)
    w, bound = planes.minimize(3.0)
    assert w == pytest.approx([0, 0], abs=1e-9)
    assert bound == pytest.approx(3.0)


@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.1, 10.0, 1000.0]))
def test_more_planes_than_can_bear_meet_in_a_point(seed, C):
    random = np.random.default_rng(seed)
    slopes, target = random.normal(size=(30, 3)), random.normal(size=3)
    planes = Planes(3)
    for slope in slopes:  # all are 1 high at the target
        planes.add(slope, 1 + float(slope @ target))
    w, bound = planes.minimize(C)
    value = 0.5 * w @ w + C * (1 + (slopes @ (target - w)).max())
    assert bound == pytest.approx(value, rel=1e-6)


def hinges(random, n=40, d=6):
    """The mean hinge loss of a small classification problem, which is not separable."""
    X = random.normal(size=(n, d))
    sign = np.where(X[:, 0] + random.normal(size=n) > 0, 1.0, -1.0)
    margins = X * sign[:, None]

    def tangent(w):
        short = margins @ w < 1
        return margins[short].sum(axis=0) / n, short.sum() / n

    return margins, tangent


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_a_loss_is_minimized_within_the_tolerance(C):
    margins, tangent = hinges(np.random.default_rng(3))
    solver = CuttingPlanes(tangent, 6, typical_c=1.0, tolerance=1e-5, max_iterations=1000)
    solver.solve(C)
    assert solver.converged
    assert solver.gap <= 1e-5

    # n-slack: ½‖w‖² + C/n Σ ξ_i, as SciPy solves it
    def fun(v):
        return 0.5 * v[:6] @ v[:6] + C / 40 * v[6:].sum()

    found = minimize(
        fun,
        np.append(np.zeros(6), np.ones(40)),
        jac=lambda v: np.append(v[:6], np.full(40, C / 40)),
        bounds=[(None, None)] * 6 + [(0, None)] * 40,
        constraints={
            "type": "ineq",
            "fun": lambda v: margins @ v[:6] + v[6:] - 1,
            "jac": lambda v: np.column_stack((margins, np.eye(40))),
        },
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 2000},
    )
    w = solver.coef
    value = 0.5 * w @ w + C * np.maximum(1 - margins @ w, 0).mean()
    assert found.fun - 1e-6 * C <= value <= found.fun + C * 2e-5


def test_the_bound_rises_and_the_start_does_not_matter():
    _, tangent = hinges(np.random.default_rng(4))
    bounds = []

    class Watched(Planes):
        def minimize(self, C):
            w, bound = super().minimize(C)
            bounds.append(bound)
            return w, bound

    fresh = CuttingPlanes(tangent, 6, typical_c=1.0, tolerance=1e-6, max_iterations=1000)
    fresh._planes = Watched(6)
    fresh.solve(100.0)
    assert len(bounds) > 5
    assert (np.diff(bounds) >= -1e-12).all()
    warm = CuttingPlanes(tangent, 6, typical_c=1.0, tolerance=1e-6, max_iterations=1000)
    for C in (0.01, 1.0, 1e4, 100.0):
        warm.solve(C)
        assert warm.converged
    assert warm.coef == pytest.approx(fresh.coef, abs=0.05)


def test_running_out_of_iterations_is_said():
    _, tangent = hinges(np.random.default_rng(5))
    solver = CuttingPlanes(tangent, 6, typical_c=1.0, tolerance=1e-9, max_iterations=3)
    solver.solve(100.0)
    assert not solver.converged
    assert solver.gap > 1e-9
