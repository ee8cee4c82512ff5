import numpy as np
import pytest

from pomona._jit import threads
from pomona.rankers.linear.sums.feature_sums import (
    feature_covariance,
    feature_sums,
    sum_of_pieces,
    symmetric,
    varying_features,
    weighted_sums,
)


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    query_ptr = np.array([0, 1, 70, 90, 500])
    return random.normal(size=(500, 7)).astype(np.float32), random.normal(size=500), query_ptr


def test_feature_sums_are_a_matrix_product(data):
    X, weight, _ = data
    assert feature_sums(X, weight) == pytest.approx(X.astype(float).T @ weight, abs=1e-12)
    assert feature_sums(X[:3], weight[:3]) == pytest.approx(X[:3].astype(float).T @ weight[:3], abs=1e-12)
    center = np.arange(7.0)
    assert feature_sums(X, weight, center) == pytest.approx((X.astype(float) - center).T @ weight, abs=1e-10)


def test_covariance_is_that_of_centered_queries(data):
    X, _, query_ptr = data
    weights = np.array([1.0, 0.5, 0.0, 2.0])
    expected = sum(
        u * (part - part.mean(0)).T @ (part - part.mean(0))
        for u, part in zip(weights, np.split(X.astype(float), query_ptr[1:-1]), strict=True)
    )
    assert feature_covariance(X, query_ptr, weights) == pytest.approx(expected, abs=1e-10)


def test_any_number_of_threads_gives_the_same_bits(data):
    X, weight, query_ptr = data
    found = []
    for count in (1, 2, 5):
        with threads(count):
            found.append((feature_sums(X, weight), feature_covariance(X, query_ptr, np.ones(4))))
    assert all((a == found[0][0]).all() and (b == found[0][1]).all() for a, b in found)


def test_features_that_vary():
    X = np.array([[1, 0, 2, 5], [1, 1, 2, 5], [2, 3, 2, 5], [2, 3, 4, 5]], np.float32)
    query_ptr = np.array([0, 2, 4])
    assert varying_features(X, query_ptr, np.ones(2)).tolist() == [1, 2]
    assert varying_features(X, query_ptr, np.array([1.0, 0.0])).tolist() == [1]


def test_pieces_and_triangles():
    assert sum_of_pieces(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [4.0, 6.0]
    assert symmetric(np.array([[1.0, 0.0], [2.0, 3.0]])).tolist() == [[1.0, 2.0], [2.0, 3.0]]


def test_weighted_sums():
    random = np.random.default_rng(0)
    X, coef = random.normal(size=(9000, 7)).astype(np.float32), random.normal(size=7)
    assert weighted_sums(X, coef) == pytest.approx(X.astype(np.float64) @ coef, rel=1e-12, abs=1e-12)
