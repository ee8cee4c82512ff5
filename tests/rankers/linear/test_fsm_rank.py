from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize as generic

import pomona as pm
from pomona.data.normalize import normalize
from pomona.errors import InputError, PomonaError
from pomona.rankers.linear.fsm_rank import FSMRank, PenalizedHinge, dominance, minimize, signed, similarity
from pomona.rankers.linear.sums.pair_hinge import SquaredPairHinge
from reference import pair_hinge as slow


@pytest.fixture(scope="module")
def data():
    return normalize(pm.simulate(15, docs_per_query=8, n_features=8, seed=1))


def problem_of(data, **lambdas):
    ones = np.ones(data.n_queries)
    own = dominance(data.X, data.y, data.query_ptr, ones)
    return PenalizedHinge(
        SquaredPairHinge(data.y, data.query_ptr),
        data.X,
        similarity(data.X, data.query_ptr, ones),
        np.concatenate((own, -own)),
        **lambdas,
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=12))
def test_dominance_counts_pairs_and_half_of_ties(documents):
    labels, values = (np.array(column, np.float32) for column in zip(*documents, strict=True))
    found = slow.pairs(labels, [0, len(labels)])
    if found:
        right = np.mean([(values[i] > values[j]) + 0.5 * (values[i] == values[j]) for i, j, _ in found])
        computed = dominance(values[:, None], labels, np.array([0, len(labels)]), np.ones(1))
        assert computed == pytest.approx([2 * right - 1], abs=1e-12)


def test_dominance_is_a_mean_over_queries():
    X = np.array([[1], [0], [0], [1], [5]], np.float32)
    labels, query_ptr = np.array([1, 0, 1, 0, 1], np.float32), np.array([0, 2, 4, 5])
    assert dominance(X, labels, query_ptr, np.array([3.0, 1.0, 9.0])) == pytest.approx([(3 - 1) / 4])


def test_similarity_is_positive_definite(data):
    found = similarity(data.X, data.query_ptr, np.ones(data.n_queries))
    assert np.linalg.eigvalsh(found).min() >= 1e-3 - 1e-12
    centered = np.vstack(
        [part - part.mean(0) for part in np.split(data.X.astype(float), data.query_ptr[1:-1])]
    )
    products = centered.T @ centered
    deviation = np.sqrt(np.diag(products))
    # The least eigenvalues are raised, so entries move a little.
    assert found == pytest.approx(np.abs(products / np.outer(deviation, deviation)), abs=0.01)


def test_gradient_is_a_finite_difference(data):
    problem = problem_of(data, lambda1=0.3, lambda2=0.2)
    v = np.random.default_rng(0).random(16)
    _, gradient = problem.gradient(v)
    for j in range(16):
        step = np.zeros(16)
        step[j] = 1e-5
        difference = (problem.value(v + step) - problem.value(v - step)) / 2e-5
        assert gradient[j] == pytest.approx(difference, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("lambda1", "lambda2"), [(0.0, 0.0), (0.01, 0.0), (0.1, 0.05), (1.0, 1.0)])
def test_the_optimum_is_that_of_a_generic_solver(data, lambda1, lambda2):
    problem = problem_of(data, lambda1=lambda1, lambda2=lambda2)
    found = minimize(problem, np.zeros(16), 1e-13, 20_000)
    expected = generic(
        problem.gradient,
        np.zeros(16),
        jac=True,
        bounds=[(0, None)] * 16,
        method="L-BFGS-B",
        options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10},
    )
    assert (found >= 0).all()
    assert problem.value(found) == pytest.approx(expected.fun, abs=1e-7)


def test_without_lambdas_it_is_the_squared_pair_hinge(data):
    problem = problem_of(data)
    v = np.random.default_rng(1).random(16)
    scores = data.X.astype(float) @ signed(v)
    assert problem.value(v) == pytest.approx(slow.hinge(data.y, data.query_ptr, scores)[0])


def test_copies_of_a_feature_share_its_weight(data):
    doubled = data.replace(X=np.hstack((data.X, data.X[:, :1])), feature_names=None)
    coef = FSMRank(lambda1=0.01, lambda2=0.01, tolerance=1e-9).fit(doubled).coef_
    assert coef[0] == pytest.approx(coef[8], rel=1e-6)
    assert coef[0] != 0


def test_more_competition_selects_fewer_features():
    data = pm.simulate(40, docs_per_query=10, n_features=30, seed=3)
    selected = [
        np.count_nonzero(FSMRank(lambda1=lambda1, lambda2=0.0).fit(data).coef_) for lambda1 in (1e-4, 1.0)
    ]
    assert selected[1] < selected[0] <= 30
    assert selected[1] < 20


def test_importance_draws_weight_to_what_orders_alone(data):
    problem = problem_of(data, lambda1=0.1)
    plain = minimize(problem, np.zeros(16), 1e-9, 5000)
    drawn = minimize(replace(problem, lambda2=0.1), np.zeros(16), 1e-9, 5000)
    assert problem.importance @ drawn > problem.importance @ plain


def test_the_validation_queries_choose_the_lambdas(data):
    valid = pm.simulate(15, docs_per_query=8, n_features=8, seed=2)
    ranker = FSMRank().fit(data, valid=valid)
    assert ranker.score(valid) == pytest.approx(max(ranker.evals_["valid"]))
    assert len(ranker.evals_["valid"]) == 5
    assert {ranker.lambda1_, ranker.lambda2_} <= {10.0, 1.0, 0.1, 0.01, 0.001}


def test_importance_by_the_measure(data):
    ranker = FSMRank(importance="measure", lambda1=0.1, lambda2=0.1).fit(data)
    assert ranker.score(data) > 0.5
    assert not np.allclose(ranker.coef_, FSMRank(lambda1=0.1, lambda2=0.1).fit(data).coef_)


def test_odd_data():
    with pytest.raises(InputError, match="two documents of different labels"):
        FSMRank().fit([[1.0], [2.0]], [1, 1], qid=[1, 1])
    flat = pm.Dataset(np.ones((3, 2)), [0, 1, 2], [1, 1, 1])
    with pytest.warns(UserWarning, match="score alike"):
        assert FSMRank().fit(flat).predict(flat).tolist() == [0, 0, 0]
    easy = pm.Dataset([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], [0, 1, 2], [1, 1, 1])
    ranker = FSMRank(lambda1=0.0, lambda2=0.0, normalize=None).fit(easy)
    assert ranker.score(easy) == 1
    assert ranker.coef_[1] == 0
    # A feature that varies only where nothing counts must not be divided by.
    X, weights = np.array([[0, 0], [1, 0], [0, 0], [0, 1]], np.float32), [1.0, 1.0, 0.0, 0.0]
    scores = FSMRank().fit(X, [0, 1, 0, 1], qid=[1, 1, 2, 2], sample_weight=weights)
    assert np.isfinite(scores.coef_).all()


def test_refusals(data):
    for wrong, message in (
        ({"lambda1": -1.0}, "lambda1 must be a number of at least 0"),
        ({"lambda2": float("inf")}, "lambda2 must be a number of at least 0"),
        ({"lambda1": 0.0}, "with lambda1=0 nothing bounds"),
        ({"tolerance": 0.0}, "tolerance must be a number above 0"),
    ):
        with pytest.raises(InputError, match=message):
            FSMRank(**wrong).fit(data)
    with pytest.raises(PomonaError, match="did you mean 'measure'"):
        FSMRank(importance="measures").fit(data)
