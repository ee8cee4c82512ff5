import dataclasses

import numpy as np
import pytest

import pomona as pm
from pomona._jit import threads
from pomona.errors import InputError
from pomona.rankers import feature_values
from pomona.rankers.baselines.best_feature import BestFeature


@pytest.fixture(scope="module")
def train():
    return pm.simulate(40, docs_per_query=12, n_features=8, seed=1)


def test_a_feature_that_is_the_label_is_found(train):
    for sign in (1, -1):
        told = train.replace(X=np.column_stack([train.X, sign * train.y, sign * train.y]).astype(np.float32))
        fitted = BestFeature().fit(told)
        assert (fitted.feature_, fitted.direction_, fitted.feature_name_) == (8, sign, "f9")
        assert fitted.score(told) == pm.IdealRanker().fit(told).score(told)
        assert fitted.predict(told).tolist() == told.y.tolist()


@pytest.mark.parametrize("measure", ["ndcg@3", "err@20", "ap", "letor4:ndcg@10", "trec_eval:ndcg@5", "p@3"])
def test_every_feature_is_judged_both_ways_with_ties_averaged(train, measure, monkeypatch):
    coarse = train.replace(X=np.round(train.X / np.abs(train.X).max(axis=0) * 4))
    monkeypatch.setattr(feature_values, "_BATCH", 3 * train.n_docs)  # three features at a time
    fitted = BestFeature(measure=measure).fit(coarse)
    judged = dataclasses.replace(pm.measure(measure), ties="expected")
    means = [
        [pm.evaluate(coarse, sign * column, judged)[str(judged)] for sign in (1, -1)]
        for column in coarse.X.T.astype(float)
    ]
    np.testing.assert_allclose(fitted.feature_values_, means, rtol=1e-12)
    chosen = means[fitted.feature_][0 if fitted.direction_ == 1 else 1]
    assert chosen == pytest.approx(np.max(means))


def test_input_order_does_not_make_a_feature_good():
    y = np.tile([2, 1, 0, 0], 5)  # files are often sorted by label
    useful = np.tile([1.0, 2.0, 0.0, 0.0], 5)
    fitted = BestFeature().fit(np.column_stack([np.zeros(20), useful]), y, qid=np.repeat(np.arange(5), 4))
    assert fitted.feature_ == 1


def test_reversed_features_can_be_ruled_out(train):
    fallen = train.replace(X=-train.X)
    assert BestFeature().fit(fallen).direction_ == -BestFeature().fit(train).direction_
    rising = BestFeature(allow_reversed=False).fit(fallen)
    assert rising.direction_ == 1
    assert rising.feature_ == rising.feature_values_[:, 0].argmax()


def test_undefined_values_rank_with_the_last():
    X = np.array([[3.0], [np.nan], [1.0], [2.0]])
    fitted = BestFeature().fit(X, [2, 0, 0, 1], qid=[1, 1, 1, 1])
    assert fitted.predict(X).tolist() == [3, 1, 1, 2]
    reversed_ = BestFeature().fit(-X, [2, 0, 0, 1], qid=[1, 1, 1, 1])
    assert reversed_.predict(-X).tolist() == [3, 1, 1, 2]
    assert reversed_.predict([[np.inf]])[0] < -1e38
    empty = BestFeature().fit(np.full((4, 1), np.nan), [2, 0, 0, 1], qid=[1, 1, 1, 1])
    assert empty.predict(X[1:2]).tolist() == [0]


def test_weights_are_of_queries():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y, qid = [1, 0, 1, 0], [1, 1, 2, 2]
    for weights, feature in (([3, 1, 1, 1], 0), ([1, 1, 3, 1], 1)):
        ranker = BestFeature(allow_reversed=False)
        with pytest.warns(UserWarning, match="uses the mean weight of each query's documents"):
            assert ranker.fit(X, y, qid=qid, sample_weight=weights).feature_ == feature


def test_same_values_for_any_number_of_threads(train):
    values = []
    for count in (1, 3):
        with threads(count):
            values.append(BestFeature().fit(train).feature_values_)
    assert (values[0] == values[1]).all()


def test_refusals():
    with pytest.raises(InputError, match="found 0 feature"):
        BestFeature().fit(np.zeros((2, 0)), [0, 1], qid=[1, 1])
