"""What every ranker promises, checked for each file dropped into the folder."""

import inspect
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pomona as pm
from pomona._jit import threads
from pomona._registry import entries
from pomona.errors import InputError
from pomona.rankers.base import as_dataset, load_model
from pomona.rankers.training_log import TrainingLog

# Baselines that learn nothing have tests of their own.
NAMES = sorted(set(entries("rankers")) - {"random", "ideal", "worst"})
if find_spec("torch") is None:  # the report says so loudly
    NAMES = [name for name in NAMES if ".neural." not in entries("rankers")[name].module]
# Small and quick versions of each; a ranker that is quick by itself needs none.
QUICK = {"n_trees": 12, "n_leaves": 7, "min_docs": 3, "n_rounds": 20, "n_restarts": 1, "n_epochs": 20}


# Rankers that learn in one step, or leave the steps to others; all the rest records its steps.
AT_ONCE = {"bestfeature", "linearcombination", "linearregression", "logisticregression"}
ITERATIVE = [name for name in NAMES if name not in AT_ONCE]


def quick(name, **more):
    cls = entries("rankers")[name].load()
    known = cls().get_params()
    return cls(**{key: value for key, value in {**QUICK, **more}.items() if key in known})


@pytest.fixture(scope="module")
def data():
    return pm.simulate(60, docs_per_query=15, n_features=12, seed=1)


@pytest.fixture(scope="module")
def fresh():
    return pm.simulate(40, docs_per_query=15, n_features=12, seed=2)


@pytest.mark.parametrize("name", NAMES)
def test_beats_random_on_easy_data(name, data, fresh):
    scores = quick(name).fit(data).predict(fresh)
    assert np.isfinite(scores).all()
    assert scores.shape == (fresh.n_docs,)
    random = np.mean(
        [
            pm.evaluate(fresh, np.random.default_rng(i).random(fresh.n_docs), "ndcg@10")["ndcg@10"]
            for i in range(9)
        ]
    )
    assert pm.evaluate(fresh, scores, "ndcg@10")["ndcg@10"] > random + 0.03


@pytest.mark.parametrize("name", NAMES)
def test_scores_follow_their_documents(name, data, fresh):
    ranker = quick(name).fit(data)
    order = np.random.default_rng(0).permutation(fresh.n_docs)
    shuffled = ranker.predict(fresh.X[order], qid=fresh.qid[order])
    assert (ranker.predict(fresh.X, qid=fresh.qid)[order] == shuffled).all()


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_model_for_any_number_of_threads(name, data, fresh):
    scores = []
    for count in (1, 2, 4):
        with threads(count):
            scores.append(quick(name, seed=3).fit(data).predict(fresh))
    assert (scores[0] == scores[1]).all()
    assert (scores[0] == scores[2]).all()


@pytest.mark.parametrize("name", NAMES)
def test_save_and_load(name, data, fresh, tmp_path):
    ranker = quick(name, seed=3).fit(data, valid=fresh)
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert type(loaded) is type(ranker)
    assert loaded.get_params() == ranker.get_params()
    assert (loaded.predict(fresh) == ranker.predict(fresh)).all()
    assert loaded.feature_names_ == data.feature_names


@pytest.mark.parametrize("name", ITERATIVE)
def test_a_training_is_recorded_and_kept_with_the_model(name, data, fresh, tmp_path):
    ranker = quick(name, seed=3).fit(data, valid=fresh)
    n_iterations = len(ranker.evals_["valid"])
    assert {len(curve) for curve in ranker.evals_.values()} == {n_iterations}
    assert {"train", "valid"} <= set(ranker.evals_)
    assert 1 <= ranker.best_iteration_ <= n_iterations
    assert not ranker.interrupted_
    if name != "randomforest":  # which keeps all bags
        assert ranker.best_iteration_ == 1 + int(np.argmax(ranker.evals_["valid"]))
    assert ranker.score(fresh) == pytest.approx(ranker.evals_["valid"][ranker.best_iteration_ - 1], abs=1e-9)
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    for attribute in ("evals_", "best_iteration_", "interrupted_", *ranker._learnt_names()):
        assert np.array_equal(getattr(loaded, attribute), getattr(ranker, attribute)), attribute


@pytest.mark.parametrize("name", ITERATIVE)
def test_ctrl_c_keeps_the_best_so_far(name, data, fresh, tmp_path, monkeypatch):
    class Interrupted(TrainingLog):
        def record(self, **values):
            if self.iteration == interruption:
                raise KeyboardInterrupt
            return super().record(**values)

    monkeypatch.setattr("pomona.rankers.base.TrainingLog", Interrupted)
    interruption = 1
    with pytest.warns(UserWarning, match=r"interrupted: keeping \w+ 1 of 1") as caught:
        ranker = quick(name, seed=3).fit(data, valid=fresh)
    assert caught[0].filename == __file__
    assert ranker.interrupted_
    assert ranker.best_iteration_ == len(ranker.evals_["valid"]) == 1
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert loaded.interrupted_
    assert (loaded.predict(fresh) == ranker.predict(fresh)).all()
    interruption = 0
    with pytest.raises(KeyboardInterrupt):
        quick(name, seed=3).fit(data, valid=fresh)


@pytest.mark.parametrize("name", [name for name in ITERATIVE if "early_stopping" in quick(name).get_params()])
def test_stops_early(name, data, fresh, monkeypatch):
    class Falling(TrainingLog):
        def record(self, **values):
            return super().record(**{**values, "valid": -self.iteration})

    monkeypatch.setattr("pomona.rankers.base.TrainingLog", Falling)
    ranker = quick(name, seed=3, early_stopping=2).fit(data, valid=fresh)
    if name == "randomforest":  # which has nothing to stop for
        assert (len(ranker.evals_["valid"]), ranker.best_iteration_) == (12, 12)
    else:
        assert (len(ranker.evals_["valid"]), ranker.best_iteration_) == (3, 1)


@pytest.mark.parametrize("name", NAMES)
def test_survives_odd_data(name):
    random = np.random.default_rng(0)
    X = random.random((40, 4)).astype(np.float32)
    X[:, 1] = 5  # constant
    X[:7, 2] = np.nan
    qid = np.repeat([1, 2, 3, 4], [1, 9, 10, 20])  # a query of one document ...
    y = random.integers(0, 3, 40)
    y[1:10] = 0  # ... and one without a relevant document
    scores = quick(name).fit(X, y, qid=qid).predict(X, qid=qid)
    assert np.isfinite(scores).all()


def degenerate():
    """Data that leave little or nothing to learn, by what is wrong with them."""
    random = np.random.default_rng(0)
    X, y, qid = random.random((80, 3)), random.integers(0, 3, 80), np.repeat(np.arange(10), 8)
    return {
        "one feature": (X[:, :1], y, qid),
        "a constant feature": (np.ones((80, 1)), y, qid),
        "features that repeat each other": (np.repeat(X[:, :1], 3, axis=1), y, qid),
        "undefined features": (np.full((80, 2), np.nan), y, qid),
        "a single query": (X[:8], y[:8], qid[:8]),
        "documents alike": ([[1.0], [1.0]], [1, 0], [1, 1]),
        "no usable pair": (X, np.ones(80), qid),
        "queries of one document": (X[:5], [0, 1, 2, 0, 1], np.arange(5)),
        "separable labels": (np.column_stack([y, X]), y, qid),
        "real labels": (X, random.random(80), qid),
        "negative labels": (X, y - 1, qid),
        "huge values": (X * [1e30, 1.0, 1e-30], y, qid),
        "the largest values": (np.where(X > 0.5, 3e38, -3e38), y, qid),
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", degenerate())
@pytest.mark.parametrize("watched", [False, True])
def test_degenerate_data_give_a_model_or_a_clear_error(name, case, watched):
    data, refusal = pm.Dataset(*degenerate()[case]), ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a model that learnt nothing says so
        try:
            scores = quick(name, n_epochs=2).fit(data, valid=data if watched else None).predict(data)
        except InputError as error:
            refusal = str(error)
    assert refusal.count("\n") == 0
    assert refusal or np.isfinite(scores).all()


@pytest.mark.parametrize("name", NAMES)
def test_rows_in_any_order_and_any_table(name, data):
    ranker = quick(name, seed=5)
    X, y, qid = data.X, data.y, data.qid
    expected = ranker.fit(data).predict(data)
    assert (clone(ranker).fit(X, y, qid=qid).predict(X, qid=qid) == expected).all()
    columns = list(data.feature_names)
    for frame in (pd.DataFrame(X, columns=columns), pl.DataFrame(X, schema=columns)):
        fitted = clone(ranker).fit(frame, y, qid=qid)
        assert (fitted.predict(frame, qid=qid) == expected).all()
        assert list(fitted.feature_names_) == columns


@pytest.mark.parametrize("name", NAMES)
def test_is_a_scikit_learn_estimator(name):
    ranker = quick(name)
    twin = clone(ranker)
    assert twin is not ranker
    assert twin.get_params() == ranker.get_params()
    assert twin.set_params(measure="ap").measure == "ap"
    with pytest.raises(NotFittedError):
        ranker.predict(np.zeros((1, 3)))


@pytest.mark.parametrize("name", NAMES)
def test_routing_carries_the_query_ids(name, data):
    order = np.random.default_rng(0).permutation(data.n_docs)
    X, y, qid = data.X[order], data.y[order], data.qid[order]
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("error")
        result = cross_validate(
            quick(name), X, y, params={"qid": qid, "groups": qid}, cv=GroupKFold(3), error_score="raise"
        )
        assert (result["test_score"] > 0.2).all()
        if "seed" in quick(name).get_params():
            search = GridSearchCV(quick(name), {"seed": [0, 1]}, cv=GroupKFold(3), error_score="raise")
            search.fit(X, y, qid=qid, groups=qid)
            assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        pipeline = make_pipeline(StandardScaler(), quick(name)).fit(X, y, qid=qid)
        assert pipeline.score(X, y, qid=qid) > 0.3


@pytest.mark.parametrize("name", NAMES)
def test_a_query_of_weight_zero_teaches_nothing(name, data):
    odd = np.arange(data.n_queries) % 2 == 1
    weights = np.repeat(odd, np.diff(data.query_ptr)).astype(float)
    flipped = data.replace(y=np.where(weights > 0, data.y, 4 - data.y).astype(np.float32))
    half = flipped.take(odd)
    weighted = quick(name).fit(flipped, sample_weight=weights).score(half)
    assert weighted > quick(name).fit(flipped).score(half)
    with pytest.raises(InputError, match="finite weights"):
        quick(name).fit(data, sample_weight=[1.0])


@pytest.mark.parametrize("name", NAMES)
def test_is_documented(name):
    cls = entries("rankers")[name].load()
    assert cls.family in ("point-wise", "pair-wise", "list-wise", "ensemble", "baseline")
    assert cls.paper
    assert (entries("rankers")[name].family, entries("rankers")[name].paper) == (cls.family, cls.paper)
    documented = "".join(base.__doc__ or "" for base in cls.__mro__[:-1])
    for parameter in inspect.signature(cls).parameters:
        assert f"{parameter}" in documented, f"{name} does not explain {parameter}"


@pytest.mark.parametrize("name", NAMES)
def test_refusals(name, data):
    with pytest.raises(InputError, match="query ids qid are missing"):
        quick(name).fit(data.X, data.y)
    with pytest.raises(InputError, match="labels y are missing"):
        quick(name).fit(data.X)
    with pytest.raises(InputError, match="has its own labels"):
        quick(name).fit(data, data.y)
    with pytest.raises(InputError, match="validation data have 3 features"):
        quick(name).fit(data, valid=(np.zeros((2, 3)), [0, 1], [1, 1]))
    with pytest.raises(InputError, match="was fitted on 12 features, found 3"):
        quick(name).fit(data).predict(np.zeros((2, 3)), qid=[1, 1])
    with pytest.raises(pm.PomonaError, match="unknown measure"):
        quick(name, measure="nonsense").fit(data).score(data)


def test_a_model_of_an_unknown_ranker_is_refused(tmp_path):
    from pomona.rankers.model_file import write_model

    write_model(tmp_path / "m", "nosuch", {"parameters": {}, "learnt": {}}, {})
    with pytest.raises(pm.PomonaError, match="unknown ranker 'nosuch'"):
        load_model(tmp_path / "m")


def test_as_dataset():
    data = as_dataset([[1.0]], [1], [7])
    assert as_dataset(data) is data


def test_a_model_of_the_users_own_class(data, tmp_path):
    class Mine(pm.LinearRegression):
        name = "mine"

    ranker = Mine().fit(data)
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona", Mine)
    assert type(loaded) is Mine
    np.testing.assert_array_equal(loaded.predict(data), ranker.predict(data))
    with pytest.raises(LookupError, match="unknown ranker 'mine'"):
        load_model(tmp_path / "m.pomona")
    with threads(3):
        assert ranker.n_threads == 3
