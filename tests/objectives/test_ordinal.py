import numpy as np
import pytest

from pomona.objectives import multinomial
from pomona.objectives.ordinal import OrdinalObjective, cumulative_probabilities, expected_value


def test_gradients_are_finite_differences():
    random = np.random.default_rng(0)
    labels, scores, weights = random.choice([0, 1, 4], 7), random.standard_normal((2, 7)), random.random(7)

    def cost(s):
        total = 0.0
        for k, level in enumerate((0, 1)):
            below = cumulative_probabilities(s[k])
            total -= (weights * np.log(np.where(labels <= level, below, 1 - below))).sum()
        return total

    objective = OrdinalObjective(labels, weights=weights)
    assert objective.levels.tolist() == [0, 1, 4]
    assert objective.n_outputs == 2
    gradient, hessian = np.empty((2, 2, 7), np.float32)
    objective.gradients(scores, gradient, hessian)
    for k in range(2):
        for i in range(7):
            step = np.zeros((2, 7))
            step[k, i] = 1e-4
            slope = (cost(scores + step) - cost(scores - step)) / 2e-4
            bend = (cost(scores + step) - 2 * cost(scores) + cost(scores - step)) / 1e-8
            assert gradient[k, i] == pytest.approx(slope, abs=1e-6)
            assert hessian[k, i] == pytest.approx(bend, abs=1e-5)


def test_expected_value_telescopes():
    below = np.array([[0.2, 0.5], [0.7, 0.5]])  # P(y ≤ 0), P(y ≤ 1) of two documents
    scores = np.log(below / (1 - below))
    assert expected_value(scores, np.array([0.0, 1.0, 2.0])) == pytest.approx(2 - below.sum(axis=0))
    # Class probabilities 0.2, 0.5, 0.3 and 0.5, 0, 0.5.
    assert expected_value(scores, np.array([0.0, 1.0, 3.0])) == pytest.approx([0.5 + 0.9, 1.5])
    assert OrdinalObjective([0, 1]).start() == 0


def test_two_classes_rank_as_the_multinomial_does():
    scores = np.random.default_rng(1).standard_normal((2, 9))
    values = np.array([0.0, 1.0])
    # P(y ≤ 0) of two classes is the logistic of the difference of their scores.
    ordinal = expected_value(scores[:1] - scores[1:], values)
    assert ordinal == pytest.approx(multinomial.expected_value(scores, values))


def test_extreme_scores_do_not_overflow():
    assert cumulative_probabilities(np.array([-1e4, 0.0, 1e4])).tolist() == [0, 0.5, 1]
    objective = OrdinalObjective([0, 1])
    gradient, hessian = np.empty((2, 1, 2), np.float32)
    objective.gradients(np.array([[1e4, -1e4]]), gradient, hessian)
    assert not gradient.any()
    assert (hessian > 0).all()
