import numpy as np
import pytest

from pomona.rankers.linear.solvers.least_squares import least_squares

QUERY_PTR = np.array([0, 8, 20, 21, 40])


@pytest.fixture(scope="module")
def features():
    return np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)


def test_a_line_with_an_intercept_for_each_query_is_recovered(features):
    X = features
    target = X @ np.array([1.0, -2.0, 0.5]) + np.repeat([3.0, -7.0, 0.0, 100.0], np.diff(QUERY_PTR))
    found = least_squares(X, target, QUERY_PTR, np.ones(4))
    assert found == pytest.approx([1.0, -2.0, 0.5], abs=1e-9)


def test_it_is_numpys_solution_with_a_column_for_each_query(features):
    X, target = features, np.random.default_rng(1).normal(size=40)
    lengths = np.diff(QUERY_PTR)
    weights = np.array([1.0, 2.0, 1.0, 0.5])
    columns = np.hstack((X, np.repeat(np.eye(4), lengths, axis=0)))
    root = np.sqrt(np.repeat(weights, lengths))
    expected = np.linalg.lstsq(columns * root[:, None], target * root, rcond=None)[0][:3]
    assert least_squares(X, target, QUERY_PTR, weights) == pytest.approx(expected, abs=1e-9)


def test_the_penalty_is_on_the_mean_error():
    X, target = np.array([[-1], [1]], np.float32), np.array([-3.0, 3.0])
    # mean error (w − 3)² + l2 w² is least at w = 3 / (1 + l2)
    assert least_squares(X, target, np.array([0, 2]), np.ones(1), l2=0.5) == pytest.approx([3 / 1.5])


def test_copies_share_and_constants_have_nothing(features):
    doubled = np.hstack((features[:, :1], features[:, :1], np.full((40, 1), 5, np.float32)))
    target = 4.0 * features[:, 0].astype(float)
    assert least_squares(doubled, target, QUERY_PTR, np.ones(4)) == pytest.approx([2.0, 2.0, 0.0], abs=1e-9)
