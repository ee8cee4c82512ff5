"""Measures as scikit-learn's functions call them, with and without metadata routing."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pomona as pm
from pomona.data.k_fold import QueryKFold
from pomona.errors import InputError

DATA = pm.simulate(30, docs_per_query=8, n_features=4, seed=1)
X, Y, QID = DATA.X, DATA.y, DATA.qid
FOLDS = list(QueryKFold(3, seed=0).split(X, groups=QID))


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def by_hand(measure, make=pm.LinearRegression):
    """The mean of each fold, without scikit-learn."""
    means = []
    for train, test in FOLDS:
        ranker = make().fit(X[train], Y[train], qid=QID[train])
        part = pm.Dataset(X[test], Y[test], QID[test])
        means.append(pm.evaluate(part, ranker.predict(part), measure)[measure])
    return means


@pytest.mark.usefixtures("routing")
def test_cross_validation_with_routing():
    scoring = {name: pm.scorer(name) for name in ("err@5", "ap")}
    found = cross_validate(
        pm.LinearRegression(),
        X,
        Y,
        cv=QueryKFold(3),
        scoring=scoring,
        params={"qid": QID},
        error_score="raise",
    )
    for name in scoring:
        np.testing.assert_allclose(found[f"test_{name}"], by_hand(name))
    one = cross_validate(
        pm.LinearRegression(), X, Y, cv=QueryKFold(3), scoring=pm.scorer("ap"), params={"qid": QID}
    )
    np.testing.assert_allclose(one["test_score"], by_hand("ap"))


@pytest.mark.usefixtures("routing")
def test_a_search_and_a_pipeline_with_routing():
    pipeline = make_pipeline(StandardScaler(), pm.RankSVM())
    search = GridSearchCV(
        pipeline, {"ranksvm__C": [1e-9, 1.0]}, cv=QueryKFold(3), scoring=pm.scorer("ndcg@3")
    )
    search.fit(X, Y, qid=QID)
    means = search.cv_results_["mean_test_score"]
    assert np.isfinite(means).all()
    assert search.best_score_ == means.max()
    assert search.score(X, Y, qid=QID) == pytest.approx(
        pm.evaluate(DATA, search.best_estimator_.predict(X, qid=QID), "ndcg@3")["ndcg@3"]
    )


def test_without_routing_a_frame_tells_which_rows():
    frame = pd.DataFrame(X, index=[f"row {n}" for n in range(len(X))])
    qid = pd.Series(QID, index=frame.index)
    found = cross_validate(
        *(pm.LinearRegression(), frame, Y),
        cv=FOLDS,
        params={"qid": qid},
        scoring=pm.scorer("ap", qid=qid[::-1]),
        error_score="raise",
    )
    np.testing.assert_allclose(found["test_score"], by_hand("ap"))
    with pytest.raises(InputError, match="not found, or found twice"):
        pm.scorer("ap", qid=qid[1:])(pm.LinearRegression().fit(frame, Y, qid=qid), frame, Y)


def test_without_routing_missing_ids_are_told():
    ranker = pm.LinearRegression().fit(DATA)
    with pytest.raises(
        InputError, match=r"no query ids: sklearn\.set_config\(enable_metadata_routing=True\)"
    ):
        pm.scorer("ap")(ranker, X, Y)
    for scoring, said in (
        (pm.scorer("ap"), "no query ids: sklearn.set_config"),
        (pm.scorer("ap", qid=QID), "has the query ids of 223: an array does not tell"),
        (None, "sklearn.set_config"),
    ):
        options = {"cv": GroupKFold(3), "groups": QID, "params": {"qid": QID}, "scoring": scoring}
        with pytest.raises(InputError, match=said):
            cross_validate(pm.LinearRegression(), X, Y, **options, error_score="raise")
        with pytest.warns(UserWarning, match=said):  # as scikit-learn does with any error of a score
            cross_validate(pm.LinearRegression(), X, Y, **options)


@pytest.mark.filterwarnings("ignore")
def test_fits_without_ids_fail_and_say_why():
    with pytest.raises(ValueError, match=r"fits failed(.|\n)*qid are missing.*enable_metadata_routing=True"):
        cross_validate(pm.LinearRegression(), X, Y, cv=GroupKFold(3), groups=QID)


@pytest.mark.usefixtures("routing")
def test_groups_of_scikit_learn_serve_as_well():
    options = {"params": {"qid": QID, "groups": QID}, "scoring": pm.scorer("ap"), "error_score": "raise"}
    found = cross_validate(pm.LinearRegression(), X, Y, cv=GroupKFold(3), **options)
    assert np.isfinite(found["test_score"]).all()


def test_permutation_importance():
    X_strong = np.column_stack([Y, np.zeros(len(Y))])
    ranker = pm.LinearRegression().fit(X_strong, Y, qid=QID)
    found = permutation_importance(
        ranker, X_strong, Y, scoring=pm.scorer("ndcg@5", qid=QID), n_repeats=3, random_state=0
    )
    assert found.importances_mean[0] > 0.1
    assert found.importances_mean[1] == 0


def test_estimators_of_others_are_scored_too():
    model = lightgbm.LGBMRanker(n_estimators=3, verbose=-1).fit(X, Y, group=DATA.query_lengths)
    expected = pm.evaluate(DATA, model.predict(X), "ndcg@10")["ndcg@10"]
    assert pm.scorer("ndcg@10", qid=QID)(model, X, Y) == expected


def test_queries_in_any_order_and_words_as_ids():
    order = np.random.default_rng(0).permutation(len(Y))
    ranker, words = pm.RankSVM().fit(DATA), np.array([f"q{one}" for one in QID])
    shuffled = pm.scorer("ap")(ranker, X[order], Y[order], qid=words[order])
    assert shuffled == pytest.approx(pm.scorer("ap")(ranker, DATA))
    assert repr(pm.scorer("letor4:ndcg@3")) == "scorer('letor4:ndcg@3')"
