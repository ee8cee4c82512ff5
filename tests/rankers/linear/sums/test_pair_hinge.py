import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from pomona._jit import threads
from pomona.errors import InputError
from pomona.rankers.linear.sums.feature_sums import weighted_sums
from pomona.rankers.linear.sums.pair_hinge import SquaredPairHinge
from reference import pair_hinge as slow

QUERY_PTR = np.array([0, 9, 10, 30, 42])


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(3)
    return random.normal(size=(42, 4)).astype(np.float32), random.integers(0, 4, 42).astype(np.float32)


def test_by_hand():
    # pairs (2, 1), (2, 0), (1, 0) with margins −1, −2, −1
    hinge = SquaredPairHinge(np.array([2, 1, 0], np.float32), np.array([0, 3]))
    value, gradient = hinge.gradient(np.array([0.0, 1.0, 2.0]))
    assert value == pytest.approx((2**2 + 3**2 + 2**2) / 3)
    assert gradient == pytest.approx(np.array([-2 * (2 + 3), 2 * 2 - 2 * 2, 2 * (3 + 2)]) / 3)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0, -3.0]), st.floats(-3, 3).map(lambda x: round(x, 1))),
        min_size=2,
        max_size=14,
    ),
    st.integers(1, 13),
)
def test_it_is_the_sum_over_pairs(documents, cut):
    """Also with tied scores, margins of exactly 1 and fractional labels."""
    labels = np.array([label for label, _ in documents], np.float32)
    scores = np.array([score for _, score in documents])
    query_ptr = np.array([0, min(cut, len(labels) - 1), len(labels)])
    weights = np.array([0.5, 2.0])
    if not slow.pairs(labels, query_ptr):
        with pytest.raises(InputError, match="nothing to learn"):
            SquaredPairHinge(labels, query_ptr, weights)
        return
    hinge = SquaredPairHinge(labels, query_ptr, weights)
    value, gradient = slow.hinge(labels, query_ptr, scores, weights)
    found = hinge.gradient(scores)
    assert found[0] == pytest.approx(value, abs=1e-12)
    assert hinge.value(scores) == found[0]
    np.testing.assert_allclose(found[1], gradient, atol=1e-12)


def test_gradient_is_a_finite_difference(data):
    X, labels = data
    hinge = SquaredPairHinge(labels, QUERY_PTR)
    scores = X.astype(float).sum(1)
    _, gradient = hinge.gradient(scores)
    for i in range(0, 42, 5):
        step = np.zeros(42)
        step[i] = 1e-5
        difference = (hinge.value(scores + step) - hinge.value(scores - step)) / 2e-5
        assert gradient[i] == pytest.approx(difference, rel=1e-6, abs=1e-9)
    assert gradient.sum() == pytest.approx(0, abs=1e-12)
    assert hinge.value(scores + np.repeat([1.0, 9.0, -3.0, 100.0], np.diff(QUERY_PTR))) == pytest.approx(
        hinge.value(scores), rel=1e-11
    )


def test_curvature_is_the_sum_over_pairs_with_too_small_a_margin(data):
    X, labels = data
    scores = weighted_sums(X, np.array([0.5, -0.2, 0.1, 0.0]))
    K = slow.differences(X, labels, QUERY_PTR)
    short = K[K @ np.array([0.5, -0.2, 0.1, 0.0]) < 1][:, [0, 2, 3]]
    found = SquaredPairHinge(labels, QUERY_PTR).curvature(X, np.array([0, 2, 3]), scores)
    assert found == pytest.approx(2 * short.T @ short / len(K), abs=1e-12)


def test_derivatives_along_a_direction(data):
    X, labels = data
    hinge = SquaredPairHinge(labels, QUERY_PTR)
    scores, direction = X[:, 0].astype(float), X[:, 1].astype(float)
    slope, bend = hinge.along(scores, direction, 0.3)
    up, down = (hinge.along(scores, direction, 0.3 + d)[0] for d in (1e-6, -1e-6))
    assert slope == pytest.approx(hinge.gradient(scores + 0.3 * direction)[1] @ direction, abs=1e-12)
    assert bend == pytest.approx((up - down) / 2e-6, rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_best_step_is_the_exact_minimum(data, seed):
    _, labels = data
    hinge = SquaredPairHinge(labels, QUERY_PTR)
    scores, direction = np.random.default_rng(seed).normal(size=(2, 42)) * [[1], [0.3 + 2 * seed]]
    step = hinge.best_step(scores, direction)
    best = minimize_scalar(
        lambda t: hinge.value(scores + t * direction),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert hinge.value(scores + step * direction) <= best.fun + 1e-12
    assert 0 <= step <= 1
    if 0 < step < 1:
        assert hinge.along(scores, direction, step)[0] == pytest.approx(0, abs=1e-10)


def test_best_step_stays_where_the_value_would_rise(data):
    X, labels = data
    hinge = SquaredPairHinge(labels, QUERY_PTR)
    scores = X[:, 0].astype(float)
    assert hinge.best_step(scores, hinge.gradient(scores)[1]) == 0


def test_a_weight_is_a_repetition(data):
    X, labels = data
    scores = X[:, 0].astype(float)
    twice = SquaredPairHinge(np.tile(labels[:9], 2), np.array([0, 9, 18])).value(np.tile(scores[:9], 2))
    assert SquaredPairHinge(labels[:9], np.array([0, 9])).value(scores[:9]) == pytest.approx(twice)
    weighted = SquaredPairHinge(labels, QUERY_PTR, np.array([1.0, 0.0, 0.0, 0.0])).value(scores)
    assert weighted == pytest.approx(twice)


def test_any_number_of_threads_gives_the_same_bits(data):
    random = np.random.default_rng(0)
    labels, query_ptr = random.integers(0, 3, 2000).astype(np.float32), np.arange(0, 2001, 20)
    X = random.normal(size=(2000, 3)).astype(np.float32)
    scores, found = random.normal(size=2000), []
    for count in (1, 3):
        with threads(count):
            hinge = SquaredPairHinge(labels, query_ptr)
            value, gradient = hinge.gradient(scores)
            found.append((value, *gradient, *hinge.curvature(X, np.arange(3), scores).ravel()))
    assert found[0] == found[1]
