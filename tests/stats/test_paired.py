import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pomona._jit import threads
from pomona.errors import InputError
from pomona.stats.bootstrap import interval
from pomona.stats.effect import cohen_d, smallest_detectable
from pomona.stats.paired import PairedTests, compare_pair, compare_pairs, sign_test, t_test, wilcoxon
from pomona.stats.randomization import fisher_randomization
from reference import stats as slow

tenths = st.integers(-10, 10).map(lambda i: i / 10)
TESTS = (t_test, wilcoxon, sign_test)


def test_by_hand():
    assert sign_test([1, 1, 1, 1, -1]) == pytest.approx(2 * (1 + 5) / 2**5)
    assert sign_test([1, -1]) == 1.0
    # Ranks 1, 2, 3, all positive: 1 of the 8 patterns, doubled.
    assert wilcoxon([0.1, 0.2, 0.3]) == 2 / 2**3
    # t with one degree of freedom is Cauchy: P(|T| ≥ t) = 1 − (2/π) arctan t, t = 0.2 / (0.1 √2 / √2) = 2.
    assert t_test([0.1, 0.3]) == pytest.approx(1 - 2 / np.pi * np.arctan(2))


@pytest.mark.parametrize("test", TESTS)
def test_no_difference_and_one_query(test):
    assert test(np.zeros(30)) == 1.0
    assert test([0.4]) == 1.0
    assert test([0.0]) == 1.0
    assert test([[0.0, 0.0], [0.0, 0.0]]).tolist() == [1.0, 1.0]


def test_the_same_difference_everywhere():
    assert t_test([0.1] * 10) == 0.0
    assert sign_test([0.1] * 10) == 2 / 2**10


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40))
def test_t_as_scipy(d):
    if np.std(d) > 1e-6:
        assert t_test(d) == pytest.approx(scipy.stats.ttest_1samp(d, 0).pvalue, rel=1e-9)


@given(st.lists(tenths, min_size=1, max_size=60))
def test_sign_as_scipy_and_the_slow_twin(d):
    wins, losses = sum(x > 0 for x in d), sum(x < 0 for x in d)
    if wins + losses:
        assert sign_test(d) == pytest.approx(scipy.stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)
    assert sign_test(d) == pytest.approx(slow.sign_test(d), rel=1e-9)


@given(st.lists(st.integers(1, 1000), unique=True, min_size=1, max_size=9), st.data())
def test_wilcoxon_is_exact_for_few_untied(sizes, data):
    d = [size * data.draw(st.sampled_from((-1, 1))) for size in sizes] + [0, 0]
    assert wilcoxon(d) == pytest.approx(slow.exact_wilcoxon(d), rel=1e-9)


@given(st.lists(tenths.filter(bool), min_size=26, max_size=60))
def test_wilcoxon_is_normal_with_ties(d):
    assert wilcoxon([*d, 0.0]) == pytest.approx(slow.normal_wilcoxon(d), rel=1e-9)


@pytest.mark.parametrize(("n", "slow_twin"), [(25, "exact"), (26, "normal")])
def test_wilcoxon_is_exact_up_to_25(n, slow_twin):
    d = np.random.default_rng(n).normal(0.3, 1.0, n)
    method = {"exact": "exact", "normal": "approx"}[slow_twin]
    assert wilcoxon(d) == scipy.stats.wilcoxon(d, method=method, correction=False).pvalue


def test_few_but_tied_are_normal():
    d = [0.1, 0.1, 0.2, -0.3, 0.4]
    assert wilcoxon(d) == pytest.approx(slow.normal_wilcoxon(d))


@pytest.mark.parametrize("test", TESTS)
def test_rows_are_tested_one_by_one(test):
    random = np.random.default_rng(0)
    rows = random.normal(size=(6, 30))
    rows[1, 12:] = 0.0  # few enough for the exact Wilcoxon
    rows[2] = np.round(rows[2])
    rows[3] = 0.0
    np.testing.assert_array_equal(test(rows), [test(row) for row in rows])
    np.testing.assert_array_equal(test(rows.reshape(2, 3, 30)), test(rows).reshape(2, 3))
    np.testing.assert_allclose(test(-rows), test(rows), rtol=1e-12)


@pytest.mark.parametrize("test", TESTS)
def test_undefined_is_refused(test):
    with pytest.raises(InputError, match="query number 2 is nan"):
        test([0.1, np.nan])


def test_a_pair_is_the_sum_of_its_tests():
    random = np.random.default_rng(1)
    a, b = random.integers(0, 11, (2, 60)) / 10
    d = np.round(a - b, 12)
    found = compare_pair(a, b, alpha=0.1, n_resamples=500, seed=3)
    assert found == PairedTests(
        n_queries=60,
        difference=pytest.approx(d.mean()),
        low=pytest.approx(interval(d, 500, 3, 0.9)[0]),
        high=pytest.approx(interval(d, 500, 3, 0.9)[1]),
        effect=cohen_d(d),
        t_p=t_test(d),
        wilcoxon_p=wilcoxon(d),
        sign_p=sign_test(d),
        randomization_p=fisher_randomization(d, 500, 3),
        wins=int((d > 0).sum()),
        ties=int((d == 0).sum()),
        losses=int((d < 0).sum()),
        detectable=smallest_detectable(60, d.std(ddof=1), 0.1),
    )


def test_all_pairs_whatever_the_threads():
    values = np.random.default_rng(2).random((12, 3000))
    first, second = np.triu_indices(12, 1)
    with threads(1):
        one = compare_pairs(values, first, second, n_resamples=20_000)
    with threads(3):
        three = compare_pairs(values, first, second, n_resamples=20_000)
    assert one == three
    assert one[-1] == compare_pair(values[10], values[11], n_resamples=20_000)


def test_a_single_query():
    found = compare_pair([0.5], [0.4])
    assert (found.t_p, found.wilcoxon_p, found.sign_p, found.randomization_p) == (1, 1, 1, 1)
    assert np.isnan([found.low, found.high, found.effect, found.detectable]).all()
    assert not found.agree()


def test_agree_wants_all_three():
    better = compare_pair(np.linspace(0.5, 0.9, 12), np.linspace(0.4, 0.6, 12))
    assert better.agree()
    assert not better.agree(alpha=1e-4)
    # One huge gain against many small losses: the sign test and the mean point to different sides.
    d = np.array([-0.01] * 30 + [50.0])
    odd = compare_pair(d, np.zeros(31))
    assert odd.sign_p < 0.05 < odd.t_p
    assert not odd.agree()


def test_agree_wants_one_direction():
    tests = dict.fromkeys(PairedTests.__slots__, 0.0) | {"difference": 0.1, "wins": 3, "losses": 9}
    assert not PairedTests(**tests).agree()
    assert PairedTests(**tests | {"wins": 9, "losses": 3}).agree()


def test_other_queries_are_refused():
    with pytest.raises(InputError, match="found 2 and 3 values"):
        compare_pair([0.1, 0.2], [0.1, 0.2, 0.3])


def test_the_sign_test_of_an_even_split_is_exactly_one():
    for wins, losses in ((217, 218), (218, 217), (5, 5), (0, 1), (0, 0)):
        assert sign_test([1.0] * wins + [-1.0] * losses + [0.0]) == 1.0
    assert sign_test([1.0] * 3 + [-1.0]) == 2 * (1 + 4) / 16
