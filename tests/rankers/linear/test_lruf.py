import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.linear.lruf import LRUF


@pytest.fixture(scope="module")
def data():
    return pm.simulate(40, docs_per_query=15, n_features=8, seed=1)


def by_query(data, values):
    return np.split(values, data.query_ptr[1:-1])


def many(labels, n_queries):
    """The same query over and over."""
    n = len(labels)
    return pm.Dataset(
        np.random.default_rng(0).random((n * n_queries, 1)), np.tile(labels, n_queries), _ids(n, n_queries)
    )


def _ids(n, n_queries):
    return np.repeat(np.arange(n_queries), n)


def test_probabilities_of_a_query_sum_to_1(data):
    ranker = LRUF().fit(data)
    for probability, labels in zip(by_query(data, ranker.probability_), by_query(data, data.y), strict=True):
        assert probability.sum() == pytest.approx(1)
        assert (probability >= 0).all()
        if not labels.any():  # nothing to reward
            assert probability == pytest.approx(np.full(len(labels), 1 / len(labels)))


def test_expected_probability_of_the_relevant_never_falls():
    """Reward-inaction automata are absolutely expedient."""
    data = many([1, 0, 0, 2, 0, 0, 0, 0], 400)
    means = []
    for n_rounds in (1, 2, 4, 8, 16, 32):
        probability = LRUF(n_shown=3, n_rounds=n_rounds, certainty=0.999).fit(data).probability_
        means.append(probability[data.y > 0].sum() / data.n_queries)
    assert means[0] > 2 / 8
    assert (np.diff(means) > 0).all()


def test_probabilities_are_in_the_order_of_the_rows():
    data = many([1, 0, 0], 9)
    order = np.random.default_rng(1).permutation(data.n_docs)
    scattered = LRUF().fit(data.X[order], data.y[order], data.qid[order]).probability_
    assert scattered.tolist() == LRUF().fit(data).probability_[order].tolist()


def test_only_relevant_documents_are_rewarded():
    data = many([1, 0, 0], 50)
    ranker = LRUF(n_shown=1, n_rounds=1, learning_rate=0.3).fit(data)
    rewarded = 1 / 3 + 0.3 * (1 - 1 / 3)
    for probability in by_query(data, ranker.probability_):
        drawn = probability[0] > 0.4
        expected = [rewarded, 0.7 / 3, 0.7 / 3] if drawn else [1 / 3] * 3
        assert probability == pytest.approx(expected)
    shares = np.mean([probability[0] > 0.4 for probability in by_query(data, ranker.probability_)])
    assert 0.1 < shares < 0.6  # drawn with probability 1/3


def test_a_query_is_done_when_it_is_certain():
    data = many([1, 0, 0, 0, 0], 30)
    ranker = LRUF(n_shown=1, n_rounds=100_000, certainty=0.9, learning_rate=0.2).fit(data)
    best = np.array([probability.max() for probability in by_query(data, ranker.probability_)])
    assert (best >= 0.9).all()
    assert (best <= 0.9 + 0.2 * 0.1 + 1e-9).all()  # the step before was not yet certain


def test_it_learns_which_features_matter(data):
    ranker = LRUF().fit(data)
    random = np.random.default_rng(0).random(data.n_docs)
    assert ranker.score(data) > pm.evaluate(data, random, "ndcg@10")["ndcg@10"] + 0.1


def test_the_validation_queries_choose_the_penalty(data):
    valid = pm.simulate(20, docs_per_query=10, n_features=8, seed=2)
    ranker = LRUF().fit(data, valid=valid)
    assert ranker.l2_ == (1.0, 0.1, 0.01, 1e-3, 1e-4)[int(np.argmax(ranker.evals_["valid"]))]
    assert ranker.score(valid) == pytest.approx(max(ranker.evals_["valid"]))
    assert (LRUF(l2=ranker.l2_).fit(data).coef_ == ranker.coef_).all()
    assert LRUF().fit(data).l2_ == 0.01


def test_seeds(data):
    assert (LRUF(seed=1).fit(data).coef_ == LRUF(seed=1).fit(data).coef_).all()
    assert (LRUF(seed=1).fit(data).coef_ != LRUF(seed=2).fit(data).coef_).any()


def test_odd_data():
    with pytest.raises(InputError, match="no query that counts has a relevant document"):
        LRUF().fit([[1.0], [2.0]], [0, 0], qid=[1, 1])
    with pytest.warns(UserWarning, match="score alike"):
        assert LRUF().fit([[1.0], [1.0], [2.0]], [1, 0, 1], qid=[1, 1, 2]).coef_.tolist() == [0.0]
    all_relevant = LRUF().fit([[1.0], [2.0], [3.0]], [1, 1, 1], qid=[1, 1, 1])
    assert np.isfinite(all_relevant.coef_).all()


def test_refusals(data):
    for wrong, message in (
        ({"n_shown": 0}, "n_shown must be an integer of at least 1"),
        ({"n_rounds": 0}, "n_rounds must be an integer of at least 1"),
        ({"learning_rate": 1.0}, "learning_rate must be a number above 0 and below 1"),
        ({"certainty": 0.0}, "certainty must be a number above 0 and below 1"),
        ({"l2": -1.0}, "l2 must be a number of at least 0"),
    ):
        with pytest.raises(InputError, match=message):
            LRUF(**wrong).fit(data)
