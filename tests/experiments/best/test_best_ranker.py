import signal
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import pomona as pm
from experiments.best.here_pool import FOREST, SHORT_MENU, HerePool, use
from pomona.errors import InputError, UnknownNameError
from pomona.experiments.best.best_ranker import BestRanker
from pomona.experiments.best.menu import Recipe


@pytest.fixture(scope="module")
def train():
    return pm.simulate(20, docs_per_query=8, n_features=4, seed=1)


@pytest.fixture(scope="module")
def test():
    return pm.simulate(20, docs_per_query=8, n_features=4, seed=2)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    use(monkeypatch)


def test_an_ordinary_ranker_comes_of_it(train, test, tmp_path):
    best = BestRanker(time="10m", measure="ndcg@5").fit(train)
    scores = best.predict(test)
    assert pm.evaluate(test, scores, "ndcg@5")["ndcg@5"] == best.score(test) > 0.5
    best.save(tmp_path / "m.pomona")
    assert (pm.load_model(tmp_path / "m.pomona").predict(test) == scores).all()
    assert best.estimate_.low < best.estimate_.mean < best.estimate_.high
    assert best.estimate_.n_queries == 20
    assert not best.interrupted_
    assert 0 < best.seconds_ < 600


def test_validation_queries_judge(train, test):
    best = BestRanker(measure="ndcg@5").fit(train, valid=test)
    assert best.estimate_.n_queries == test.n_queries
    assert best.trials_["n_folds"].max() == 2


def test_the_table_of_trials(train):
    trials = BestRanker(measure="ndcg@5").fit(train).trials_
    assert set(trials["recipe"]) == {str(recipe) for recipe in SHORT_MENU}
    assert trials["weight"].sum() == pytest.approx(1)
    furthest = trials.filter(n_folds=5)
    assert furthest["value"].is_sorted(descending=True)
    front = furthest.filter("is_on_front")
    assert front["recipe"][0] == furthest["recipe"][0]
    for row in furthest.filter(~furthest["is_on_front"]).iter_rows(named=True):
        better = front.filter(
            (front["value"] >= row["value"]) & (front["microseconds"] <= row["microseconds"])
        )
        assert better.height
    assert not trials.filter((trials["n_folds"] < 5) & trials["is_on_front"]).height


def test_rows_in_any_order_and_texts_as_ids(train, test):
    order = np.random.default_rng(0).permutation(train.n_docs)
    shuffled = pm.Dataset(train.X[order], train.y[order], [f"q{q}" for q in train.qid[order]])
    one, two = (BestRanker(measure="ndcg@5").fit(data) for data in (train, shuffled))
    assert one.estimate_ == two.estimate_
    # Costs decide nothing here, so that the models are the same.
    assert one.predict(test) == pytest.approx(two.predict(test))


def test_a_second_fit_goes_on(train, tmp_path):
    first = BestRanker(measure="ndcg@5", directory=tmp_path).fit(train)
    n_calls = HerePool.n_calls
    second = BestRanker(measure="ndcg@5", directory=str(tmp_path)).fit(train)
    assert HerePool.n_calls == n_calls
    assert second.estimate_ == first.estimate_
    assert second.spent_ > first.spent_


def test_ctrl_c_gives_the_best_so_far(train, test, monkeypatch):
    from pomona.experiments.best.search import wait

    calls = iter(range(100))

    def interrupted(*arguments, **options):
        if next(calls) == 1:
            raise KeyboardInterrupt
        return wait(*arguments, **options)

    monkeypatch.setattr("pomona.experiments.best.search.wait", interrupted)
    with pytest.warns(UserWarning, match="interrupted: keeping the best so far"):
        best = BestRanker(measure="ndcg@5").fit(train)
    assert best.interrupted_
    assert np.isfinite(best.predict(test)).all()


def test_limits_are_texts_or_numbers(train):
    with pytest.raises(InputError, match="no ranker could be fitted within the limits"):
        BestRanker(latency="1ns", measure="ndcg@5").fit(train)
    assert BestRanker(latency="20us")._limits().microseconds == pytest.approx(20)
    assert BestRanker(latency=20.0)._limits().microseconds == 20
    assert BestRanker(latency="20")._limits().microseconds == pytest.approx(20)
    assert BestRanker(formats="solr, lightgbm")._limits().formats == ("solr", "lightgbm")
    best = BestRanker(formats="solr", measure="ndcg@5").fit(train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is not the same there
        assert best.exported("solr")


def test_what_is_refused(train):
    for parameters, message in (
        ({"time": "soon"}, "found time 'soon', expected a time above 0, such as 10m"),
        ({"latency": "2 apples"}, "found latency '2 apples'"),
        ({"n_folds": 2}, "n_folds must be"),
        ({"measure": "nonsense"}, "unknown measure"),
    ):
        with pytest.raises((InputError, UnknownNameError), match=message):
            BestRanker(**parameters).fit(train)
    with pytest.raises(UnknownNameError, match="did you mean 'solr'"):
        BestRanker(formats="soler").fit(train)
    with pytest.raises(InputError, match="leave sample_weight out"):
        BestRanker().fit(train, sample_weight=np.ones(train.n_docs))
    with pytest.raises(InputError, match="nothing to learn: the labels of each query are all equal"):
        BestRanker().fit(train.replace(y=np.ones(train.n_docs, np.float32)))
    with pytest.raises(InputError, match="found 2 queries for 2 folds"):
        BestRanker().fit(train.take([0, 1]))
    with pytest.raises(NotFittedError):
        BestRanker().predict(train)


def test_constant_features_and_few_queries(train):
    data = train.take(np.arange(4)).replace(X=np.ones((train.take(np.arange(4)).n_docs, 4), np.float32))
    best = BestRanker(measure="ndcg@5").fit(data)
    assert np.isfinite(best.predict(data)).all()


def test_it_is_an_estimator(train):
    best = BestRanker(time="5m", measure="ndcg@5", formats="solr")
    assert clone(best).get_params() == best.get_params()
    frame = train.X.astype(float)
    assert BestRanker(measure="ndcg@5").fit(frame, train.y, qid=train.qid).predict(frame, qid=train.qid).shape


def test_lines_on_standard_error(train, capsys):
    BestRanker(measure="ndcg@5", verbose=True).fit(train)
    assert "fits of" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="trainings are only killed here")
def test_it_ends_in_time_though_nothing_else_does(train, test, monkeypatch):
    """In processes of their own, of which each would train for hours."""
    endless = {**FOREST, "n_trees": 10**6, "learning_rate": 1e-4, "early_stopping": None}
    menu = [Recipe("lambdamart", endless), Recipe("mart", endless), Recipe("smoothrank")]
    use(monkeypatch, menu, here=False)
    started = time.monotonic()
    best = BestRanker(time="12s", measure="ndcg@5").fit(train)
    assert time.monotonic() - started < 1.05 * 12 + 2
    assert np.isfinite(best.predict(test)).all()
    assert best.trials_["value"].is_not_null().any()
