import numpy as np
import pytest
from scipy import stats

from pomona.errors import InputError
from pomona.stats.power import paired_power, queries_needed, simulated_power


@pytest.mark.parametrize("effect", [0.05, 0.2, 0.5, -1.0])
@pytest.mark.parametrize("n", [2, 5, 30, 1000])
def test_power_is_that_of_the_noncentral_t(effect, n):
    limit = stats.t.ppf(0.975, n - 1)
    expected = stats.nct.sf(limit, n - 1, abs(effect) * n**0.5) + stats.nct.cdf(
        -limit, n - 1, abs(effect) * n**0.5
    )
    assert paired_power(n, effect) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("effect", [0.05, 0.1, 0.37, 1.2])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_queries_needed_are_those_of_statsmodels(effect, power):
    solved = (
        pytest.importorskip("statsmodels.stats.power")
        .TTestPower()
        .solve_power(effect, power=power, alpha=0.05)
    )
    assert queries_needed(effect, power=power) == int(np.ceil(solved - 1e-6))


def test_an_effect_that_nothing_shows():
    assert queries_needed(0.0) is None
    assert queries_needed(1e-9) is None
    assert paired_power(1, 5.0) == 0
    assert paired_power(10**8, 1.0) == pytest.approx(1)


def test_simulation_and_formula_agree_where_differences_are_normal():
    d = np.random.default_rng(0).standard_normal(5000)
    effect = 0.5 / d.std(ddof=1)
    assert simulated_power(d, 30, 0.5, n_simulations=4000) == pytest.approx(
        paired_power(30, effect), abs=0.02
    )


def test_simulation_knows_the_spread():
    """Of a hundred differences one is large: a t-test of ten of them sees either none or a wild one."""
    d = np.append(np.zeros(99), 10.0)
    assert simulated_power(d, 10, 0.5) > 3 * paired_power(10, 0.5 / d.std(ddof=1))


def test_refused():
    with pytest.raises(InputError, match="found alpha 2"):
        paired_power(10, 0.5, alpha=2)
    with pytest.raises(InputError, match="found power 1"):
        queries_needed(0.5, power=1)
