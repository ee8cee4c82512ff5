"""Weights and missing labels, through `fit` and `score`: what is recorded is what `score` gives."""

import numpy as np
import pandas as pd
import pytest

import pomona as pm
from pomona.errors import InputError, UnknownNameError, UnknownParameterError

MEASURE = "ndcg@10"
FORESTS = {
    "lambdamart": lambda **more: pm.LambdaMART(
        measure=MEASURE, n_trees=6, min_docs=3, averaged=False, **more
    ),
    "dart": lambda **more: pm.LambdaMART(
        n_trees=6, measure=MEASURE, min_docs=3, dropout=0.5, dropout_skip=0.0, **more
    ),
    "mart": lambda **more: pm.MART(measure=MEASURE, n_trees=6, averaged=False, **more),
    "mcrank": lambda **more: pm.McRank(measure=MEASURE, n_trees=3, averaged=False, **more),
    "xendcg": lambda **more: pm.XENDCG(measure=MEASURE, n_trees=6, averaged=False, **more),
    "rcrank": lambda **more: pm.RCRank(measure=MEASURE, n_trees=10, enhanced=True, averaged=False, **more),
    "randomforest": lambda **more: pm.RandomForest(measure=MEASURE, n_trees=4, **more),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    data = pm.simulate(30, docs_per_query=12, n_features=5, seed=4)
    order = rng.permutation(data.n_docs)  # rows of a query lie apart
    X = np.round(data.X, 1)  # some documents are tied
    return [
        pm.Dataset(X[some], data.y[some], data.qid[some], weight=rng.integers(0, 4, len(some)))
        for some in (order[data.qid[order] < 20], order[data.qid[order] >= 20])
    ]


def kept(ranker):
    """The place of the iteration that was kept; no training here stops early, some record the last only."""
    return ranker.best_iteration_ - 1 - (ranker.n_trees - len(ranker.evals_["valid"]))


@pytest.mark.parametrize("name", FORESTS)
def test_what_is_recorded_is_the_score(data, name):
    train, valid = data
    ranker = FORESTS[name]().fit(train, valid=valid)
    best = kept(ranker)
    assert ranker.evals_["train"][best] == pytest.approx(ranker.score(train), abs=1e-12)
    assert ranker.evals_["valid"][best] == pytest.approx(ranker.score(valid), abs=1e-12)
    plain = pm.Dataset(train.X, train.y, train.qid)
    held_out = pm.Dataset(valid.X, valid.y, valid.qid)
    again = FORESTS[name]().fit(plain, valid=held_out, sample_weight=train.weight, valid_weight=valid.weight)
    assert again.evals_ == ranker.evals_
    assert again.score(held_out, sample_weight=valid.weight) == ranker.score(valid)
    assert ranker.score(held_out) != ranker.score(valid)


def test_a_score_is_the_mean_by_the_mean_weights_of_queries():
    data = pm.Dataset([[2.0], [1.0], [1.0], [2.0]], [1, 0, 1, 0], [1, 1, 2, 2], weight=[3, 1, 0, 2])
    ranker = pm.BestFeature(measure="rr").fit(data, sample_weight=np.ones(4))
    assert ranker.score(data) == pytest.approx((2 * 1 + 1 * 0.5) / (2 + 1))
    assert ranker.score(data, sample_weight=[1, 1, 1, 1]) == pytest.approx((1 + 0.5) / 2)


@pytest.mark.parametrize("name", ["lambdamart", "mart", "randomforest"])
def test_validation_sets_of_all_kinds_have_their_weights(data, name):
    train, valid = data
    ranker = FORESTS[name]().fit(
        train,
        eval_set=[valid, valid.take([0, 1, 2])],
        eval_names=["a", "b"],
        eval_measures=["ap"],
    )
    best = kept(ranker)
    assert ranker.evals_["valid"][best] == pytest.approx(ranker.score(valid), abs=1e-12)
    assert ranker.evals_["b"][best] == pytest.approx(ranker.score(valid.take([0, 1, 2])), abs=1e-12)
    by_ap = ranker.set_params(measure="ap").score(valid)
    assert ranker.evals_["valid ap"][best] == pytest.approx(by_ap, abs=1e-12)


def test_weights_of_validation_data_decide_what_is_kept(data):
    train, valid = data
    mixed = next(q for q in range(valid.n_queries) if np.ptp(valid.take([q]).y) > 1)
    one = np.where(valid.qid == valid.qids[mixed], 1.0, 0.0)
    ranker = FORESTS["lambdamart"]().fit(train, valid=valid, valid_weight=one)
    alone = FORESTS["lambdamart"]().fit(train, valid=valid.take([mixed]))
    assert ranker.evals_["valid"] == pytest.approx(alone.evals_["valid"])
    assert ranker.best_iteration_ == alone.best_iteration_


def test_going_on_from_a_model_records_the_same(data):
    train, valid = data
    whole = FORESTS["mart"]().fit(train, valid=valid)
    part = FORESTS["mart"](warm_start=True).set_params(n_trees=3).fit(train)
    part.set_params(n_trees=6).fit(train, valid=valid)
    assert part.evals_["train"] == pytest.approx(whole.evals_["train"][3:])
    assert part.evals_["valid"] == pytest.approx(whole.evals_["valid"][3:])


def test_weights_that_do_not_fit_are_refused(data):
    train, valid = data
    ranker = pm.MART(n_trees=1)
    with pytest.raises(InputError, match="valid_weight goes with valid"):
        ranker.fit(train, valid_weight=np.ones(3))
    with pytest.raises(InputError, match="valid_weight: expected"):
        ranker.fit(train, valid=valid, valid_weight=np.ones(3))
    with pytest.raises(InputError, match="all weights are zero"):
        ranker.fit(train, valid=valid, valid_weight=np.zeros(valid.n_docs))
    with pytest.raises(InputError, match="all weights are zero"):
        ranker.fit(train, sample_weight=np.zeros(train.n_docs))
    for odd in (1e-30, 1e30):
        with pytest.raises(InputError, match="weights above 0 must be between 1e-25 and 1e\\+25"):
            ranker.fit(train, sample_weight=np.full(train.n_docs, odd))
    for name in ("eval_sample_weight", "weight"):
        with pytest.raises(UnknownParameterError, match="weight"):
            ranker.fit(train, **{name: 1})
    frame = pd.DataFrame(train.X, index=np.arange(train.n_docs) + 7)
    for more in (
        {"sample_weight": pd.Series(train.weight)},
        {"group": None, "sample_weight": pd.Series(train.weight)},
    ):
        with pytest.raises(InputError, match="index of sample_weight"):
            ranker.fit(frame, train.y, train.qid, **more)
    fitted = ranker.fit(train)
    with pytest.raises(InputError, match="index of sample_weight"):
        fitted.score(frame, train.y, train.qid, sample_weight=pd.Series(train.weight))
    given = pd.DataFrame(valid.X, index=np.arange(valid.n_docs) + 7), valid.y, valid.qid
    with pytest.raises(InputError, match="index of valid_weight"):
        ranker.fit(train, valid=given, valid_weight=pd.Series(valid.weight))


def unjudged(data, share, seed=0):
    """The data, of whose labels some are NaN."""
    y = data.y.copy()
    y[np.random.default_rng(seed).random(data.n_docs) < share] = np.nan
    return data.replace(y=y)


@pytest.mark.parametrize("name", FORESTS)
def test_a_document_without_a_label_is_one_of_weight_0(data, name):
    train = unjudged(data[0], 0.3)
    hidden = np.isnan(train.y)
    known = train.replace(y=np.where(hidden, 0, train.y).astype(np.float32))
    ranker = FORESTS[name]().fit(train)
    by_weight = FORESTS[name]().fit(known, sample_weight=np.where(hidden, 0, train.weight))
    assert ranker.predict(train).tolist() == by_weight.predict(train).tolist()
    irrelevant = FORESTS[name]().fit(train, unjudged="irrelevant")
    assert irrelevant.predict(train).tolist() == FORESTS[name]().fit(known).predict(train).tolist()
    assert irrelevant.predict(train).tolist() != ranker.predict(train).tolist()


def test_data_without_any_label_are_refused(data):
    train = data[0]
    none = train.replace(y=np.full(train.n_docs, np.nan, np.float32))
    with pytest.raises(InputError, match="no document is judged"):
        pm.MART(n_trees=1).fit(none)
    some = unjudged(train, 0.5)
    with pytest.raises(InputError, match="all judged documents have weight 0"):
        pm.MART(n_trees=1).fit(some, sample_weight=np.isnan(some.y).astype(float))
    with pytest.raises(UnknownNameError, match="irrelevant"):
        pm.MART(n_trees=1).fit(some, unjudged="irelevant")


@pytest.mark.parametrize("name", FORESTS)
def test_rankings_of_documents_without_labels_are_judged_as_by_score(data, name):
    train, valid = unjudged(data[0], 0.3), unjudged(data[1], 0.5)
    for option in ({}, {"unjudged": "irrelevant"}):
        ranker = FORESTS[name]().fit(train, valid=valid, **option)
        best = kept(ranker)
        assert ranker.evals_["train"][best] == pytest.approx(ranker.score(train), abs=1e-12)
        assert ranker.evals_["valid"][best] == pytest.approx(ranker.score(valid), abs=1e-12)


def test_a_trace_shows_labels_as_they_are(data):
    train, trace = unjudged(data[0], 0.3), pm.Trace()
    FORESTS["mart"]().fit(train, valid=data[1], trace=trace)
    labels = trace.documents["label"].to_numpy()
    assert np.isnan(labels).any()
    assert trace.facts["labels"] == [np.nanmin(train.y), np.nanmax(train.y)]
