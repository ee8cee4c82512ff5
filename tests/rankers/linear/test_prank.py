import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.linear.prank import PRank, _pass_over, _visits
from reference import prank as reference


def passed(X, ranks, order=None):
    """The weights and thresholds, last and averaged, after one pass in unit steps."""
    X, ranks = np.asarray(X, np.float32), np.asarray(ranks, np.int64)
    X.flags.writeable = False
    coef, thresholds = np.zeros(X.shape[1]), np.zeros(ranks.max())
    late = np.zeros_like(coef), np.zeros_like(thresholds)
    order = np.arange(len(X)) if order is None else order
    n = _pass_over(order, X, ranks, 1.0, 0, coef, thresholds, *late)
    return coef, thresholds, coef - late[0] / n, thresholds - late[1] / n


def test_the_trace_of_the_paper_s_rules():
    X, ranks = [(1, 0), (0, 1), (1, 1)], [2, 0, 1]  # ranks 3, 1, 2
    for n, coef, thresholds in ((1, (0, 0), (0, 0)), (2, (0, -2), (1, 1)), (3, (1, -1), (0, 1))):
        order = np.arange(n)
        assert passed(X, ranks, order)[0] == pytest.approx(coef)
        assert passed(X, ranks, order)[1] == pytest.approx(thresholds)


streams = st.integers(0, 10_000).map(
    lambda seed: (
        np.random.default_rng(seed).integers(-3, 4, (30, 2)),
        np.append(np.random.default_rng(seed + 1).integers(0, 4, 29), 3),
    )
)


@given(streams)
def test_equals_the_plain_twin(stream):
    X, ranks = stream
    states = reference.prank([(x, rank + 1) for x, rank in zip(X, ranks, strict=True)], 4, 2)
    coef, thresholds, mean_coef, mean_thresholds = passed(X, ranks)
    assert coef == pytest.approx(states[-1][0])
    assert thresholds == pytest.approx(states[-1][1])
    assert mean_coef == pytest.approx(reference.mean(states)[0])
    assert mean_thresholds == pytest.approx(reference.mean(states)[1])
    assert (np.diff(thresholds) >= 0).all()


def test_the_loss_on_separable_data_is_bounded():
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 3)).astype(np.float32)
    score = X @ np.array([2.0, -1.0, 0.5]) / np.sqrt(5.25)
    bounds = np.array([-0.5, 0.7])
    margin = 0.1
    X, score = (part[(np.abs(score[:, None] - bounds) > margin).all(axis=1)] for part in (X, score))
    ranks = (score[:, None] > bounds).sum(axis=1)
    states = [([0.0] * 3, [0.0] * 2), *reference.prank(zip(X.tolist(), ranks + 1, strict=True), 3, 3)]
    predicted = [
        sum(np.dot(weights, x) >= b for b in thresholds)
        for x, (weights, thresholds) in zip(X, states, strict=False)
    ]
    length = np.sqrt(1 + (bounds**2).sum())  # of (w, b), whose margin is that much smaller
    radius = (X**2).sum(axis=1).max()
    assert 0 < np.abs(predicted - ranks).sum() <= 2 * (radius + 1) * (length / margin) ** 2


@pytest.fixture(scope="module")
def train():
    return pm.simulate(60, docs_per_query=15, n_features=6, seed=1)


def test_a_radius_is_a_scale_of_the_features(train, monkeypatch):
    # Documents of other features would be visited in another order.
    monkeypatch.setattr("pomona.rankers.base.in_content_order", lambda data, weights: data)
    X = PRank().prepared(train).X
    length = np.sqrt((X.astype(float) ** 2).sum(axis=1).mean())
    scaled = train.replace(X=X * np.float32(0.25))
    by_radius = PRank(normalize=None, radius=length * 0.25).fit(train.replace(X=X))
    by_hand = PRank(normalize=None, radius=None).fit(scaled)
    np.testing.assert_allclose(by_radius.coef_, by_hand.coef_ * 0.25, rtol=1e-5)
    np.testing.assert_allclose(by_radius.thresholds_, by_hand.thresholds_, rtol=1e-5)


def test_averaging_and_the_last_weights_differ(train):
    averaged, last = PRank().fit(train), PRank(averaged=False).fit(train)
    assert (averaged.coef_ != last.coef_).any()
    assert (last.thresholds_ == np.round(last.thresholds_)).all()
    assert (np.diff(averaged.thresholds_) >= 0).all()
    assert averaged.levels_.tolist() == [0, 1, 2, 3, 4]


def test_a_validation_set_chooses_the_pass(train):
    valid = pm.simulate(30, docs_per_query=15, n_features=6, seed=2)
    kept = PRank(n_epochs=8).fit(train, valid=valid)
    values = [PRank(n_epochs=n).fit(train).score(valid) for n in range(1, 9)]
    assert kept.best_iteration_ == 1 + int(np.argmax(values))
    assert kept.score(valid) == max(values)
    assert PRank(n_epochs=8).fit(train).best_iteration_ == 8


def test_visits_follow_the_weights():
    rng = np.random.default_rng(0)
    assert _visits(np.full(7, 0.3), rng).tolist() == list(range(7))
    weights = np.array([0.0, 1.0, 2.5, 0.5])
    visits = np.concatenate([_visits(weights, rng) for _ in range(2000)])
    assert len(visits) == 4 * 2000
    np.testing.assert_allclose(np.bincount(visits) / 2000, weights, atol=0.05)
    counts = np.bincount(_visits(weights, rng), minlength=4)
    assert (np.abs(counts - weights) < 1).all()


@pytest.mark.filterwarnings("ignore:no feature was given a weight")
def test_features_that_are_all_zero_teach_nothing(train):
    assert PRank().fit(train.replace(X=np.zeros_like(train.X))).coef_.tolist() == [0] * 6


def test_refusals(train):
    with pytest.raises(InputError, match="n_epochs must be an integer of at least 1"):
        PRank(n_epochs=0).fit(train)
    with pytest.raises(InputError, match="radius must be a number above 0"):
        PRank(radius=0).fit(train)
    with pytest.raises(InputError, match="same label"):
        PRank().fit(train.replace(y=np.zeros_like(train.y)))
    with pytest.raises(InputError, match="different labels"):
        PRank().fit(train.replace(y=np.arange(train.n_docs, dtype=np.float32)))


@pytest.mark.parametrize("radius", [5e-324, 1e308])
def test_a_radius_beyond_floats_is_refused(radius):
    with pytest.raises(InputError, match="too large or too small to compute with"):
        PRank(radius=radius).fit(pm.simulate(5, docs_per_query=5, n_features=2, seed=0))
