import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona._jit import threads
from pomona.errors import InputError
from pomona.stats.random_word import key_of
from pomona.stats.randomization import N_EXACT, fisher_randomization, randomization_of_pairs
from reference import stats as slow

tenths = st.integers(-10, 10).map(lambda i: i / 10)


def test_by_hand():
    assert fisher_randomization([1, 1, 1, 1, 1]) == 2 / 2**5
    assert fisher_randomization([3, 1]) == 2 / 4  # of the sums ±2 and ±4, two are as far as 4
    assert fisher_randomization([3, -1]) == 4 / 4
    assert fisher_randomization([0.5]) == 1.0


def test_no_difference():
    assert fisher_randomization(np.zeros(5)) == 1.0
    assert fisher_randomization(np.zeros(500)) == 1.0


@given(st.lists(tenths, min_size=1, max_size=9))
def test_few_queries_are_exact(d):
    assert fisher_randomization(d) == slow.exact_randomization(d)


@given(st.lists(tenths, min_size=N_EXACT + 1, max_size=150), st.integers(0, 5))
def test_many_queries_are_sampled_as_the_slow_twin_does(d, seed):
    assert fisher_randomization(d, n_resamples=60, seed=seed) == slow.randomization(d, 60, int(key_of(seed)))


def test_sampled_is_near_exact():
    d = np.random.default_rng(1).normal(0.2, 1.0, N_EXACT)
    exact = float(fisher_randomization(d))
    # A query without a difference changes nothing but makes them too many to enumerate.
    sampled = float(fisher_randomization(np.append(d, 0.0), n_resamples=100_000))
    assert sampled == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 100_000))


def test_p_is_uniform_without_a_difference():
    d = np.random.default_rng(2).normal(size=(400, 40))
    p = fisher_randomization(d, n_resamples=999)
    # Shares of 400 stray by 0.025 at most on average.
    for level in (0.05, 0.25, 0.5, 0.75):
        assert np.mean(p <= level) == pytest.approx(level, abs=4 * 0.025)


def test_p_is_never_0():
    assert fisher_randomization(np.ones(1000), n_resamples=99) == 1 / 100


@given(st.integers(1, 70), st.integers(1, 100), st.integers(0, 3))
def test_pairs_are_their_differences(n_rows, n_queries, seed):
    values = np.random.default_rng(seed).integers(0, 11, (n_rows, n_queries)) / 10
    first, second = np.array([0, n_rows - 1, n_rows // 2]), np.array([n_rows - 1, 0, 0])
    pairs = randomization_of_pairs(values, first, second, n_resamples=50, seed=seed)
    alone = fisher_randomization(values[first] - values[second], n_resamples=50, seed=seed)
    np.testing.assert_array_equal(pairs, alone)
    assert pairs[0] == pairs[1]  # two-sided: the order of the rankers does not matter


def test_threads_do_not_matter():
    values = np.random.default_rng(0).random((70, 300))
    first, second = np.triu_indices(70, 1)
    with threads(1):
        one = randomization_of_pairs(values, first, second, n_resamples=3000, seed=4)
    with threads(4):
        four = randomization_of_pairs(values, first, second, n_resamples=3000, seed=4)
    np.testing.assert_array_equal(one, four)


def test_the_seed_matters():
    d = np.random.default_rng(0).normal(0.1, 1, 100)
    p = [float(fisher_randomization(d, n_resamples=500, seed=seed)) for seed in (0, 0, 1)]
    assert p[0] == p[1] != p[2]


def test_nothing_to_resample_is_refused():
    with pytest.raises(InputError, match="found n_resamples=0"):
        fisher_randomization(np.ones(20), n_resamples=0)
