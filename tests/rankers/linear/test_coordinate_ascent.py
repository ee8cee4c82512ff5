import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.rankers.linear.coordinate_ascent import CoordinateAscent
from pomona.rankers.loading import load_model


@pytest.fixture(scope="module")
def train():
    return pm.simulate(40, docs_per_query=12, n_features=6, seed=1)


@pytest.mark.parametrize("measure", ["ndcg@10", "ap", "err", "letor4:ndcg@5"])
def test_the_training_measure_never_falls(train, measure):
    fitted = CoordinateAscent(measure=measure, n_restarts=1, tolerance=0.0).fit(train)
    values = fitted.evals_["train"]
    assert len(values) > 1
    assert (np.diff(values) >= -1e-9).all()
    assert fitted.score(train) == pytest.approx(max(values), abs=0.01)  # ties in another order


def test_does_better_than_any_single_feature_and_equal_weights(train):
    fitted = CoordinateAscent(n_restarts=2).fit(train)
    assert fitted.score(train) > pm.BestFeature().fit(train).score(train)
    assert np.abs(fitted.coef_).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("sign", [1, -1])
def test_one_feature_gets_the_sign_of_the_better_direction(sign):
    data = pm.Dataset([[sign * v] for v in (3.0, 2.0, 1.0, 0.0)], [2, 0, 1, 0], [1, 1, 1, 1])
    assert CoordinateAscent(n_restarts=1).fit(data).coef_.tolist() == [float(sign)]


def test_a_users_own_measure(train):
    class TopLabel(Measure):
        def of_query(self, labels):
            return float(labels[0])

    fitted = CoordinateAscent(measure=TopLabel(), n_restarts=1, max_iterations=2).fit(train)
    assert fitted.evals_["train"][-1] > pm.evaluate(train, train.X.sum(axis=1), TopLabel()).judgements[0].mean


def test_validation_chooses_the_pass(train, tmp_path):
    valid = pm.simulate(30, docs_per_query=12, n_features=6, seed=2)
    fitted = CoordinateAscent(n_restarts=3).fit(train, valid=valid)
    assert fitted.score(valid) == pytest.approx(max(fitted.evals_["valid"]))
    fitted.save(tmp_path / "m.pomona")
    assert load_model(tmp_path / "m.pomona").evals_ == fitted.evals_


def test_queries_of_weight_zero_do_not_count(train):
    half = np.arange(train.n_queries) % 2 == 0
    spoilt = train.replace(y=np.where(np.repeat(half, np.diff(train.query_ptr)), train.y, 4 - train.y))
    weights = np.repeat(half, np.diff(train.query_ptr)).astype(float)
    ranker = CoordinateAscent(n_restarts=1)
    alone = ranker.fit(spoilt, sample_weight=weights).score(spoilt.take(half))
    assert alone > CoordinateAscent(n_restarts=1).fit(spoilt).score(spoilt.take(half))


def test_constant_features_leave_a_model_that_says_so(train):
    flat = train.replace(X=np.ones_like(train.X))
    with pytest.warns(UserWarning, match="all documents score alike"):
        fitted = CoordinateAscent().fit(flat)
    assert not fitted.predict(flat).any()


def test_refusals(train):
    with pytest.raises(InputError, match="nothing to learn"):
        CoordinateAscent().fit(train.replace(y=np.ones_like(train.y)))
    for name in ("n_restarts", "max_iterations"):
        with pytest.raises(InputError, match=f"{name} must be an integer of at least 1, found 0"):
            CoordinateAscent(**{name: 0}).fit(train)
