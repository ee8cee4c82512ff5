from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pomona._jit import threads
from pomona.errors import InputError
from pomona.stats.bootstrap import Resampled, interval, interval_clustered, interval_crossed
from pomona.stats.random_word import key_of
from reference import stats as slow


@given(st.integers(2, 40), st.integers(0, 5))
def test_as_the_slow_twin(n, seed):
    values = np.random.default_rng(seed + n).random(n)
    means = slow.resampled_means(values.tolist(), 99, int(key_of(seed)))
    np.testing.assert_allclose(Resampled.of(values[None], 99, seed).means[0], means, rtol=1e-12)
    expected = slow.bca(values.tolist(), means, 0.9)
    assert interval(values, 99, seed, 0.9) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_as_scipy_makes_it_of_the_same_resamples(level):
    values = np.random.default_rng(3).beta(0.5, 2.0, (4, 60))
    resampled = Resampled.of(values, 999, seed=7)
    low, high = resampled.intervals(level)
    for i in range(4):
        theirs = scipy.stats.bootstrap(
            (values[i],),
            np.mean,
            n_resamples=0,
            confidence_level=level,
            bootstrap_result=SimpleNamespace(bootstrap_distribution=resampled.means[i]),
        ).confidence_interval
        assert (low[i], high[i]) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_near_what_scipy_draws():
    values = np.random.default_rng(4).beta(0.5, 2.0, 200)
    theirs = scipy.stats.bootstrap((values,), np.mean, n_resamples=9999, rng=np.random.default_rng(0))
    error = values.std() / np.sqrt(200)
    assert interval(values) == pytest.approx(tuple(theirs.confidence_interval), abs=0.1 * error)


def test_resampled_means_have_the_spread_of_means():
    values = np.random.default_rng(5).random((3, 101))
    means = Resampled.of(values, 20_000).means
    np.testing.assert_allclose(means.mean(axis=1), values.mean(axis=1), atol=0.001)
    np.testing.assert_allclose(means.std(axis=1), values.std(axis=1) / np.sqrt(101), rtol=0.03)


def test_covers_as_often_as_it_says():
    samples = np.random.default_rng(6).exponential(1.0, (1000, 50))
    low, high = Resampled.of(samples, 1000).intervals(0.9)
    # BCa falls a little short for so skewed values: 0.87 to 0.9; 1000 intervals stray by 0.01 on average.
    assert 0.84 < np.mean((low <= 1) & (high >= 1)) < 0.93


def test_of_pairs_is_of_their_differences():
    values = np.random.default_rng(8).random((5, 80))
    first, second = np.triu_indices(5, 1)
    pairs = Resampled.of(values, 500, seed=2).intervals_of_pairs(first, second)
    alone = Resampled.of(values[first] - values[second], 500, seed=2).intervals()
    np.testing.assert_allclose(pairs, alone, rtol=1e-9)


def test_discrete_values_that_repeat_the_observed_mean():
    values = np.array([0.0] * 50 + [0.1] * 50)
    pair = Resampled.of(np.stack([values + 0.3, np.full(100, 0.3)]), 2000)
    low, high = pair.intervals_of_pairs(np.array([0]), np.array([1]))
    assert (low[0], high[0]) == pytest.approx(interval(values, 2000), rel=1e-9)


def test_threads_do_not_matter():
    values = np.random.default_rng(0).random((9, 333))
    with threads(1):
        one = Resampled.of(values, 1001, seed=3).means
    with threads(4):
        four = Resampled.of(values, 1001, seed=3).means
    np.testing.assert_array_equal(one, four)


def test_equal_values_and_a_single_query():
    assert interval([0.3, 0.3, 0.3]) == pytest.approx((0.3, 0.3))
    assert np.isnan(interval([0.3])).all()


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_that_is_none_is_refused(level):
    with pytest.raises(InputError, match=r"expected a number between 0 and 1, such as 0\.95"):
        interval([0.1, 0.2], level=level)


def test_nothing_to_resample_is_refused():
    with pytest.raises(InputError, match="found n_resamples=0"):
        interval([0.1, 0.2], n_resamples=0)


def test_clustered_by_hand():
    # Two folds: the mean is that of the first twice, of both, or of the second twice.
    low, high = interval_clustered([[0.0, 1.0], [1.0, 1.0]], folds=[1, 2], n_resamples=2000)
    assert low.tolist() == [0.0, 1.0]
    assert high.tolist() == [1.0, 1.0]


def test_clustered_spread_is_that_of_both_stages():
    random = np.random.default_rng(0)
    values = random.normal(size=(40, 1)) + 0.5 * random.normal(size=(40, 3))
    low, high = interval_clustered(values.reshape(-1, 1), np.repeat(np.arange(40), 3), n_resamples=20_000)
    within = np.mean([fold.var() / 3 for fold in values])
    error = np.sqrt((values.mean(axis=1).var() + within) / 40)
    assert (high - low)[0] == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_clustered_seeds_of_one_fold_and_a_single_run():
    low, high = interval_clustered([[0.1], [0.2], [0.4]], folds=[1, 1, 1])
    assert 0.1 <= low[0] < 0.7 / 3 < high[0] <= 0.4
    assert np.isnan(interval_clustered([[0.1, 0.2]], folds=[1])).all()


def test_clustered_needs_a_fold_for_each_run():
    with pytest.raises(InputError, match="found 1 folds for 2 runs"):
        interval_clustered([[0.1], [0.2]], folds=[1])


def test_crossed_intervals_have_the_variance_of_queries_and_of_draws():
    random = np.random.default_rng(0)
    n_draws, n_queries = 20, 400
    noise = random.normal(0, 1, (n_draws, n_queries))
    values = random.normal(0, 2, n_queries) + random.normal(0, 0.5, (n_draws, 1)) + noise
    low, high = interval_crossed(values[None], n_resamples=4000)
    expected = np.sqrt(values.mean(axis=0).var() / n_queries + values.mean(axis=1).var() / n_draws)
    # Half the width of a normal 95 % interval of the sum of both (the part of both together counts twice).
    assert (high - low)[0] / 2 == pytest.approx(1.96 * expected, rel=0.06)
    assert low[0] < values.mean() < high[0]


def test_crossed_intervals_of_one_draw_are_those_of_queries():
    values = np.random.default_rng(1).random((2, 1, 200))
    low, high = interval_crossed(values, n_resamples=4000)
    for one, begin, end in zip(values[:, 0], low, high, strict=True):
        assert (begin, end) == pytest.approx(interval(one), abs=0.004)
    assert np.isnan(interval_crossed([[[0.5]]])).all()
    with pytest.raises(InputError, match="expected series × draws × queries"):
        interval_crossed([[0.5]])
