import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.linear import larf
from pomona.rankers.linear.larf import LARF


@pytest.fixture(scope="module")
def noisy():
    """One perfectly informative feature, third of five, and one that is perfectly wrong, the last."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 3, 40 * 12)
    X = random.random((len(labels), 5))
    X[:, 2], X[:, 4] = labels + 0.1 * X[:, 2], -labels - 0.1 * X[:, 4]
    return pm.Dataset(X, labels, np.repeat(np.arange(40), 12))


def test_the_informative_source_gets_the_largest_share(noisy):
    for seed in range(3):
        coef = LARF(n_epochs=40, seed=seed).fit(noisy).coef_
        assert set(np.argsort(-np.abs(coef))[:2]) == {2, 4}
        assert coef[2] > 0.1
        assert coef[4] < -0.1


def test_shares_sum_to_1(noisy, monkeypatch):
    seen = []
    make_lists = larf._make_lists

    def watched(*arguments):
        seen.append(make_lists(*arguments))
        assert arguments[-1].sum() == pytest.approx(1)
        return seen[-1]

    monkeypatch.setattr(larf, "_make_lists", watched)
    ranker = LARF(n_epochs=6, tolerance=0.0001).fit(noisy)
    assert len(seen) == 6
    share = np.mean(seen[3:], axis=0)
    assert share.sum() == pytest.approx(1)
    assert ranker.coef_ == pytest.approx(share[:5] - share[5:])


def test_the_order_of_features_does_not_matter_on_average(noisy):
    order = np.array([4, 2, 0, 3, 1])
    swapped = noisy.replace(X=np.ascontiguousarray(noisy.X[:, order]))
    mean, mean_swapped = (
        np.mean([LARF(n_epochs=30, seed=seed).fit(data).coef_ for seed in range(8)], axis=0)
        for data in (noisy, swapped)
    )
    assert mean_swapped == pytest.approx(mean[order], abs=0.08)


def test_ties_are_in_random_order():
    """A feature that hardly differs must not learn from the order of the file, however it is sorted."""
    labels = np.tile([2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0], 60)
    random = np.random.default_rng(1)
    X = np.column_stack((random.random(len(labels)), random.random(len(labels)) < 0.05))
    data = pm.Dataset(X, labels, np.repeat(np.arange(60), 12))
    coef = np.mean([LARF(n_epochs=30, seed=seed).fit(data).coef_ for seed in range(5)], axis=0)
    assert np.abs(coef).max() < 0.2


def test_validation_queries_choose_the_epoch(noisy):
    valid = pm.simulate(20, docs_per_query=10, n_features=5, seed=2)
    ranker = LARF(n_epochs=12).fit(noisy, valid=valid)
    assert ranker.score(valid) == pytest.approx(max(ranker.evals_["valid"]))
    assert len(ranker.evals_["valid"]) <= 12


def test_it_stops_when_shares_stay(noisy):
    ranker = LARF(n_epochs=100, tolerance=0.5).fit(noisy, valid=noisy)
    assert len(ranker.evals_["valid"]) == 1


def test_seeds(noisy):
    fits = [LARF(n_epochs=3, seed=seed).fit(noisy).coef_ for seed in (1, 1, 2)]
    assert (fits[0] == fits[1]).all()
    assert (fits[0] != fits[2]).any()


def test_ctrl_c_keeps_the_best_so_far(noisy, monkeypatch):
    make_lists, calls = larf._make_lists, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return make_lists(*arguments)

    monkeypatch.setattr(larf, "_make_lists", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        ranker = LARF().fit(noisy)
    assert ranker.interrupted_
    assert ranker.coef_.any()


def test_odd_data():
    flat = pm.Dataset(np.ones((3, 2)), [0, 1, 2], [1, 1, 1])
    with pytest.warns(UserWarning, match="score alike"):
        assert LARF().fit(flat, valid=flat).coef_.tolist() == [0, 0]
    with pytest.raises(InputError, match="no query that counts has a relevant document"):
        LARF().fit([[1.0], [2.0]], [0, 0], qid=[1, 1])
    one = LARF(n_epochs=5).fit([[1.0], [2.0], [3.0]], [0, 1, 2], qid=[1, 1, 1])
    assert np.isfinite(one.coef_).all()


def test_refusals(noisy):
    for wrong, message in (
        ({"n_listed": 0}, "n_listed must be an integer of at least 1"),
        ({"n_epochs": 0}, "n_epochs must be an integer of at least 1"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0 and below 1"),
        ({"penalty": 1.0}, "penalty must be a number above 0 and below 1"),
    ):
        with pytest.raises(InputError, match=message):
            LARF(**wrong).fit(noisy)
