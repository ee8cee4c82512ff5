import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import pomona as pm
from pomona.data.content_order import in_content_order
from pomona.errors import InputError
from pomona.rankers.linear.rank_cosine import RankCosine, _find_steps, _Lists, _loss_after
from reference import rank_cosine as reference


def products(g, H, h):
    """What the kernels take, of one query."""
    g, H, h = (np.asarray(part, float) for part in (g, H, h))
    return [np.array([value]) for value in (1.0, g @ g, g @ H, H @ H, g @ h, h @ h, H @ h)]


def found(g, H, h):
    """The step along h and the loss after."""
    step, loss = np.empty(1), np.empty(1)
    *one, gh, hh, Hh = products(g, H, h)
    before = _loss_after(0.0, *one, gh, hh, Hh)
    _find_steps(0, 1, before, *one, gh[None], hh[None], Hh[None], step, loss)
    return step[0], loss[0], before


def test_the_inverted_query():
    assert _loss_after(1.0, *products([2, 1, 0], [0, 0, 0], [0, 1, 2])) == pytest.approx((1 - 1 / 5) / 2)


vectors = st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any)


@given(vectors, vectors, st.floats(0.01, 100))
def test_the_loss_is_bounded_and_has_no_scale(g, H, scale):
    loss = _loss_after(scale, *products(g, [0, 0, 0], H))
    assert 0 <= loss <= 1
    assert loss == pytest.approx(_loss_after(1.0, *products(g, [0, 0, 0], H)))
    assert _loss_after(-scale, *products(g, [0, 0, 0], H)) == pytest.approx(1 - loss)


def test_the_step_in_one_query_is_stationary():
    g, H, h = np.array([2.0, 1, 0, 1]), np.array([1.0, 1, 0, -0.5]), np.array([0.3, -0.4, 0.1, 0.2])
    step, loss, before = found(g, H, h)
    assert step == pytest.approx(
        ((g @ H) * (H @ h) - (g @ h) * (H @ H)) / ((g @ h) * (H @ h) - (g @ H) * (h @ h))
    )
    around = [_loss_after(step + change, *products(g, H, h)) for change in (-1e-3, 0, 1e-3)]
    assert loss == around[1] == min(around)
    assert loss < before


def test_a_step_without_a_minimum_is_no_longer_than_the_scores():
    g, H = np.array([1.0, 0, 0]), np.array([0.2, 1.0, 0.0])
    h = np.array([0.9, 0.8, 0.0])  # so much better that the farther the better
    assert (g @ H) * (h @ h) < (g @ h) * (H @ h)
    step, loss, before = found(g, H, h)
    assert step == pytest.approx(np.sqrt((H @ H) / (h @ h)))
    assert loss < before


def test_a_direction_that_helps_nothing_is_left_alone():
    assert found([1, 0, 0], [1, 0, 0], [0, 1, 0])[0] == 0
    assert found([1, 0, 0], [1, 0, 0], [0, 0, 0])[:2] == (0, 0)


@pytest.fixture(scope="module")
def train():
    return pm.simulate(40, docs_per_query=12, n_features=6, seed=1)


def with_something_to_say(data):
    starts = data.query_ptr[:-1]
    return data.take(np.maximum.reduceat(data.y, starts) > np.minimum.reduceat(data.y, starts))


@pytest.mark.parametrize("center", [True, False])
def test_every_round_takes_the_feature_that_helps_most(train, center):
    useful = in_content_order(with_something_to_say(train)).gathered()  # in which fit adds up
    fitted = RankCosine(n_rounds=12, center=center).fit(useful)
    X, y = fitted.prepared(useful).X.astype(float), useful.y.astype(float)
    lists = _Lists.of(fitted.prepared(useful), y, np.ones(useful.n_queries), center)
    scores, loss = np.zeros(useful.n_docs), 0.5
    for expected in fitted.evals_["loss"]:
        steps, losses = lists.steps(scores, loss)
        plain = [
            reference.loss(y, scores + step * column, useful.query_ptr, center)
            for step, column in zip(steps, X.T, strict=True)
        ]
        assert losses == pytest.approx(plain, abs=1e-9)
        assert expected == losses.min() < loss
        scores += steps[losses.argmin()] * X[:, losses.argmin()]
        loss = losses.min()
    assert reference.loss(y, X @ fitted.coef_, useful.query_ptr, center) == pytest.approx(loss)


@pytest.mark.parametrize("center", [True, False])
def test_comes_near_the_optimum(train, center):
    useful = in_content_order(with_something_to_say(train)).gathered()  # in which fit adds up
    fitted = RankCosine(n_rounds=2000, tolerance=1e-10, center=center).fit(useful)
    X, y = fitted.prepared(useful).X.astype(float), useful.y.astype(float)
    theirs = minimize(
        lambda coef: reference.loss(y, X @ coef, useful.query_ptr, center),
        fitted.coef_ / np.abs(fitted.coef_).max(),
    )
    assert fitted.evals_["loss"][-1] == pytest.approx(theirs.fun, abs=1e-4)
    assert (np.diff(fitted.evals_["loss"]) < 0).all()


def test_queries_with_nothing_to_say_change_nothing(train):
    odd = np.arange(train.n_queries) % 2 == 0
    rows = np.repeat(odd, np.diff(train.query_ptr))
    flat = train.replace(y=np.where(rows, train.y, 3).astype(np.float32))
    assert (RankCosine().fit(flat).coef_ == RankCosine().fit(train.take(odd)).coef_).all()
    weighted = RankCosine().fit(train, sample_weight=rows.astype(float))
    assert (weighted.coef_ == RankCosine().fit(train.take(odd)).coef_).all()


def test_a_feature_that_is_the_label_is_all_it_takes(train):
    told = train.replace(X=np.column_stack([train.X, train.y]).astype(np.float32))
    fitted = RankCosine(normalize="standard").fit(told)
    assert fitted.coef_.tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert fitted.evals_["loss"] == pytest.approx([0], abs=1e-7)
    reversed_ = RankCosine(normalize="standard").fit(told.replace(X=-told.X))
    assert reversed_.coef_[-1] == -1


def test_a_validation_set_chooses_the_round(train):
    valid = pm.simulate(30, docs_per_query=12, n_features=6, seed=2)
    kept = RankCosine(n_rounds=10, tolerance=0).fit(train, valid=valid)
    values = [RankCosine(n_rounds=n, tolerance=0).fit(train).score(valid) for n in range(1, 11)]
    assert kept.best_iteration_ == 1 + int(np.argmax(values))
    assert kept.score(valid) == max(values)


def test_gains_count_high_labels_more(train):
    assert (RankCosine(target="gain").fit(train).coef_ != RankCosine().fit(train).coef_).any()


def test_refusals(train):
    with pytest.raises(pm.PomonaError, match="unknown target"):
        RankCosine(target="x").fit(train)
    with pytest.raises(InputError, match="n_rounds must be an integer of at least 1"):
        RankCosine(n_rounds=0).fit(train)
    with pytest.raises(InputError, match="no query has documents of different labels"):
        RankCosine().fit(train.replace(y=np.ones_like(train.y)))
    with pytest.raises(InputError, match="no query has documents with a label other than 0"):
        RankCosine(center=False).fit(train.replace(y=np.zeros_like(train.y)))
    with pytest.raises(InputError, match="found 0 feature"):
        RankCosine().fit(train.replace(X=train.X[:, :0]))
