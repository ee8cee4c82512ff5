import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn import linear_model

import pomona as pm
from pomona._jit import threads
from pomona.errors import InputError
from pomona.rankers.linear.logistic_regression import LogisticRegression, _Logistic, _Rows, _Softmax
from pomona.rankers.loading import load_model

KINDS = ("binary", "ordinal", "multinomial")


@pytest.fixture(scope="module")
def train():
    return pm.simulate(60, docs_per_query=15, n_features=6, seed=1)


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3)).astype(np.float32) * [1, 5, 0.1]
    return _Rows.of(X.astype(np.float32), random.random(40), 0.7)


def losses(rows):
    random = np.random.default_rng(1)
    return [
        (_Logistic(random.random(40) < 0.3, rows.weights), 1),
        (_Softmax(random.integers(0, 3, 40).astype(np.int32), rows.weights), 3),
    ]


def test_derivatives_are_finite_differences(rows):
    for loss, n_outputs in losses(rows):
        point = np.random.default_rng(2).normal(size=(n_outputs, 4))

        def value(flat, loss=loss, shape=point.shape):
            there = flat.reshape(shape)
            return loss.value(rows.outputs(there)) + rows.penalty(there)

        def slope(flat, loss=loss, shape=point.shape):
            there = flat.reshape(shape)
            return rows.gradient(loss, rows.outputs(there), there).ravel()

        np.testing.assert_allclose(slope(point.ravel()), approx_fprime(point.ravel(), value, 1e-6), atol=1e-5)
        hessian = rows.hessian(loss, rows.outputs(point))
        np.testing.assert_allclose(hessian, approx_fprime(point.ravel(), slope, 1e-6), atol=1e-5)


def test_the_optimum_is_that_of_a_generic_solver(rows):
    for loss, n_outputs in losses(rows):

        def value(flat, loss=loss, n_outputs=n_outputs):
            there = flat.reshape(n_outputs, 4)
            return loss.value(rows.outputs(there)) + rows.penalty(there)

        theirs = minimize(value, np.zeros(n_outputs * 4), method="BFGS", options={"gtol": 1e-8})
        coef, intercept = LogisticRegression()._minimize(rows, loss, np.zeros(n_outputs))
        ours = np.column_stack([intercept + (coef * rows.center).sum(axis=1), coef])
        assert value(ours.ravel()) <= theirs.fun + 1e-12
        # Of a softmax only differences of intercepts are determined.
        np.testing.assert_allclose(coef, theirs.x.reshape(n_outputs, 4)[:, 1:], atol=1e-4)


def test_is_scikit_learn_s(train):
    weights = np.random.default_rng(0).integers(0, 3, train.n_docs).astype(float)
    for kind, target in (("binary", train.y > 0), ("multinomial", train.y)):
        for normalize in (None, "minmax"):
            fitted = LogisticRegression(kind=kind, normalize=normalize, l2=2.0)
            fitted.fit(train, sample_weight=weights)
            theirs = linear_model.LogisticRegression(C=1 / 2.0, solver="newton-cholesky", tol=1e-10)
            X = fitted.prepared(train).X
            theirs.fit(X.astype(float), target, sample_weight=weights)
            np.testing.assert_allclose(fitted.output_coef_, theirs.coef_, rtol=1e-4, atol=1e-6)


def test_residuals_sum_to_zero(train):
    fitted = LogisticRegression(kind="binary").fit(train)
    chances = 1 / (1 + np.exp(-fitted.predict(train)))
    assert chances.sum() == pytest.approx((train.y > 0).sum(), rel=1e-8)


def test_two_grades_rank_alike_whatever_the_kind(train):
    binary = train.replace(y=(train.y > 1).astype(np.float32))
    orders = [
        np.argsort(LogisticRegression(kind=kind, l2=0.0).fit(binary).predict(binary), kind="stable")
        for kind in KINDS
    ]
    assert (orders[0] == orders[1]).all()
    assert (orders[0] == orders[2]).all()


def test_scores_of_several_grades_are_expected_values(train):
    for kind in ("ordinal", "multinomial"):
        for target, highest in (("label", 4), ("gain", 15)):
            scores = LogisticRegression(kind=kind, target=target).fit(train).predict(train)
            assert 0 <= scores.min() < scores.max() <= highest
            values = train.y if target == "label" else 2.0**train.y - 1
            assert scores.mean() == pytest.approx(values.mean(), rel=1e-6)  # as intercepts are not shrunk


def test_coefficients_tell_how_the_score_grows(train):
    for kind in KINDS:
        fitted = LogisticRegression(kind=kind, normalize=None).fit(train)
        fitted.output_intercept_ = np.zeros_like(fitted.output_intercept_)
        step = 1e-3
        rises = (
            fitted.predict_rows(np.eye(6, dtype=np.float32) * step)
            - fitted.predict_rows(np.zeros((1, 6), "f"))
        ) / step
        np.testing.assert_allclose(fitted.coef_, rises, rtol=0.02, atol=1e-5)


def test_equal_queries_weigh_documents_by_their_number(train):
    sizes = np.diff(train.query_ptr)
    weights = np.repeat(1 / sizes, sizes)
    one = LogisticRegression(equal_queries=True).fit(train)
    other = LogisticRegression().fit(train, sample_weight=weights)
    assert (one.output_coef_ == other.output_coef_).all()


def test_data_told_apart_without_error_give_finite_weights():
    X = np.arange(20.0)[:, None]
    data = pm.Dataset(X, X[:, 0] >= 10, np.zeros(20))
    for l2 in (0.0, 1.0):
        fitted = LogisticRegression(l2=l2).fit(data)
        assert np.isfinite(fitted.coef_).all()
        assert pm.evaluate(data, fitted.predict(data), "ap")["ap"] == 1
    with pytest.warns(UserWarning, match="not converged after 2 iterations"):
        LogisticRegression(l2=0.0, max_iterations=2).fit(data)


def test_all_kinds_are_saved(train, tmp_path):
    for kind in KINDS:
        fitted = LogisticRegression(kind=kind, target="gain").fit(train)
        fitted.save(tmp_path / "m")
        assert (load_model(tmp_path / "m").predict(train) == fitted.predict(train)).all()


def test_same_bits_for_any_number_of_threads():
    data = pm.simulate(200, docs_per_query=20, n_features=6, seed=3)
    for kind in ("ordinal", "multinomial"):
        fits = []
        for count in (1, 3):
            with threads(count):
                fits.append(LogisticRegression(kind=kind).fit(data).output_coef_)
        assert (fits[0] == fits[1]).all()


def test_refusals(train):
    for wrong in ({"kind": "x"}, {"target": "x"}):
        with pytest.raises(pm.PomonaError, match="unknown"):
            LogisticRegression(**wrong).fit(train)
    with pytest.raises(InputError, match="l2 must be a number of at least 0"):
        LogisticRegression(l2=-1.0).fit(train)
    with pytest.raises(InputError, match="no label is above the threshold 9"):
        LogisticRegression(kind="binary", threshold=9).fit(train)
    with pytest.raises(InputError, match="all labels are above the threshold -1"):
        LogisticRegression(kind="binary", threshold=-1).fit(train)
    with pytest.raises(InputError, match="same label"):
        LogisticRegression().fit(train.replace(y=np.zeros_like(train.y)))
    many = train.replace(y=np.arange(train.n_docs, dtype=np.float32))
    with pytest.raises(InputError, match="different labels, no grades"):
        LogisticRegression().fit(many)
    assert np.isfinite(LogisticRegression(kind="binary", threshold=50).fit(many).coef_).all()
