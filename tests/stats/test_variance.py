import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.errors import InputError
from pomona.stats.variance import variance_shares
from reference.stats import nested_values


def test_by_hand():
    # One fold, two queries 1 apart, two seeds 0.5 apart, nothing else: mean squares 2 · ½ and 2 · ⅛, so that
    # σ²_query = 1 / 2 and σ²_seed = 0.25 / 2.
    shares = variance_shares([np.array([[0.0, 0.5], [1.0, 1.5]])])
    assert (shares.queries, shares.seeds, shares.residual) == pytest.approx((0.8, 0.2, 0.0))
    assert np.isnan(shares.folds)


def test_folds_only():
    shares = variance_shares([np.full((3, 2), 0.1), np.full((5, 2), 0.7)])
    assert (shares.queries, shares.folds, shares.seeds, shares.residual) == pytest.approx((0, 1, 0, 0))


@pytest.mark.parametrize(
    "spreads", [(0.5, 1.0, 0.3, 0.7), (1.0, 0.2, 0.2, 0.1), (0.0, 1.0, 0.0, 0.5), (0.2, 0.3, 1.0, 0.3)]
)
def test_what_was_put_in_comes_out(spreads):
    # Many folds of uneven size, for the shares of few trainings are guesses.
    values = nested_values(1, [5 + 3 * (f % 9) for f in range(600)], 3, spreads)
    shares = variance_shares([np.array(fold) for fold in values])
    total = sum(s * s for s in spreads)
    found = shares.folds, shares.queries, shares.seeds, shares.residual
    assert found == pytest.approx([s * s / total for s in spreads], abs=0.05)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(1, 3), st.integers(0, 99))
def test_shares_are_shares(sizes, n_seeds, seed):
    values = nested_values(seed, sizes, n_seeds, (0.3, 1.0, 0.3, 0.5))
    shares = variance_shares([np.array(fold) for fold in values])
    all_four = np.array([shares.queries, shares.folds, shares.seeds, shares.residual])
    known = all_four[~np.isnan(all_four)]
    assert (known >= 0).all()
    assert known.sum() == pytest.approx(1.0) or known.sum() == 0.0
    assert np.isnan(shares.folds) == (len(sizes) == 1)
    assert np.isnan(shares.seeds) == np.isnan(shares.residual) == (n_seeds == 1)


def test_nothing_varies():
    shares = variance_shares([np.full((3, 2), 0.5), np.full((3, 2), 0.5)])
    assert (shares.queries, shares.folds, shares.seeds, shares.residual) == (0, 0, 0, 0)


def test_uneven_seeds_are_refused():
    with pytest.raises(InputError, match="as many seeds in each"):
        variance_shares([np.zeros((3, 2)), np.zeros((3, 1))])
    with pytest.raises(InputError, match="as many seeds in each"):
        variance_shares([])
