import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.baselines.random_ranker import RandomRanker
from pomona.rankers.loading import load_model


@pytest.fixture(scope="module")
def data():
    return pm.simulate(80, docs_per_query=20, n_features=12, seed=1)


@pytest.fixture(scope="module")
def ranker(data):
    return RandomRanker().fit(data)


def test_scores_are_uniform(data, ranker):
    scores = ranker.predict(data)
    assert stats.kstest(scores, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(scores, data.y)[0, 1]) < 0.1
    assert abs(np.corrcoef(scores[1:], scores[:-1])[0, 1]) < 0.1


def test_a_document_keeps_its_score_in_any_order_and_company(data, ranker):
    scores = ranker.predict(data)
    order = np.random.default_rng(0).permutation(data.n_docs)
    assert (ranker.predict(data.X[order], qid=data.qid[order]) == scores[order]).all()
    few = np.flatnonzero(np.arange(data.n_docs) % 3 == 0)
    assert (ranker.predict(data.X[few], qid=data.qid[few]) == scores[few]).all()
    assert (ranker.predict(data.X, qid=[str(qid) for qid in data.qid]) == scores).all()


def test_equal_documents_do_not_tie():
    ranker = RandomRanker().fit(np.zeros((2, 3)), [0, 1], qid=[1, 1])
    X = np.array([[1, 2, 0.0], [1, 2, -0.0], [1, 2, 0.0]])
    scores = ranker.predict(X, qid=[7, 7, 8])
    assert len(set(scores)) == 3  # nor do they across queries
    alone = ranker.predict(X[:1], qid=[7])
    assert alone[0] == scores[0]
    quiet, other = np.array([[0x7FC00000, 0x7FC00001]], np.uint32).view(np.float32)[0]  # both are NaN
    assert ranker.predict([[quiet, 0, 0]], qid=[1]) == ranker.predict([[other, 0, 0]], qid=[1])


def test_a_seed_is_an_order(data, ranker):
    assert (RandomRanker(seed=0).fit(data).predict(data) == ranker.predict(data)).all()
    other = RandomRanker(seed=1).fit(data).predict(data)
    assert abs(np.corrcoef(other, ranker.predict(data))[0, 1]) < 0.1


def test_the_measure_is_that_of_chance(data):
    values = [RandomRanker(seed=seed).fit(data).score(data) for seed in range(30)]
    tied = pm.measure("ndcg(ties=expected)@10")
    expected = pm.evaluate(data, np.zeros(data.n_docs), tied)[str(tied)]
    assert abs(np.mean(values) - expected) < 4 * np.std(values) / np.sqrt(30)


def test_save_and_load(data, tmp_path):
    RandomRanker(seed=5).fit(data).save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.seed == 5
    assert (loaded.predict(data) == RandomRanker(seed=5).fit(data).predict(data)).all()


def test_queries_are_needed(data, ranker):
    with pytest.raises(InputError, match="query ids qid"):
        ranker.predict(data.X)
    with pytest.raises(InputError, match="X has 2 features"):
        ranker.predict(np.zeros((3, 2)), qid=[1, 1, 1])


def test_categories_are_no_hindrance():
    frame = pd.DataFrame({"label": [0, 1], "qid": [1, 1], "country": ["NA", "DE"]})
    data = pm.Dataset.from_frame(frame, label="label", qid="qid")
    fitted = RandomRanker().fit(data)
    few = pm.Dataset.from_frame(
        frame[1:], label="label", qid="qid"
    )  # in which DE is the first of the categories, not the second
    assert fitted.predict(few) == fitted.predict(data)[1]
