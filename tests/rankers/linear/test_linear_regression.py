import numpy as np
import pytest
from sklearn.linear_model import Ridge

import pomona as pm
from pomona._jit import threads
from pomona.errors import InputError
from pomona.rankers.linear.linear_regression import LinearRegression

# Labels below 0 are grades to a regression.
pytestmark = pytest.mark.filterwarnings("ignore:.*below 0")


def dataset(X, y, n_queries=10):
    return pm.Dataset(X, y, np.arange(len(X)) * n_queries // len(X))


@pytest.fixture(scope="module")
def noisy():
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 6)).astype(np.float32)
    return dataset(X, (X @ random.normal(size=6) + random.normal(size=4000)).round(2))


def test_noiseless_labels_are_recovered():
    X = np.random.default_rng(0).integers(-9, 9, (300, 5))
    fitted = LinearRegression(normalize=None).fit(dataset(X, X @ [1, -2, 0, 3, 5] + 7))
    assert fitted.coef_ == pytest.approx([1, -2, 0, 3, 5], abs=1e-8)
    assert fitted.intercept_ == pytest.approx(7, abs=1e-8)


def test_is_ridge_regression(noisy):
    weights = np.random.default_rng(1).integers(0, 4, noisy.n_docs).astype(float)
    for l2 in (0.0, 1e-10, 1.0, 500.0):
        fitted = LinearRegression(normalize=None, l2=l2).fit(noisy, sample_weight=weights)
        theirs = Ridge(alpha=l2, solver="svd").fit(noisy.X.astype(float), noisy.y, sample_weight=weights)
        assert fitted.coef_ == pytest.approx(theirs.coef_, rel=1e-9)
        assert fitted.intercept_ == pytest.approx(theirs.intercept_, rel=1e-7)


def test_the_target_may_be_the_gain():
    data = dataset([[0.0], [1.0], [2.0]], [0, 1, 2], 1)
    fitted = LinearRegression(normalize=None, target="gain").fit(data)
    assert fitted.coef_ == pytest.approx([(3 - 0) / 2])  # gains 0, 1, 3
    assert fitted.intercept_ == pytest.approx((0 + 1 + 3) / 3 - 1.5 * 1)


def test_nearly_collinear_features_keep_their_digits():
    random = np.random.default_rng(0)
    X = random.integers(0, 1000, (500, 3)).astype(np.float32)
    X[:, 2] = X[:, 0] + X[:, 1]
    X[0, 2] += 1  # all that tells it from the sum of the others: a share of 1e-8 of its square
    fitted = LinearRegression(normalize=None, l2=0.0).fit(dataset(X, X @ [2.0, 1.0, -3.0]))
    assert fitted.coef_ == pytest.approx([2, 1, -3], abs=1e-6)


def test_features_that_say_nothing_new_get_no_weight_of_their_own():
    random = np.random.default_rng(0)
    X = random.random((200, 5)).astype(np.float32)
    X[:, 2] = X[:, 0]
    X[:, 3] = 0.1
    y = random.integers(0, 3, 200)
    sharing = LinearRegression(normalize=None).fit(dataset(X, y))
    assert sharing.coef_[0] == pytest.approx(sharing.coef_[2])
    fitted = LinearRegression(normalize=None, l2=0.0).fit(dataset(X, y))
    assert np.count_nonzero(fitted.coef_) == 3
    assert fitted.coef_[3] == 0
    design = np.c_[X, np.ones(200)].astype(float)
    expected = design @ np.linalg.lstsq(design, y.astype(float))[0]
    assert fitted.predict(X) == pytest.approx(expected, abs=1e-9)
    assert sharing.predict(X) == pytest.approx(expected, abs=1e-9)


def test_same_bits_for_any_number_of_threads(noisy):
    fits = []
    for count in (1, 2, 3):
        with threads(count):
            fits.append(LinearRegression().fit(noisy).coef_)
    assert (fits[0] == fits[1]).all()
    assert (fits[0] == fits[2]).all()


@pytest.mark.filterwarnings("ignore:no feature was given a weight")
def test_labels_that_are_all_alike_give_equal_scores(noisy):
    assert np.ptp(LinearRegression().fit(noisy.replace(y=np.ones_like(noisy.y))).predict(noisy)) == 0


def test_refusals(noisy):
    with pytest.raises(pm.PomonaError, match="unknown target 'gains': did you mean 'gain'"):
        LinearRegression(target="gains").fit(noisy)
    with pytest.raises(InputError, match="l2 must be a number of at least 0"):
        LinearRegression(l2=-1).fit(noisy)
