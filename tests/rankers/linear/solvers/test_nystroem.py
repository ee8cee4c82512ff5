import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from pomona.rankers.linear.solvers.nystroem import Kernel, NystroemFeatures

X = np.random.default_rng(0).random((60, 5)).astype(np.float32)


def test_kernels_are_scikit_learns():
    rows = X.astype(float)
    assert Kernel("rbf", 0.3).values(X, X[:7]) == pytest.approx(rbf_kernel(rows, rows[:7], gamma=0.3))
    expected = polynomial_kernel(rows, rows[:7], degree=4, gamma=0.3)
    assert Kernel("poly", 0.3, 4).values(X, X[:7]) == pytest.approx(expected)


def test_products_of_features_are_the_kernel():
    kernel = Kernel("rbf", 2.0)
    features = NystroemFeatures(kernel, X, 60, seed=0)
    mapped = features.of(X).astype(float)
    assert mapped @ mapped.T == pytest.approx(kernel.values(X, X), abs=1e-4)
    few = NystroemFeatures(kernel, X, 20, seed=0)
    mapped = few.of(few.landmarks).astype(float)  # exact between landmarks, whatever their number
    assert mapped @ mapped.T == pytest.approx(kernel.values(few.landmarks, few.landmarks), abs=1e-5)


def test_a_line_through_the_features_is_a_sum_over_the_landmarks():
    features = NystroemFeatures(Kernel("poly", 0.5, 2), X, 12, seed=1)
    w = np.random.default_rng(1).normal(size=len(features.landmarks))
    sums = Kernel("poly", 0.5, 2).sums(X, features.landmarks, features.landmark_weights(w))
    assert sums == pytest.approx(features.of(X).astype(float) @ w, abs=1e-3)


def test_documents_that_repeat_others_are_no_landmarks():
    twice = np.concatenate([X[:8], X[:8]])
    assert len(NystroemFeatures(Kernel("rbf", 1.0), twice, 16, seed=0).landmarks) == 8
    assert len(NystroemFeatures(Kernel("rbf", 1.0), np.ones((9, 2), np.float32), 9, seed=0).landmarks) == 1
