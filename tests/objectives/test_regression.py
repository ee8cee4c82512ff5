import numpy as np
import pytest

from pomona.errors import UnknownNameError
from pomona.objectives.regression import RegressionObjective


@pytest.mark.parametrize("target", ["label", "gain"])
def test_gradients_are_finite_differences(target):
    random = np.random.default_rng(0)
    labels, scores, weights = random.integers(0, 5, 6), random.standard_normal(6), random.random(6)
    goal = labels if target == "label" else 2.0**labels - 1

    def cost(s):
        return 0.5 * (weights * (s - goal) ** 2).sum()

    objective = RegressionObjective(labels, target=target, weights=weights)
    gradient, hessian = np.empty((2, 6), np.float32)
    objective.gradients(scores, gradient, hessian)
    step = 1e-3 * np.eye(6)
    assert gradient == pytest.approx([(cost(scores + e) - cost(scores - e)) / 2e-3 for e in step], rel=1e-5)
    bends = [(cost(scores + e) - 2 * cost(scores) + cost(scores - e)) / 1e-6 for e in step]
    assert hessian == pytest.approx(bends, rel=1e-5)


def test_the_start_is_the_weighted_mean():
    assert RegressionObjective([0, 1, 2, 5]).start() == 2
    assert RegressionObjective([0, 4], weights=[1, 3]).start() == 3
    assert RegressionObjective([0, 4], weights=[0, 0]).start() == 0
    assert RegressionObjective([0, 2], target="gain").start() == 3 / 2


def test_a_newton_step_is_the_mean_residual():
    objective = RegressionObjective([0, 1, 5])
    gradient, hessian = np.empty((2, 3), np.float32)
    objective.gradients(np.zeros(3), gradient, hessian)
    assert -gradient.sum() / hessian.sum() == 2


def test_unknown_target():
    with pytest.raises(UnknownNameError, match="did you mean 'gain'"):
        RegressionObjective([0, 1], target="gains")
