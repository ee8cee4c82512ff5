import numpy as np
import pytest
from scipy import stats

from pomona._jit import threads
from pomona.errors import InputError
from pomona.rankers.neural.network.scaling import Quantiles, Scaling


def scaled(X, **options):
    X = np.array(X, np.float32)
    return rows_of(Scaling.of(X, **options), X, np.arange(len(X)))


def rows_of(scaling, X, rows):
    out = np.empty((len(rows), X.shape[1]), np.float32)
    scaling.scale(X, rows, out)
    return out


def test_mean_0_and_deviation_1():
    assert scaled([[1, 10], [3, 30], [5, 50]])[:, 0] == pytest.approx([-np.sqrt(1.5), 0, np.sqrt(1.5)])
    X = np.random.default_rng(0).gamma(2.0, 100.0, (9000, 5))
    found = scaled(X).astype(float)
    assert found.mean(axis=0) == pytest.approx(np.zeros(5), abs=1e-5)
    assert found.std(axis=0) == pytest.approx(np.ones(5), abs=2e-3)  # a few values are cut


def test_logarithms():
    X = np.array([[np.e - 1], [0], [1 - np.e]], np.float32)
    assert scaled(X, log=True)[:, 0] == pytest.approx(np.sqrt(1.5) * np.array([1, 0, -1]))


def test_undefined_and_constant_features_become_0():
    X = [[1, 0.1, np.nan], [np.nan, 0.1, np.nan], [3, 0.1, np.nan]]
    assert scaled(X).tolist() == [[-1, 0, 0], [0, 0, 0], [1, 0, 0]]
    # A tenth is no binary fraction: its mean over many rows is not quite itself.
    assert not scaled(np.full((7000, 1), 0.1)).any()


def test_far_values_are_cut():
    X = np.zeros((200, 1), np.float32)
    X[0] = 1
    assert scaled(X)[0] == 10
    assert rows_of(Scaling.of(X), np.array([[np.inf], [-np.inf]], np.float32), np.arange(2)).tolist() == [
        [10],
        [-10],
    ]


def test_infinite_training_values_are_refused():
    for log in (False, True):
        with pytest.raises(InputError, match="infinite"):
            Scaling.of(np.array([[1.0], [np.inf]], np.float32), log=log)


def test_rows_are_put_in_order_and_threads_change_nothing():
    X = np.random.default_rng(0).standard_normal((20_000, 3)).astype(np.float32)
    found = []
    for count in (1, 4):
        with threads(count):
            scaling = Scaling.of(X)
            found.append((scaling.mean, scaling.inverse, rows_of(scaling, X, np.arange(len(X))[::-1].copy())))
    assert all((one == other).all() for one, other in zip(*found, strict=True))
    assert (found[0][2] == scaled(X)[::-1]).all()


def test_scaling_what_is_scaled_changes_nothing():
    X = np.random.default_rng(0).lognormal(0, 3, (50, 4)).astype(np.float32)
    X[::7, 2] = np.nan
    once, twice = np.empty((2, *X.shape), np.float32)
    Scaling.of(X, log=True).scale(X, np.arange(50), once)
    Scaling.done(4).scale(once, np.arange(50), twice)
    assert (once == twice).all()


def test_quantiles_make_any_feature_normal():
    random = np.random.default_rng(0)
    X = np.column_stack([random.lognormal(0, 3, 5000), random.standard_cauchy(5000), random.random(5000)])
    found = scaled(X, quantile=True)
    for column, raw in zip(found.T, X.T, strict=True):
        expected = stats.norm.ppf((stats.rankdata(raw.astype(np.float32)) - 0.5) / 5000)
        inner = np.abs(expected) < 2.5  # between the outermost knots a line stands for the normal curve
        assert column[inner] == pytest.approx(expected[inner], abs=0.05)
        assert (np.diff(column[np.argsort(raw)]) >= 0).all()


def test_quantiles_of_ties_by_hand():
    """Of four zeros and a one: below 0 lie two, the zeros' half; below 1 four and a half."""
    X = np.array([[0], [0], [0], [0], [1], [np.nan]], np.float32)
    low, high = stats.norm.ppf([0.4, 0.9])
    mean, deviation = np.average([low, high], weights=[4, 1]), 0.4 * (high - low)
    expected = (np.array([low, low + (high - low) / 4, high, low, high, mean]) - mean) / deviation
    fresh = np.array([[0], [0.25], [1], [-np.inf], [9], [np.nan]], np.float32)
    assert rows_of(Scaling.of(X, quantile=True), fresh, np.arange(6))[:, 0] == pytest.approx(
        expected, abs=1e-6
    )


def test_quantiles_of_features_that_tell_nothing():
    X = np.array([[1, np.nan, 5], [2, np.nan, 5], [3, np.nan, 5]], np.float32)
    assert scaled(X, quantile=True)[:, 1:].tolist() == [[0, 0]] * 3
    with pytest.raises(InputError, match="infinite"):
        Scaling.of(np.array([[1.0], [np.inf]], np.float32), quantile=True)


def test_quantiles_of_a_file_must_fit():
    quantiles = Quantiles.of(np.random.default_rng(0).random((9, 3)).astype(np.float32))
    arrays = vars(quantiles)
    assert (Quantiles.of_arrays(arrays, 3).knots == quantiles.knots).all()
    assert not Quantiles.of_arrays({}, 3).knots.size
    for wrong in (
        {"knot_ptr": np.array([0, 9, 5, 27])},
        {"knot_ptr": np.array([0, 9, 18, 28])},
        {"heights": np.zeros(26)},
        {"knots": np.full(27, np.nan, np.float32)},
    ):
        with pytest.raises(ValueError, match=r"quantiles|knot|heights"):
            Quantiles.of_arrays({**arrays, **wrong}, 3)
    with pytest.raises(ValueError, match="knot_ptr"):
        Quantiles.of_arrays(arrays, 2)
