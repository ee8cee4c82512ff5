import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from pomona.errors import InputError
from pomona.stats.corrections import benjamini_hochberg, holm
from reference import stats as slow

families = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.02, 0.5]), [3 * 0.01, 2 * 0.02, 0.5])
    np.testing.assert_allclose(benjamini_hochberg([0.01, 0.02, 0.5]), [3 * 0.01, 3 / 2 * 0.02, 0.5])


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_as_statsmodels(n):
    p = np.round(np.random.default_rng(n).random(n) ** 4, 2)  # some tie, some are 0
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], rtol=1e-12)
    np.testing.assert_allclose(benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1], rtol=1e-12)


@given(families)
def test_benjamini_hochberg_as_scipy(p):
    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p), rtol=1e-12)


@given(families)
def test_holm_as_the_slow_twin(p):
    np.testing.assert_allclose(holm(p), slow.holm(p), rtol=1e-12)


@given(families)
def test_adjusted_never_falls_and_keeps_the_order(p):
    for adjusted in (holm(p), benjamini_hochberg(p)):
        assert (adjusted >= np.array(p)).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
    assert (benjamini_hochberg(p) <= holm(p) + 1e-15).all()


def test_no_comparison():
    assert holm([]).size == benjamini_hochberg([]).size == 0


@pytest.mark.parametrize("p", [[0.1, 1.2], [-0.1], [np.nan], [[0.1]]])
def test_what_is_no_p_value_is_refused(p):
    for correct in (holm, benjamini_hochberg):
        with pytest.raises(InputError, match="p-values between 0 and 1"):
            correct(p)
