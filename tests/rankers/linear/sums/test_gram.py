import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona._jit import threads
from pomona.rankers.linear.sums.gram import combined, gram, weighted_means, whitening


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    return random.normal(size=(5000, 7)).astype(np.float32), random.random(5000), random.random(7)


def test_sums_are_those_of_matrices(rows):
    X, weights, center = rows
    Z = X.astype(np.float64) - center
    np.testing.assert_allclose(gram(X, weights, center), Z.T @ (Z * weights[:, None]), rtol=1e-12)
    np.testing.assert_allclose(weighted_means(X, weights), np.average(X, axis=0, weights=weights), rtol=1e-6)
    np.testing.assert_allclose(combined(Z[:3], weights[:3]), Z[:3].T @ weights[:3], rtol=1e-12)


def test_same_bits_for_any_number_of_threads(rows):
    X, weights, center = rows
    results = []
    for count in (1, 2, 5):
        with threads(count):
            results.append(gram(X, weights, center))
    assert all((products == results[0]).all() for products in results)


def test_the_mean_of_a_constant_is_exact():
    X = np.full((3000, 1), 0.1, np.float32)
    weights = np.random.default_rng(0).random(3000)
    center = weighted_means(X, weights)
    assert center == X[0]
    assert gram(X, weights, center) == 0


@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 1000))
def test_whitening_makes_a_matrix_one(d, rank, seed):
    random = np.random.default_rng(seed)
    factor = random.normal(size=(d, min(rank, d))) * 10.0 ** random.integers(-3, 4, d)[:, None]
    matrix = factor @ factor.T
    basis = whitening(matrix)
    assert basis.shape == (d, min(rank, d))
    np.testing.assert_allclose(basis.T @ matrix @ basis, np.eye(basis.shape[1]), atol=1e-6)
    assert (np.count_nonzero(basis, axis=1) > 0).sum() == basis.shape[1]  # no other feature has a weight
    scale = np.sqrt(np.diag(matrix))
    np.testing.assert_allclose(
        matrix @ basis @ (basis.T @ matrix),
        matrix,
        atol=1e-6 * np.outer(scale, scale).max(initial=0) + 1e-300,
    )
