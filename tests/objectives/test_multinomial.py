import numpy as np
import pytest

from pomona.objectives.multinomial import MultinomialObjective, class_probabilities, expected_value


def example():
    random = np.random.default_rng(0)
    return random.choice([0, 1, 4], 7), random.standard_normal((3, 7)), random.random(7)


def test_gradients_are_finite_differences():
    labels, scores, weights = example()
    levels, codes = np.unique(labels, return_inverse=True)

    def cost(s):
        return -(weights * np.log(class_probabilities(s))[codes, np.arange(7)]).sum()

    objective = MultinomialObjective(labels, weights=weights)
    assert objective.levels.tolist() == levels.tolist()
    assert objective.n_outputs == 3
    gradient, hessian = np.empty((2, 3, 7), np.float32)
    objective.gradients(scores, gradient, hessian)
    for k in range(3):
        for i in range(7):
            step = np.zeros((3, 7))
            step[k, i] = 1e-4
            slope = (cost(scores + step) - cost(scores - step)) / 2e-4
            bend = (cost(scores + step) - 2 * cost(scores) + cost(scores - step)) / 1e-8
            assert gradient[k, i] == pytest.approx(slope, abs=1e-6)
            assert hessian[k, i] == pytest.approx(3 / 2 * bend, abs=1e-5)


def test_a_leafs_newton_step_is_friedmans():
    labels, scores, _ = example()
    objective = MultinomialObjective(labels)
    gradient, hessian = np.empty((2, 3, 7), np.float32)
    objective.gradients(scores, gradient, hessian)
    p = class_probabilities(scores)
    residual = (labels == objective.levels[:, None]) - p
    step = (3 - 1) / 3 * residual.sum(axis=1) / (np.abs(residual) * (1 - np.abs(residual))).sum(axis=1)
    assert -gradient.sum(axis=1) / hessian.sum(axis=1) == pytest.approx(step, rel=1e-5)


def test_probabilities_sum_to_one_and_do_not_overflow():
    p = class_probabilities(np.array([[1000.0, 0.0], [0.0, -1000.0], [999.0, 0.0]]))
    assert p.sum(axis=0) == pytest.approx([1, 1])
    assert p[0, 0] == pytest.approx(1 / (1 + np.exp(-1)))
    objective = MultinomialObjective([0, 1, 2])
    gradient, hessian = np.empty((2, 3, 3), np.float32)
    objective.gradients(np.diag([1e4, 1e4, 1e4]), gradient, hessian)
    assert not gradient.any()
    assert (hessian > 0).all()


def test_expected_value():
    # Classes with chances 1/4 and 3/4, worth 0 and 4.
    assert expected_value(np.log([[1.0], [3.0]]), np.array([0.0, 4.0])) == pytest.approx([3])
    assert MultinomialObjective([0, 1]).start() == 0
