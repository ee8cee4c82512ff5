"""What every ranker promises, checked for each file dropped into the folder, and what the base class does."""

import re
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import pomona as pm
from pomona._jit import threads
from pomona._registry import entries
from pomona.errors import InputError
from pomona.rankers.loading import load_model
from pomona.testing import ranker_checks
from pomona.testing.estimator import check_scikit_learn

# Baselines that learn nothing have tests of their own.
NAMES = sorted(set(entries("rankers")) - {"random", "ideal", "worst", "imported"})
if find_spec("torch") is None:  # the report says so loudly
    NAMES = [name for name in NAMES if ".neural." not in entries("rankers")[name].module]
# Small and quick versions of each; a ranker that is quick by itself needs none.
QUICK = {"n_trees": 6, "n_leaves": 5, "min_docs": 3, "n_rounds": 20, "n_restarts": 1, "n_epochs": 8}
QUICK |= {"n_models": 2, "member": "lambdamart(n_trees=6, n_leaves=5, min_docs=3)"}
QUICKER = {
    "smoothrank": {"max_iterations": 8, "sigma_max": 1.0},
}
# scikit-learn's checks have one query, and none to hold out.
ONE_QUERY = {"linearcombination": {"weights": "uniform"}}

# Rankers that learn in one step, or leave the steps to others; all the rest records its steps.
AT_ONCE = {"bestfeature", "linearcombination", "linearregression", "logisticregression"}
ITERATIVE = [name for name in NAMES if name not in AT_ONCE]


def quick(name, **more):
    cls = entries("rankers")[name].load()
    known = cls().get_params()
    given = {**QUICK, **QUICKER.get(name, {}), **more}
    return cls(**{key: value for key, value in given.items() if key in known})


@pytest.fixture(scope="module")
def data():
    return pm.simulate(60, docs_per_query=15, n_features=12, seed=1)


@pytest.fixture(scope="module")
def fresh():
    return pm.simulate(40, docs_per_query=15, n_features=12, seed=2)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", ranker_checks(), ids=lambda check: check.__name__)
def test_keeps_the_contract(check, name):
    more = ONE_QUERY.get(name, {}) if check is check_scikit_learn else {}
    check(quick(name, **more))


@pytest.mark.parametrize("name", ITERATIVE)
def test_every_iterative_ranker_records_its_training(name, data, fresh):
    ranker = quick(name, seed=3).fit(data, valid=fresh)
    assert len(ranker.evals_["valid"]) >= 2
    if name in ("ensemble", "randomforest"):  # which keep all models, or bags
        n_steps = QUICK["n_models" if name == "ensemble" else "n_trees"]
        assert ranker.best_iteration_ == len(ranker.evals_["valid"]) == n_steps
    else:
        assert ranker.best_iteration_ == 1 + int(np.argmax(ranker.evals_["valid"]))


@pytest.mark.parametrize("name", NAMES)
def test_the_listing_says_what_the_class_says(name):
    entry = entries("rankers")[name]
    assert (entry.family, entry.paper) == (entry.load().family, entry.load().paper)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_to_learn_from_is_refused(shape):
    with pytest.raises(InputError, match=rf"found 0 \w+\(s\) \(shape={re.escape(str(shape))}\)"):
        pm.LinearRegression().fit(np.zeros(shape), np.zeros(shape[0]), qid=np.zeros(shape[0], int))


def test_columns_have_names_only_where_somebody_named_them(data, tmp_path):
    numbered = pd.DataFrame(data.X)
    named = numbered.set_axis(list(data.feature_names), axis=1)
    ranker = pm.LinearRegression().fit(numbered, data.y, qid=data.qid)
    assert not hasattr(ranker, "feature_names_in_")
    scores = ranker.predict(numbered, qid=data.qid)
    assert (ranker.predict(named, qid=data.qid) == scores).all()
    ranker.fit(named, data.y, qid=data.qid).save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert loaded.feature_names_in_.tolist() == list(data.feature_names)
    for table in (data, data.X, numbered, named):
        assert (loaded.predict(table, qid=None if table is data else data.qid) == scores).all()
    assert (loaded.predict(named[named.columns[::-1]], qid=data.qid) == scores).all()
    assert not hasattr(ranker.fit(data), "feature_names_in_")


def test_threads_of_a_ranker_are_those_of_the_process():
    with threads(3):
        assert pm.LinearRegression().n_threads == 3


@pytest.mark.parametrize("ranker", [pm.LinearRegression(), pm.LambdaMART(n_trees=5, n_leaves=4)])
def test_sizes_of_queries_teach_as_their_ids_do(data, ranker):
    X, y = data.X, data.y
    expected = ranker.fit(X, y, qid=data.qid).predict(data)
    np.testing.assert_array_equal(ranker.fit(X, y, group=data.query_lengths).predict(data), expected)
    for given, said in (
        ((X, y, data.qid), "found both of qid and group"),
        ((X, y[:-1]), "for"),
        ((data,), "leave y, qid and group out"),
    ):
        with pytest.raises(InputError, match=said):
            ranker.fit(*given, group=data.query_lengths)


def test_sizes_of_queries_with_start_scores(data):
    ranker, start = pm.MART(n_trees=3, n_leaves=4), np.linspace(0, 1, data.n_docs)
    expected = ranker.fit(data, base=start).predict(data, base=start)
    ranker.fit(data.X, data.y, group=data.query_lengths, base=start)
    np.testing.assert_array_equal(ranker.predict(data, base=start), expected)
    with pytest.raises(InputError, match="with group: give qid"):
        ranker.fit("train.parquet", group=[3], client=object())


class WithStrength(pm.LinearRegression):
    name = "with_strength"

    def __init__(self, *, strength=1.0):
        super().__init__(l2=strength)
        self.strength = strength


class StillWithStrength(WithStrength):
    """A subclass of a class that has a constructor of its own."""

    name = "still_with_strength"


class FewRounds(pm.RankBoost):
    name = "few_rounds"
    n_rounds = 3


def test_a_subclass_keeps_the_constructor_of_its_base():
    ranker = StillWithStrength(strength=2.0)
    assert (ranker.strength, ranker.l2, ranker.get_params()) == (2.0, 2.0, {"strength": 2.0})
    assert clone(ranker).l2 == 2.0


def test_a_default_of_a_subclass_needs_no_annotation():
    data = pm.simulate(10, docs_per_query=6, n_features=3, seed=0)
    assert FewRounds().n_rounds == 3 == FewRounds().get_params()["n_rounds"]
    assert FewRounds().fit(data).model_.n_stumps <= 3
    assert FewRounds(n_rounds=2).n_rounds == 2
    with pytest.raises(InputError, match="n_rounds must be an integer of at least 1"):
        FewRounds(n_rounds=0).fit(data)
