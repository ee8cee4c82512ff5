import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pomona as pm
from pomona._registry import entries
from pomona.errors import InputError
from pomona.measures.parse import measure
from pomona.rankers.linear.perm_rank import PermuRank, WorkingSets
from pomona.rankers.linear.sums.feature_sums import weighted_sums
from reference import margins


@pytest.fixture(scope="module")
def train():
    return pm.simulate(50, docs_per_query=10, n_features=8, seed=1)


def sets_of(data, name="ndcg", **more):
    return WorkingSets(data, measure(name), **{"n_random": 2, "seed": 0, **more})


def test_by_hand():
    data = pm.Dataset([[0.0], [1.0], [3.0]], [2, 1, 0], [1, 1, 1])
    sets = sets_of(data, "ap", n_random=0)
    # The reversed list: AP is (1/2 + 2/3) / 2, and each pair counts 2 / (3 · 2) times.
    assert sets.query.tolist() == [0]
    assert sets.offsets == pytest.approx([1 - (1 / 2 + 2 / 3) / 2])
    assert sets.slopes == pytest.approx(np.array([[2 / 6 * ((0 - 1) + (0 - 3) + (1 - 3))]]))


@given(seed=st.integers(0, 10**6), n_docs=st.integers(2, 9))
def test_planes_are_as_defined(seed, n_docs):
    random = np.random.default_rng(seed)
    X, y = random.random((n_docs, 3)), random.integers(0, 3, n_docs)
    y[:2] = [0, 1]
    data = pm.Dataset(X, y, np.zeros(n_docs))
    scores = random.permutation(n_docs).astype(float)
    sets = sets_of(data)
    slopes, lost = sets._planes(scores)
    ranking = np.argsort(-scores).tolist()
    best = sorted(ranking, key=lambda i: -y[i])  # stable: equal labels stay in the ranking's order
    expected = np.subtract(margins.phi(best, data.X.tolist()), margins.phi(ranking, data.X.tolist()))
    assert slopes[0] == pytest.approx(expected, rel=1e-5, abs=1e-6)
    value = pm.evaluate(data, scores, "ndcg")["ndcg"]
    assert lost[0] == pytest.approx(1 - value, abs=1e-12)


@pytest.mark.parametrize("name", ["ap", "ndcg@5", "err@10"])
def test_the_models_own_ranking_costs_at_least_what_it_loses(name, train):
    sets = sets_of(train, name)
    random = np.random.default_rng(0)
    values = pm.evaluate(train, train.y, name, per_query=True)[name]
    for scale in (0.0, 0.1, 1.0, 10.0):
        w = scale * random.normal(size=train.n_features)
        scores = weighted_sums(train.X, w)
        slopes, lost = sets._planes(scores)
        assert (lost - slopes @ w >= lost - 1e-5).all()
        if scale:
            own = pm.evaluate(train, scores, name, per_query=True)[name]
            assert lost == pytest.approx(values - own, abs=1e-9)


def test_a_tangent_touches_the_mean_of_the_worst(train):
    sets = sets_of(train)
    w = np.random.default_rng(1).normal(size=train.n_features)
    slope, offset = sets.tangent(w)
    hinges = np.maximum(sets.offsets - sets.slopes @ w, 0)
    worst = [hinges[sets.query == q].max() for q in np.unique(sets.query)]
    assert offset - slope @ w == pytest.approx(np.mean(worst), rel=1e-6)


def test_sets_grow_until_no_own_ranking_is_missing(train):
    C = 3000.0
    svm = PermuRank(tolerance=1e-5, n_rounds=1).make_problem(train, None)
    sets = svm._sets
    optima, sizes = [], [len(sets.query)]
    for _ in range(200):
        svm.solve(C)
        slope, offset = sets.tangent(svm.coef)
        optima.append(0.5 * svm.coef @ svm.coef + C * (offset - slope @ svm.coef))
        if not sets.take_in(svm.coef, 1e-5):
            break
        sizes.append(len(sets.query))
    else:
        pytest.fail("does not end")
    assert len(optima) > 2
    assert (np.diff(optima) >= -2e-5 * C).all()
    assert (np.diff(sizes) > 0).all()
    assert (np.diff(sets.query) >= 0).all()
    assert not sets.take_in(svm.coef, 1e-5)


@pytest.mark.parametrize("name", sorted(set(entries("measures")) - {"sr"}))
def test_towards_any_measure(name, train):
    ranker = PermuRank(measure=f"{name}@5", n_rounds=5, tolerance=1e-3).fit(train)
    constant = pm.evaluate(train, np.zeros(train.n_docs), f"{name}@5", ties="expected")[f"{name}@5"]
    assert ranker.score(train) > constant


def test_towards_a_users_own_measure(train):
    class FirstLabel(pm.Measure):
        def of_query(self, labels):
            return float(labels[0])

    ranker = PermuRank(measure=FirstLabel(), n_rounds=5, tolerance=1e-3).fit(train)
    assert ranker.score(train) > train.y.mean() + 0.3


def test_seeds_differ(train):
    first, second = (PermuRank(C=100.0, n_rounds=1, seed=seed).fit(train).coef_ for seed in (0, 1))
    assert (first != second).any()


@pytest.mark.filterwarnings("ignore:no feature was given a weight")
def test_features_that_tell_nothing():
    data = pm.Dataset(np.full((4, 2), 3.0), [0, 1, 2, 0], [1, 1, 1, 1])
    for normalize in ("minmax", None):
        assert PermuRank(normalize=normalize).fit(data, valid=data).coef_ == pytest.approx(0, abs=1e-6)


def test_refusals(train):
    with pytest.raises(InputError, match="by ndcg@10 no ranking is worse than the order of the labels"):
        PermuRank().fit(train.replace(y=np.ones_like(train.y)))
    with pytest.raises(InputError, match="n_rounds must be an integer of at least 1, found 0"):
        PermuRank(n_rounds=0).fit(train)
    with pytest.raises(InputError, match="n_random must be an integer of at least 0, found -1"):
        PermuRank(n_random=-1).fit(train)
