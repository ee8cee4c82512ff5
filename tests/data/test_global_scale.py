"""One scale for all queries."""

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from pomona.data.global_scale import METHODS, GlobalScale, is_global
from pomona.errors import InputError, UnknownNameError

RANDOM = np.random.default_rng(1)
X = np.column_stack([RANDOM.normal(5, 3, 50), RANDOM.exponential(100, 50), np.ones(50)]).astype(np.float32)
X[4, 0] = np.nan


@pytest.mark.parametrize(
    ("method", "scaler"), [("global-minmax", MinMaxScaler()), ("global-standard", StandardScaler())]
)
def test_as_scikit_learn_scales_what_is_zero_where_undefined(method, scaler):
    scale, defined = GlobalScale.of(X, method), np.nan_to_num(X).astype(np.float64)
    expected = scaler.fit_transform(defined)
    np.testing.assert_allclose(scale(X), expected, atol=1e-6)
    fresh = RANDOM.normal(0, 9, (7, 3)).astype(np.float32)
    varying = scaler.transform(fresh.astype(np.float64))[:, :2]
    np.testing.assert_allclose(scale(fresh)[:, :2], varying, atol=1e-5)
    assert (scale(fresh)[:, 2] == 0).all()  # a constant feature has no scale
    coef = np.array([0.5, -2.0, 3.0])
    weights, constant = scale.folded(coef)
    np.testing.assert_allclose(defined @ weights + constant, expected @ coef, atol=1e-6)


def test_logarithm():
    scale = GlobalScale.of(X, "global-log1p")
    assert scale(np.array([[np.e - 1, 1 - np.e, np.nan]], np.float32)).tolist()[0] == pytest.approx(
        [1, -1, 0]
    )
    with pytest.raises(InputError, match="logarithm"):
        scale.folded(np.ones(3))


def test_what_is_refused():
    with pytest.raises(UnknownNameError, match="global-max"):
        GlobalScale.of(X, "global-max")
    for method in METHODS:
        with pytest.raises(InputError, match="infinite"):
            GlobalScale.of(X, method)(np.full((1, 3), np.inf, np.float32))
        assert is_global(method)
    assert not is_global(None)
    assert not is_global("minmax")
