"""Against SciPy's optimizers, which know nothing of the formulas."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import entr

from pomona.experiments.analysis._entropy_kernels import curve_errors, fit_chances, fit_precision


def expected_precision(p, n_relevant):
    """E[AP] of independent ranks, written out."""
    return sum(p[n] / (n + 1) * (1 + sum(p[:n])) for n in range(len(p))) / n_relevant


def entropy(p):
    return float((entr(p) + entr(1 - p)).sum())


def best_by_slsqp(n_docs, n_relevant, value):
    """The largest entropy from a rising, a falling and an even start."""
    conditions = [
        {"type": "eq", "fun": lambda p: expected_precision(p, n_relevant) - value},
        {"type": "eq", "fun": lambda p: p.sum() - n_relevant},
    ]
    found = []
    for start in ((0.1, 0.9), (0.9, 0.1), (0.5, 0.5)):
        p = np.clip(np.linspace(*start, n_docs) * 2 * n_relevant / n_docs, 0.01, 0.99)
        one = minimize(
            lambda p: -entropy(p),
            p,
            method="SLSQP",
            bounds=[(1e-9, 1 - 1e-9)] * n_docs,
            constraints=conditions,
            options={"maxiter": 500, "ftol": 1e-12},
        )
        found += [one] if one.success else []
    return min(found, key=lambda one: one.fun)


@pytest.mark.parametrize(
    ("n_docs", "n_relevant", "value"),
    [(10, 3, 0.667), (10, 3, 0.251), (12, 6, 0.9), (15, 1, 0.0833), (15, 1, 0.5), (12, 9, 0.7)],
)
def test_average_precision_against_slsqp(n_docs, n_relevant, value):
    p = np.empty(n_docs)
    assert np.isfinite(fit_precision(n_relevant, value, p))
    best = best_by_slsqp(n_docs, n_relevant, value)
    assert p == pytest.approx(best.x, abs=2e-4)
    assert entropy(p) >= -best.fun - 1e-6


@pytest.mark.parametrize(("n_docs", "n_relevant"), [(5, 2), (40, 5), (200, 60), (1000, 50)])
def test_the_conditions_hold(n_docs, n_relevant):
    random = np.random.default_rng(n_docs)
    for noise in (0.3, 1.0, 5.0):
        scores = (np.arange(n_docs) < n_relevant) + random.normal(0, noise, n_docs)
        ranks = np.flatnonzero((np.arange(n_docs) < n_relevant)[np.argsort(-scores)]) + 1
        value = float(np.mean(np.arange(1, n_relevant + 1) / ranks))
        p = np.empty(n_docs)
        multiplier = fit_precision(n_relevant, value, p)
        assert p.sum() == pytest.approx(n_relevant)
        assert expected_precision(p, n_relevant) == pytest.approx(value)
        if p.min() > 0 and p.max() < 1 and value < 1:
            n = np.arange(1, n_docs + 1)
            before = np.cumsum(p) - p
            slopes = (1 + before) / n + np.cumsum((p / n)[::-1])[::-1] - p / n
            off = np.log(p / (1 - p)) - multiplier / n_relevant * slopes
            assert np.ptp(off[(p > 1e-6) & (p < 1 - 1e-6)]) < 1e-5


def test_values_of_one_order_only():
    p = np.empty(5)
    assert fit_precision(2, 1.0, p) == 1e4
    assert p.tolist() == [1, 1, 0, 0, 0]
    assert fit_precision(2, (1 / 4 + 2 / 5) / 2, p) == -1e4
    assert p.tolist() == [0, 0, 0, 1, 1]


def test_grades_against_bfgs():
    # Three grades, the dual minimized by SciPy.
    value, count = np.array([0.0, 1.0, 3.0]), np.array([6.0, 4.0, 2.0])
    weight = 1 / np.log2(np.arange(2, 14))
    target = 0.8 * (value[::-1].repeat(count[::-1].astype(int)) @ weight)

    def dual(theta):
        mu = np.concatenate(([0.0], theta[:2]))
        inner = np.log(np.exp(mu + theta[2] * np.outer(weight, value)).sum(axis=1)).sum()
        return inner - theta[:2] @ count[1:] - theta[2] * target

    theta, chance = np.zeros(3), np.empty((12, 3))
    fit_chances(value, count, weight, target, theta, chance)
    best = minimize(dual, np.zeros(3), method="BFGS", options={"gtol": 1e-8})
    assert theta == pytest.approx(best.x, abs=1e-4)
    assert chance.sum(axis=0) == pytest.approx(count)
    assert chance.sum(axis=1) == pytest.approx(np.ones(12))
    assert (chance @ value) @ weight == pytest.approx(target)


def test_errors_of_curves():
    # Relevant documents at ranks 1 and 3; inferred chances 1/2 everywhere, so precision 1/2 at every recall.
    out = np.empty((1, 4))
    is_relevant, chance = np.array([True, False, True, False]), np.full(4, 0.5)
    curve_errors(0, 1, np.array([0, 4]), is_relevant, chance, 2, out)
    errors = [1 / 2 - 1, 1 / 2 - 2 / 3]
    assert out[0] == pytest.approx(
        [np.sqrt(np.mean(np.square(errors))), np.mean(np.abs(errors)), 1 / 2, 1 / 2]
    )


def test_errors_of_curves_by_interpolation():
    random = np.random.default_rng(0)
    for _ in range(20):
        is_relevant = random.random(30) < 0.3
        n_relevant = int(is_relevant.sum())
        chance = random.random(30)
        chance *= n_relevant / chance.sum()
        out = np.empty((1, 4))
        curve_errors(0, 1, np.array([0, 30]), is_relevant, chance, 10, out)
        found = np.cumsum(chance)
        k = np.arange(1, n_relevant + 1)
        inferred = np.interp(k - 1e-12, found, found / np.arange(1, 31))
        error = inferred - k / (np.flatnonzero(is_relevant) + 1)
        assert out[0, :2] == pytest.approx([np.sqrt((error**2).mean()), np.abs(error).mean()])
