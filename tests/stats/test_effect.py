import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from statsmodels.stats.power import TTestPower

from pomona.errors import InputError
from pomona.stats.effect import cohen_d, smallest_detectable, spread, win_tie_loss
from pomona.stats.paired import t_test


def test_cohen_d_by_hand():
    assert cohen_d([0.1, 0.3]) == pytest.approx(0.2 / np.sqrt(2 * 0.1**2))
    assert cohen_d([[1, 2, 3], [-1, -2, -3]]).tolist() == [2.0, -2.0]


def test_cohen_d_at_its_ends():
    assert cohen_d([0.0, 0.0]) == 0.0
    assert cohen_d([0.1, 0.1, 0.1]) == np.inf
    assert cohen_d([-0.1, -0.1, -0.1]) == -np.inf
    assert np.isnan(cohen_d([0.1]))


def test_spread():
    assert spread([0.0, 2.0]) == pytest.approx(np.sqrt(2))
    assert spread([0.1, 0.1, 0.1]) == 0.0  # though 0.1 is not the mean of three times 0.1
    assert np.isnan(spread([0.1]))


def test_win_tie_loss():
    wins, ties, losses = win_tie_loss([[0.1, 0.0, -0.1, 0.2], [0.0, 0.0, 0.0, -1.0]])
    assert (wins.tolist(), ties.tolist(), losses.tolist()) == ([2, 0], [1, 3], [1, 1])


@pytest.mark.parametrize("n", [10, 50, 800, 30_000])
@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.95)])
def test_smallest_detectable_as_statsmodels(n, alpha, power):
    effect = TTestPower().solve_power(nobs=n, alpha=alpha, power=power)
    assert smallest_detectable(n, 0.3, alpha, power) == pytest.approx(0.3 * effect, rel=1e-4)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_smallest_detectable_of_few_queries_by_its_definition(n):
    # P(T > t) over the distribution of the standard deviation; statsmodels is off for so few.
    shift, critical = smallest_detectable(n, 1.0) * np.sqrt(n), stats.t.ppf(0.975, n - 1)
    root = np.sqrt(n - 1)
    power, _ = quad(
        lambda s: stats.norm.cdf(shift - critical * s) * stats.chi.pdf(s * root, n - 1) * root, 0, 9
    )
    assert power == pytest.approx(0.8, abs=1e-6)


def test_smallest_detectable_is_found_that_often():
    detectable = smallest_detectable(40, 1.0)
    d = np.random.default_rng(0).normal(detectable, 1.0, (4000, 40))
    assert np.mean(t_test(d) <= 0.05) == pytest.approx(0.8, abs=4 * np.sqrt(0.8 * 0.2 / 4000))


def test_smallest_detectable_of_one_query_and_of_no_spread():
    assert np.isnan(smallest_detectable(1, 0.3))
    assert smallest_detectable(10, 0.0) == 0.0
    with pytest.raises(InputError, match=r"found alpha=5 and power=0\.8"):
        smallest_detectable(10, 0.3, alpha=5)
