import numpy as np
import pytest

from pomona.objectives._lambda_kernels import _distance_rule, _exponentials, _pair_gradient, delta_gradients


def test_exponentials():
    scores = np.concatenate((-np.linspace(0, 87, 4001), [-0.0])).astype(np.float32)
    out = np.empty_like(scores)
    _exponentials(scores + np.float32(3), np.float32(3), out)
    exact = np.exp((scores + np.float32(3)).astype(float) - 3)
    assert (np.abs(out / exact - 1) < 1e-7 * (2 - scores)).all()
    _exponentials(np.float32([-1e3, -1e30]), np.float32(0), out[:2])
    assert (out[:2] >= 0).all()
    assert (out[:2] < 1e-37).all()


def test_a_pair():
    # Distance 1, spread 1: ρ = σ(1) if the lower document should rise, σ(−1) if the pair stands right.
    rho = 1 / (1 + np.exp(-1))
    assert _pair_gradient(2.0, np.exp(-1.0), 1.0) == pytest.approx((2 * rho, 2 * rho * (1 - rho)))
    assert _pair_gradient(-2.0, np.exp(-1.0), 1.0) == pytest.approx((-2 * (1 - rho), 2 * rho * (1 - rho)))
    assert _pair_gradient(2.0, np.exp(-1.0), 4.0) == pytest.approx((rho / 2, rho * (1 - rho) / 2))
    assert _pair_gradient(0.0, 1.0, 1.0) == (0, 0)


def test_distances_count_only_when_normalized_and_scores_differ():
    assert _distance_rule(True, 2.0, True) == pytest.approx((0.02, 1, 4))
    assert _distance_rule(False, 2.0, True) == (1, 0, 2)
    assert _distance_rule(True, 2.0, False) == (1, 0, 2)


def test_given_deltas():
    # Two documents one apart, the lower to rise by 0.5.
    scores, rows, deltas = np.array([0.0, 1.0]), np.array([1, 0], np.int32), np.array([[0, 0.5], [0.5, 0]])
    gradient, hessian = np.empty((2, 2), np.float32)
    rho = 1 / (1 + np.exp(-2))
    delta_gradients(scores, rows, deltas, 5, 2.0, False, 3.0, np.empty(0), gradient, hessian)
    assert gradient == pytest.approx([-3 * 2 * 0.5 * rho, 3 * 2 * 0.5 * rho])
    assert hessian == pytest.approx([3 * 4 * 0.5 * rho * (1 - rho)] * 2)
    delta_gradients(scores, rows, deltas, 5, 2.0, True, 3.0, np.empty(0), gradient, hessian)
    push = 2 * 0.5 / 1.01 * rho
    assert gradient[1] == pytest.approx(3 * push * np.log2(1 + 2 * push) / (2 * push))
