import numpy as np
import pytest
from scipy.optimize import minimize

import pomona as pm
from pomona.data.normalize import normalize
from pomona.errors import InputError
from pomona.rankers.linear.fenchel_rank import FenchelRank, descend
from pomona.rankers.linear.sums.pair_hinge import SquaredPairHinge
from reference import pair_hinge as slow


@pytest.fixture(scope="module")
def data():
    return normalize(pm.simulate(12, docs_per_query=8, n_features=15, seed=1))


def optimum(data, radius, *, tolerance=1e-9, max_iterations=100):
    hinge = SquaredPairHinge(data.y, data.query_ptr)
    start = np.zeros(data.n_features)
    return descend(hinge, data.X, start, radius, tolerance=tolerance, max_iterations=max_iterations)


def by_scipy(data, radius):
    """The same problem with weights split into positive and negative parts, by a generic solver."""
    K = slow.differences(data.X, data.y, data.query_ptr)
    n = data.n_features

    def loss(v):
        lack = np.maximum(0, 1 - K @ (v[:n] - v[n:]))
        pull = -2 * K.T @ lack / len(K)
        return np.mean(lack**2), np.concatenate((pull, -pull))

    inside = {"type": "ineq", "fun": lambda v: radius - v.sum(), "jac": lambda v: -np.ones(2 * n)}
    return minimize(
        loss,
        np.zeros(2 * n),
        jac=True,
        bounds=[(0, None)] * (2 * n),
        constraints=[inside],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    ).fun


@pytest.mark.parametrize("radius", [0.1, 1.0, 5.0, 40.0])
def test_the_optimum_is_that_of_a_generic_solver(data, radius):
    found = optimum(data, radius)
    assert found.loss == pytest.approx(by_scipy(data, radius), abs=1e-8)
    assert -1e-12 <= found.gap <= 1e-9
    assert np.abs(found.coef).sum() <= radius * (1 + 1e-12)


@pytest.mark.parametrize("radius", [0.5, 2.0])
def test_the_published_steps_lead_to_the_same_optimum(data, radius):
    K = slow.differences(data.X, data.y, data.query_ptr)
    weights, values, gap = slow.fenchel_rank(K, radius, 1e-3, 3000)
    found = optimum(data, radius)
    assert (np.diff(values) <= 1e-12).all()
    assert gap < 0.003
    assert found.loss - 1e-9 <= values[-1] <= found.loss + gap
    assert np.abs(weights).sum() <= radius * (1 + 1e-12)


def test_the_loss_falls_and_the_gap_bounds_what_is_left(data):
    best = optimum(data, 20.0).loss
    steps = [optimum(data, 20.0, max_iterations=n) for n in range(6)]
    losses = [step.loss for step in steps]
    assert (np.diff(losses) <= 1e-12).all()
    assert losses[0] == 1.0  # at w = 0 every pair lacks the whole margin
    assert losses[-1] < losses[0] - 0.1
    for step in steps:
        assert -1e-12 <= step.loss - best <= step.gap + 1e-12


def test_a_smaller_ball_holds_fewer_features(data):
    used = [np.count_nonzero(optimum(data, radius).coef) for radius in (0.05, 1.0, 100.0)]
    assert used[0] == 1
    assert used[0] < used[1] < used[2]


def test_the_first_feature_may_count_against_a_document():
    data = pm.Dataset([[3.0, 0.0], [2.0, 1.0], [0.0, 0.0]], [0, 1, 2], [1, 1, 1])
    ranker = FenchelRank(l1=1.0).fit(data)
    assert ranker.coef_[0] < 0
    assert ranker.score(data) == 1


def test_the_validation_queries_choose_the_radius(data):
    valid = pm.simulate(12, docs_per_query=8, n_features=15, seed=2)
    ranker = FenchelRank().fit(data, valid=valid)
    assert ranker.score(valid) == pytest.approx(max(ranker.evals_["valid"]))
    assert ranker.l1_ == 2.0 ** (-5 + int(np.argmax(ranker.evals_["valid"])))
    assert ranker.gap_ <= 1e-4
    again = FenchelRank(l1=ranker.l1_, tolerance=1e-9).fit(data)
    assert np.abs(again.coef_).sum() == pytest.approx(np.abs(ranker.coef_).sum(), rel=1e-3)


def test_the_path_ends_where_the_radius_no_longer_binds():
    data = pm.Dataset([[0.0], [1.0], [0.4], [0.5]], [0, 1, 1, 0], [1, 1, 2, 2])
    ranker = FenchelRank(normalize=None).fit(data, valid=data)
    # mean of (1 − w)² and (1 + w/10)² is least at w = (1 − 1/10) / (1 + 1/100)
    assert len(ranker.evals_["valid"]) == 6  # radii 1/32 … 1; at 1 the optimum lies inside
    best = FenchelRank(normalize=None, l1=8.0, tolerance=1e-12).fit(data).coef_[0]
    assert best == pytest.approx(0.9 / 1.01, abs=1e-6)


def test_a_negligible_weight_teaches_nothing(data):
    weights = np.where(np.repeat(np.arange(12) < 6, np.diff(data.query_ptr)), 1.0, 0.0)
    weighted = FenchelRank(l1=3.0, tolerance=1e-9).fit(data, sample_weight=weights)
    half = FenchelRank(l1=3.0, tolerance=1e-9).fit(data.take(np.arange(6)))
    assert weighted.predict(data) == pytest.approx(half.predict(data), abs=1e-3)


def test_separable_data(data):
    easy = data.replace(X=np.column_stack((data.y, data.X)).astype(np.float32))
    ranker = FenchelRank(l1=1000.0, normalize=None).fit(easy)
    assert ranker.score(easy) == pytest.approx(pm.evaluate(easy, easy.y, "ndcg@10")["ndcg@10"])
    assert ranker.gap_ <= 1e-4


def test_nothing_to_learn():
    with pytest.raises(InputError, match="two documents of different labels"):
        FenchelRank().fit([[1.0], [2.0]], [1, 1], qid=[1, 1])
    data = pm.Dataset(np.ones((3, 2)), [0, 1, 2], [1, 1, 1])
    with pytest.warns(UserWarning, match="score alike"):
        assert FenchelRank().fit(data, valid=data).predict(data).tolist() == [0, 0, 0]


def test_refusals(data):
    for wrong in ({"l1": 0.0}, {"l1": float("nan")}, {"tolerance": 0.0}, {"max_iterations": 0}):
        least = "an integer of at least 1" if "max_iterations" in wrong else "a number above 0"
        with pytest.raises(InputError, match=f"{next(iter(wrong))} must be {least}"):
            FenchelRank(**wrong).fit(data)
