import numpy as np
import pytest

import pomona as pm
from pomona._registry import entries
from pomona.errors import PomonaError
from pomona.rankers.forests.lambdamart import LambdaMART


@pytest.fixture(scope="module")
def train():
    return pm.simulate(60, docs_per_query=12, n_features=10, seed=1)


@pytest.mark.parametrize("name", sorted(set(entries("measures")) - {"sr"}))
def test_towards_any_measure(name, train):
    ranker = LambdaMART(measure=f"{name}@5", n_trees=8, n_leaves=7, min_docs=3).fit(train)
    constant = pm.evaluate(train, np.zeros(train.n_docs), f"{name}@5", ties="expected")[f"{name}@5"]
    assert ranker.score(train) > constant


@pytest.mark.parametrize(
    "convention", ["letor3", "letor4", "mslr", "yahoo", "ranklib", "trec_eval", "sklearn"]
)
def test_under_any_convention(convention, train):
    train = train.take(np.diff(train.query_ptr) < 20)  # no query is as long as the default truncation
    ranker = LambdaMART(measure=f"{convention}:ndcg@5", n_trees=8, n_leaves=7, min_docs=3).fit(train)
    assert np.ptp(ranker.predict(train)) > 0


def test_towards_a_users_own_measure(train):
    class FirstLabel(pm.Measure):
        def of_query(self, labels):
            return float(labels[0])

    ranker = LambdaMART(measure=FirstLabel(), n_trees=15, n_leaves=7, min_docs=3).fit(train)
    assert ranker.score(train) > train.y.mean() + 0.5


@pytest.mark.parametrize("growth", ["leafwise", "oblivious"])
def test_both_growths(growth, train):
    ranker = LambdaMART(growth=growth, max_depth=4, n_trees=15, min_docs=3).fit(train)
    assert ranker.score(train) > 0.6


def test_labels_without_a_usable_pair_are_refused(train):
    same = train.replace(y=np.ones_like(train.y))
    with pytest.raises(PomonaError, match="pair"):
        LambdaMART().fit(same)


@pytest.mark.parametrize("name", ["gap", "nerr"])
def test_graded_and_normalized_measures_can_be_trained_for(name):
    data = pm.simulate(n_queries=40, n_features=8, seed=1)
    ranker = pm.LambdaMART(measure=f"{name}@10", n_trees=10, min_docs=5, seed=0).fit(data)
    learnt = pm.evaluate(data, ranker.predict(data), f"{name}@10")[f"{name}@10"]
    random = pm.RandomRanker(seed=0).fit(data).predict(data)
    assert learnt > pm.evaluate(data, random, f"{name}@10")[f"{name}@10"] + 0.1


@pytest.mark.parametrize("measure", ["ndcg@10", "ap", "err@5", "meanndcg@5"])
def test_noise_for_every_measure_is_the_same_however_rows_are_shuffled(measure, train):
    train = train.take(np.arange(20))
    make = LambdaMART(measure=measure, n_trees=4, n_leaves=5, min_docs=3, noise=0.5)
    model = make.fit(train).model_
    order = np.random.default_rng(1).permutation(train.n_docs)
    assert make.fit(train.X[order], train.y[order], qid=train.qid[order]).model_ == model
    assert make.set_params(seed=1).fit(train).model_ != model
    assert make.set_params(noise=0.0).fit(train).model_ != model


def test_a_trace_does_not_disturb_the_noise(train):
    make = LambdaMART(n_trees=4, n_leaves=5, min_docs=3, noise=0.5)
    plain = make.fit(train).model_
    assert make.fit(train, trace=pm.Trace([str(train.qids[0])])).model_ == plain


def test_lambdaloss(train):
    make = LambdaMART(n_trees=8, n_leaves=7, min_docs=3, weighting="lambdaloss")
    ranker = make.fit(train)
    assert ranker.score(train) > 0.6
    assert ranker.model_ != LambdaMART(n_trees=8, n_leaves=7, min_docs=3).fit(train).model_
    with pytest.raises(PomonaError, match="train towards ndcg"):
        make.set_params(measure="ap").fit(train)
