import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import LinearSVC

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.linear.rank_svm import PairLoss, RankSVM
from pomona.testing import check_ranker
from reference import margins


def random_data(seed, n_queries=6, n_features=4, n_grades=4):
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 12, n_queries)
    lengths[0] = 9
    n = lengths.sum()
    y = random.integers(0, n_grades, n) if n_grades else random.normal(size=n).round(1) + 5
    y[:9] = np.arange(9) % 3  # one query at least has pairs
    return pm.Dataset(random.random((n, n_features)), y, np.repeat(np.arange(n_queries), lengths))


def queries(data):
    for a, b in pairwise(data.query_ptr):
        yield data.X[a:b].astype(np.float64), data.y[a:b].tolist()


def differences(data):
    """x_i − x_j of every pair."""
    found = [X[i] - X[j] for X, y in queries(data) for i, j in margins.pairs(y)]
    return np.array(found)


def test_by_hand():
    data = pm.Dataset([[0.0], [1.0], [2.0]], [2, 1, 0], [1, 1, 1])
    loss = PairLoss(data)
    assert loss.n_pairs == 3
    value, gradient = loss.at(np.array([1.0]))  # margins of −1, −2 and −1
    assert value == 2**2 + 3**2 + 2**2
    assert gradient == [2 * (2 * 1 + 3 * 2 + 2 * 1)]
    assert loss.product(np.array([1.0])) == [2 * (1**2 + 2**2 + 1**2)]
    value, gradient = loss.at(np.array([-1.0]))  # margins of 1, 2 and 1: none is short
    assert value == 0
    assert gradient == [0]
    value, gradient = loss.at(np.array([-0.75]))  # 0.75, 1.5 and 0.75
    assert value == pytest.approx(2 * 0.25**2)
    assert gradient == pytest.approx([2 * 2 * 0.25])
    assert loss.product(np.array([1.0])) == pytest.approx([2 * 2])


@given(
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([0.1, 1.0, 10.0]),
    n_grades=st.sampled_from([2, 3, 5, 0]),
    weighted=st.booleans(),
)
def test_loss_gradient_and_hessian_are_those_of_the_listed_pairs(seed, scale, n_grades, weighted):
    data = random_data(seed, n_grades=n_grades)
    random = np.random.default_rng(seed + 1)
    w, v = scale * random.normal(size=4), random.normal(size=4)
    weights = random.random(data.n_queries) if weighted else np.ones(data.n_queries)
    value, gradient, product, n_pairs = 0.0, np.zeros(4), np.zeros(4), 0.0
    for weight, (X, y) in zip(weights, queries(data), strict=True):
        loss, slope = margins.pair_loss((X @ w).tolist(), y)
        value += weight * loss
        gradient += weight * X.T @ slope
        product += weight * X.T @ margins.pair_curvature((X @ w).tolist(), y) @ X @ v
        n_pairs += weight * len(margins.pairs(y))
    ours = PairLoss(data, np.repeat(weights, np.diff(data.query_ptr)) if weighted else None)
    found, slope = ours.at(w)
    assert ours.n_pairs == pytest.approx(n_pairs)
    assert found == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert slope == pytest.approx(gradient, rel=1e-11, abs=1e-11)
    assert ours.product(v) == pytest.approx(product, rel=1e-11, abs=1e-11)


@given(seed=st.integers(0, 10**6))
def test_gradient_is_the_finite_difference(seed):
    loss = PairLoss(random_data(seed))
    w = np.random.default_rng(seed).normal(size=4)
    _, gradient = loss.at(w)
    for j, step in enumerate(1e-5 * np.eye(4)):
        numeric = (loss.at(w + step)[0] - loss.at(w - step)[0]) / 2e-5
        assert gradient[j] == pytest.approx(numeric, rel=1e-6, abs=1e-4)


@pytest.mark.parametrize("C", [1e-4, 0.01, 1.0, 100.0])
def test_the_optimum_is_scipys_and_scikit_learns(C):
    data = random_data(7, n_queries=12)
    deltas = differences(data)

    def objective(w):
        short = np.maximum(1 - deltas @ w, 0)
        return 0.5 * w @ w + C * short @ short, w - 2 * C * deltas.T @ short

    scipys = minimize(objective, np.zeros(4), jac=True, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-9})
    ours = RankSVM(C=C, normalize=None, tolerance=1e-7).fit(data).coef_
    assert objective(ours)[0] == pytest.approx(scipys.fun, rel=1e-9)
    assert ours == pytest.approx(scipys.x, rel=1e-4, abs=1e-6)
    sign = np.where(np.arange(len(deltas)) % 2, 1, -1)
    svc = LinearSVC(loss="squared_hinge", dual=False, fit_intercept=False, C=C, tol=1e-9, max_iter=10_000)
    svc.fit(deltas * sign[:, None], sign)
    assert ours == pytest.approx(svc.coef_[0], rel=1e-4, abs=1e-6)


def dual_optimum(products, C):
    """The hinge's dual, max Σ α − ½ αᵀ K α with 0 ≤ α ≤ C, and its α, by SciPy."""

    def negative(alpha):
        return 0.5 * alpha @ products @ alpha - alpha.sum(), products @ alpha - 1

    bounds = [(0.0, C)] * len(products)
    start = np.full(len(products), C / 2)
    options = {"ftol": 0, "gtol": 1e-10, "maxiter": 100_000, "maxfun": 10**6}
    found = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return -found.fun, found.x


@pytest.mark.parametrize("C", [1e-4, 0.01, 1.0, 10.0])
def test_the_hinge_meets_its_dual(C):
    data = random_data(7, n_queries=12)
    deltas = differences(data)
    ranker = RankSVM(C=C, loss="hinge", normalize=None, tolerance=1e-9).fit(data)
    w = ranker.coef_
    value = 0.5 * w @ w + C * np.maximum(1 - deltas @ w, 0).sum()
    bound, _ = dual_optimum(deltas @ deltas.T, C)
    assert ranker.converged_
    assert value == pytest.approx(bound, rel=1e-6)
    assert value >= bound * (1 - 1e-12)


@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.1, 1.0, 10.0]), weighted=st.booleans())
def test_the_tangent_of_the_hinge_touches_it_and_lies_below(seed, scale, weighted):
    data = random_data(seed)
    random = np.random.default_rng(seed + 1)
    weights = np.repeat(random.random(data.n_queries), np.diff(data.query_ptr)) if weighted else None
    loss = PairLoss(data, weights)

    def hinge(w):
        given = np.ones(data.n_queries) if weights is None else weights[data.query_ptr[:-1]]
        short = [
            weight * max(0.0, 1 - (X[i] - X[j]) @ w)
            for weight, (X, y) in zip(given, queries(data), strict=True)
            for i, j in margins.pairs(y)
        ]
        return sum(short) / loss.n_pairs

    w = scale * random.normal(size=4)
    slope, offset = loss.tangent(w)
    assert offset - slope @ w == pytest.approx(hinge(w), rel=1e-10, abs=1e-10)
    for other in scale * random.normal(size=(5, 4)):
        assert offset - slope @ other <= hinge(other) + 1e-9


@pytest.mark.parametrize(("kernel", "degree"), [("rbf", 3), ("poly", 2)])
def test_with_all_documents_as_landmarks_a_kernel_is_exact(kernel, degree):
    data, gamma, C = random_data(3, n_queries=5), 0.7, 0.5
    options = {"kernel": kernel, "gamma": gamma, "degree": degree, "n_components": 10**6}
    ranker = RankSVM(C=C, loss="hinge", normalize=None, tolerance=1e-9, **options).fit(data)
    exact = pairwise_kernels(
        data.X.astype(float), metric=kernel, gamma=gamma, **({"degree": degree} if kernel == "poly" else {})
    )
    sides = [
        (a + i, a + j) for a, b in pairwise(data.query_ptr) for i, j in margins.pairs(data.y[a:b].tolist())
    ]
    signs = np.zeros((len(sides), data.n_docs))
    for row, (i, j) in zip(signs, sides, strict=True):
        row[i], row[j] = 1, -1
    _, alpha = dual_optimum(signs @ exact @ signs.T, C)
    expected = exact @ signs.T @ alpha
    found = ranker.predict(data)
    assert found - found[0] == pytest.approx(expected - expected[0], abs=2e-3 * np.ptp(expected))


def test_a_kernel_learns_what_no_line_can():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (600, 2))
    y = (np.abs(X).max(axis=1) < 0.5).astype(int) + (np.abs(X).max(axis=1) < 0.25)
    data = pm.Dataset(X, y, np.repeat(np.arange(30), 20))
    line, curve = (RankSVM(kernel=kernel, C=1.0, normalize=None).fit(data) for kernel in ("linear", "rbf"))
    assert curve.score(data) > 0.95 > 0.7 > line.score(data)


def test_the_weights_of_a_kernel_are_its_mean_slopes():
    data = random_data(4, n_queries=20)
    for kernel in ("rbf", "poly"):
        ranker = RankSVM(kernel=kernel, normalize=None, n_components=15).fit(data)
        marks = ranker.landmarks_.astype(np.float64)
        for j, step in enumerate(1e-3 * np.eye(4)):
            up, down = (ranker.predict_rows((marks + sign * step).astype(np.float32)) for sign in (1, -1))
            assert ranker.coef_[j] == pytest.approx(np.mean(up - down) / 2e-3, rel=2e-3, abs=1e-4)


def test_landmarks_are_drawn_by_the_seed_and_no_more_than_asked_for():
    data = random_data(5, n_queries=20)
    drawn = [RankSVM(kernel="rbf", n_components=10, seed=seed).fit(data).landmarks_ for seed in (0, 0, 1)]
    assert len(drawn[0]) == 10
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()


@pytest.mark.parametrize("options", [{"loss": "hinge"}, {"kernel": "rbf"}, {"kernel": "poly", "degree": 2}])
def test_every_variant_keeps_what_rankers_promise(options):
    check_ranker(RankSVM, n_components=30, **options)


def test_the_search_space_of_a_kernel_has_its_gamma():
    assert "gamma" not in RankSVM.space_for({})
    assert "gamma" in RankSVM.space_for({"kernel": "rbf"})


def test_the_start_does_not_matter():
    data = random_data(8, n_queries=20)
    ranker = RankSVM(normalize=None, tolerance=1e-7)
    warm = ranker.make_problem(data, None)
    for C in (100.0, 1e-5, 0.3):
        warm.solve(C)
    assert warm.coef == pytest.approx(ranker.set_params(C=0.3).fit(data).coef_, rel=1e-5, abs=1e-7)


def test_products_hold_where_they_are_asked_for():
    problem = RankSVM().make_problem(random_data(12), None)
    here, there, v = np.random.default_rng(0).normal(size=(3, 4))
    problem.value(there)
    expected = problem.product(there, v)
    problem.value(here)
    assert (problem.product(here, v) != expected).any()
    assert (problem.product(there, v) == expected).all()


def test_weights_vanish_with_c():
    data = random_data(9)
    sizes = [np.linalg.norm(RankSVM(C=C).fit(data).coef_) for C in (1.0, 1e-3, 1e-6, 1e-9)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 1e-6


def test_a_query_of_weight_two_counts_as_two():
    data = random_data(10)
    weights = np.repeat(np.where(np.arange(data.n_queries) < 2, 2.0, 1.0), np.diff(data.query_ptr))
    twice = pm.Dataset(
        np.concatenate([data.X, data.take([0, 1]).X]),
        np.concatenate([data.y, data.take([0, 1]).y]),
        np.concatenate([data.qid, data.take([0, 1]).qid + 100]),
    )
    ranker = RankSVM(C=0.5, tolerance=1e-7)
    expected = ranker.fit(twice).coef_.copy()
    assert ranker.fit(data, sample_weight=weights).coef_ == pytest.approx(expected, rel=1e-5)


def test_one_long_query_with_all_labels_different():
    random = np.random.default_rng(0)
    X = random.random((1500, 3))
    y = X @ [1.0, -2.0, 0.5] + 2
    ranker = RankSVM(normalize=None).fit(X, y, qid=np.zeros(1500, int))
    assert ranker.coef_ / ranker.coef_[0] == pytest.approx([1, -2, 0.5], rel=0.02)


@pytest.mark.parametrize("normalize", ["minmax", None])
def test_separable_data(normalize):
    y = np.tile([0, 1, 2], 5)
    data = pm.Dataset(y[:, None] * 0.01, y, np.repeat(np.arange(5), 3))
    for C in (1e-6, 1.0, 1e9):
        ranker = RankSVM(C=C, normalize=normalize).fit(data)
        assert ranker.score(data) == 1


@pytest.mark.filterwarnings("ignore:no feature was given a weight")
def test_features_that_tell_nothing():
    data = pm.Dataset(np.full((4, 2), 3.0), [0, 1, 2, 0], [1, 1, 1, 1])
    assert (RankSVM().fit(data, valid=data).coef_ == 0).all()


def test_no_pair_is_refused():
    with pytest.raises(InputError, match="no query that counts has two documents of different labels"):
        RankSVM().fit([[1.0], [2.0], [3.0]], [1, 1, 0], qid=[1, 1, 2])


def test_ctrl_c_keeps_the_last_newton_step(monkeypatch):
    data, calls = random_data(11, n_queries=30), []
    at = PairLoss.at

    def interrupted(self, w):
        calls.append(w)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return at(self, w)

    monkeypatch.setattr(PairLoss, "at", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        ranker = RankSVM(C=100.0).fit(data)
    assert ranker.coef_.any()


@pytest.mark.parametrize("C", [5e-324, 1e308])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_c_beyond_floats_is_refused_in_a_line(C, loss):
    data = pm.simulate(5, docs_per_query=5, n_features=2, seed=0)
    with pytest.raises(InputError, match=f"C = {re.escape(f'{C:g}')} is too (large|small) to compute with"):
        RankSVM(C=C, loss=loss).fit(data)
