import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.linear.sums.feature_sums import weighted_sums
from pomona.rankers.linear.svm_map import APLoss, SVMMap
from reference import margins


def random_query(seed, n_relevant, n_others, n_features=3):
    random = np.random.default_rng(seed)
    y = random.permutation([1] * n_relevant + [0] * n_others)
    return pm.Dataset(random.random((len(y), n_features)), y, np.zeros(len(y), int))


def hinge(data, w):
    slope, offset = APLoss(data, 1.0).tangent(w)
    return offset - float(slope @ w)


def test_by_hand():
    data = pm.Dataset([[1.0], [0.0]], [1, 0], [1, 1])
    loss, pull = APLoss(data, 1.0).most_violated(np.array([0.1]))
    # Turned around, AP is 1/2 and Ψ(y) − Ψ(ŷ) = 2 (1 − 0): 1/2 − 2 · 0.1 is above 0.
    assert loss.tolist() == [0.5]
    assert pull.tolist() == [2.0, -2.0]
    loss, pull = APLoss(data, 1.0).most_violated(np.array([0.3]))  # 1/2 − 2 · 0.3 is not
    assert loss.tolist() == [0.0]
    assert pull.tolist() == [0.0, 0.0]
    # ½ w² + C (½ − 2 w) falls until the hinge is 0, at w = ¼, if only 2 C is at least that.
    assert SVMMap(C=10.0, tolerance=1e-9).fit(data).coef_ == pytest.approx([0.25])
    assert SVMMap(C=0.05, tolerance=1e-9).fit(data).coef_ == pytest.approx([2 * 0.05], rel=1e-3)


@given(
    seed=st.integers(0, 10**6),
    n_relevant=st.integers(1, 3),
    n_others=st.integers(1, 3),
    scale=st.sampled_from([0.0, 0.1, 1.0, 5.0]),
)
def test_the_most_violated_ranking_is_that_of_brute_force(seed, n_relevant, n_others, scale):
    data = random_query(seed, n_relevant, n_others)
    w = scale * np.random.default_rng(seed + 1).normal(size=3)
    relevant = data.y.astype(int).tolist()
    tried = margins.ap_constraints(data.X.astype(float).tolist(), relevant)
    worst = max(lost - margins.dot(w, delta) for lost, delta in tried)
    assert hinge(data, w) == pytest.approx(worst, rel=1e-6, abs=1e-6)  # features are float32


@given(seed=st.integers(0, 10**6), n_others=st.integers(1, 60), scale=st.sampled_from([0.1, 1.0, 10.0]))
def test_the_hinge_bounds_what_the_ranking_loses(seed, n_others, scale):
    data = random_query(seed, 1 + seed % 20, n_others)
    w = scale * np.random.default_rng(seed + 1).normal(size=3)
    value = pm.evaluate(data, weighted_sums(data.X, w), "ap")["ap"]
    assert hinge(data, w) >= 1 - value - 1e-9


@given(seed=st.integers(0, 10**6))
def test_tangents_lie_below_the_loss(seed):
    data = random_query(seed, 4, 9)
    random = np.random.default_rng(seed)
    v, w = random.normal(size=3), random.normal(size=3)
    slope, offset = APLoss(data, 1.0).tangent(v)
    assert hinge(data, w) >= offset - slope @ w - 1e-9


@pytest.mark.parametrize("C", [0.3, 5.0, 100.0])
def test_the_optimum_is_that_over_all_rankings(C):
    sizes = [(1, 2), (2, 2), (1, 3), (3, 1), (2, 1)]
    parts = [random_query(seed, p, m) for seed, (p, m) in enumerate(sizes)]
    data = pm.Dataset(
        np.concatenate([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.repeat(np.arange(5), [part.n_docs for part in parts]),
    )
    ranker = SVMMap(C=C, normalize=None, tolerance=1e-6)
    problem = ranker.make_problem(data, None)
    problem.solve(C)
    assert problem.converged
    assert problem.gap <= 1e-6
    # n-slack, with a constraint for every ranking of every query
    rows, offsets = [], []
    for q, part in enumerate(parts):
        for lost, delta in margins.ap_constraints(part.X.astype(float).tolist(), part.y.astype(int).tolist()):
            rows.append(np.append(delta, np.eye(5)[q]))
            offsets.append(lost)
    rows, offsets = np.array(rows), np.array(offsets)

    def value(w):
        short = offsets - rows[:, :3] @ w
        return 0.5 * w @ w + C / 5 * sum(short[rows[:, 3 + q] == 1].max() for q in range(5))

    found = minimize(
        lambda v: 0.5 * v[:3] @ v[:3] + C / 5 * v[3:].sum(),
        np.append(np.zeros(3), np.ones(5)),
        jac=lambda v: np.append(v[:3], np.full(5, C / 5)),
        constraints={"type": "ineq", "fun": lambda v: rows @ v - offsets, "jac": lambda v: rows},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert value(problem.coef) == pytest.approx(value(found.x[:3]), rel=1e-4)
    assert value(problem.coef) <= value(found.x[:3]) + 1e-6 * C + 1e-6


@pytest.mark.filterwarnings("ignore:no feature was given a weight")
def test_what_is_relevant_can_be_chosen():
    X = np.array([[2.0], [1.0], [0.0]] * 3)
    data = pm.Dataset(X, [1, 2, 0] * 3, np.repeat([1, 2, 3], 3))
    low = SVMMap(relevant=1).fit(data)
    assert low.coef_[0] > 0.1
    high = SVMMap(relevant=2).fit(data)
    assert abs(high.coef_[0]) < 0.1  # 2 stands between the others


def test_training_raises_average_precision():
    train = pm.simulate(80, docs_per_query=15, n_features=10, seed=1)
    flat = pm.evaluate(train, np.zeros(train.n_docs), "ap", ties="expected")["ap"]
    assert SVMMap().fit(train).score(train) > flat + 0.1


def test_queries_that_teach_nothing_do_not_count():
    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=3)
    more = pm.Dataset(
        np.concatenate([data.X, np.random.default_rng(0).random((6, 4))]),
        np.concatenate([data.y, [0, 0, 0, 1, 1, 1]]),
        np.concatenate([data.qid.astype(str), ["no", "no", "no", "all", "all", "all"]]),
    )
    assert SVMMap(C=5.0).fit(more).coef_ == pytest.approx(SVMMap(C=5.0).fit(data).coef_, rel=1e-9)


@pytest.mark.filterwarnings("ignore:no feature was given a weight")
def test_features_that_tell_nothing():
    data = pm.Dataset(np.full((4, 2), 3.0), [0, 1, 2, 0], [1, 1, 1, 1])
    for normalize in ("minmax", None):
        assert SVMMap(normalize=normalize).fit(data, valid=data).coef_ == pytest.approx(0, abs=1e-6)


def test_no_usable_query_is_refused():
    with pytest.raises(
        InputError, match="no query has documents with a label of at least 2 and others below"
    ):
        SVMMap(relevant=2).fit([[1.0], [2.0], [3.0]], [1, 0, 3], qid=[1, 1, 2])
