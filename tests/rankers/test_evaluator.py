import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pomona as pm
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.parse import measure
from pomona.rankers.evaluator import (
    RankingEvaluator,
    best_and_worst,
    judged_rankings,
    queries_that_count,
    with_fair_ties,
)

MEASURES = [
    *(
        "ndcg@10",
        "ndcg@1",
        "ndcg@64",
        "ndcg@65",
        "ndcg",
        "dcg@3",
        "p@5",
        "rbp@7",
        "wta",
        "sr4",
        "ap",
        "err@5",
    ),
    *("letor4:ndcg@3", "yahoo:ndcg@3", "ranklib:ndcg@3", "trec_eval:ndcg@3", "ndcg(ties=stable)@3"),
    *("ndcg(ties=stable)@64", "letor4:ndcg(ties=expected)@10", "p(ties=stable)@2"),
    *("ndcg(ties=worst)@3", "ndcg(ties=best)@3", "recall@3", "lightgbm:ndcg@3", "meanndcg"),
]


def documents(sizes, random):
    n = sum(sizes)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    ids = [f"d{i}" for i in random.permutation(n)]
    return Dataset(np.zeros((n, 1)), random.integers(0, 4, n) * random.integers(0, 2, n), qid, doc_ids=ids)


@pytest.mark.parametrize("text", MEASURES)
def test_rounds_of_learning_are_judged_as_by_evaluate(text):
    """Scores that move a little, stay, tie, and turn round; also more queries than a thread takes at once."""
    random = np.random.default_rng(0)
    data = documents([1, 2, 9, 100, 30, *random.integers(1, 8, 1200)], random)
    evaluator = RankingEvaluator(data, pm.measure(text))
    scores = random.normal(size=data.n_docs)
    moved, nothing = scores + 0.1 * random.normal(size=data.n_docs), np.zeros(data.n_docs)
    for now in (nothing, scores, scores, moved, np.round(scores), -scores, nothing):
        assert evaluator.mean(now) == pm.evaluate(data, now, text)[text]
        in_queries = pm.evaluate(data, now, text, per_query=True)[text]
        np.testing.assert_array_equal(evaluator.values(now), in_queries)


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(-3, 3)), min_size=1, max_size=6), min_size=1)
)
def test_ties_stand_in_input_order_or_are_averaged(queries):
    labels, scores = (np.array([pair[i] for query in queries for pair in query], float) for i in (0, 1))
    qid = np.repeat(np.arange(len(queries)), [len(query) for query in queries])
    data = Dataset(np.zeros((len(qid), 1)), labels, qid)
    for text in ("ndcg@3", "ndcg(ties=stable)@3", "ap"):
        evaluator = RankingEvaluator(data, pm.measure(text))
        for now in (scores, -scores, scores):
            assert evaluator.mean(now) == pm.evaluate(data, now, text)[text]


def test_a_measure_of_a_user():
    class Half(Measure):
        def of_query(self, labels):
            return float(labels[0]) / 2

    data = documents([3, 4], np.random.default_rng(1))
    scores = np.arange(7.0)
    assert RankingEvaluator(data, Half()).mean(scores) == pm.evaluate(data, scores, Half())[str(Half())]


@pytest.fixture(scope="module")
def data():
    return pm.simulate(5, docs_per_query=6, n_features=3, seed=1)


def test_the_mean_is_what_evaluate_says(data):
    scores = np.random.default_rng(0).random(data.n_docs)
    assert (
        RankingEvaluator(data, measure("err@3")).mean(scores) == pm.evaluate(data, scores, "err@3")["err@3"]
    )


def test_many_rankings_are_judged_as_one_by_one(data):
    scores = np.random.default_rng(0).random((4, data.n_docs))
    together = judged_rankings(data, scores, measure("ap"))
    for row, values in zip(scores, together, strict=True):
        assert values.tolist() == pm.evaluate(data, row, "ap", per_query=True)["ap"].tolist()


def test_ties_cannot_tell():
    class Own(Measure):
        def of_query(self, labels):
            return float(labels[0])

    assert with_fair_ties(measure("ndcg@3")).ties == "expected"
    assert with_fair_ties(replace(measure("ndcg@3"), ties="best")).ties == "best"
    assert with_fair_ties(Own()).ties == "expected"


def test_ties_of_a_users_measure_stand_in_one_order_while_training():
    """Of four tied documents the relevant one is first in a quarter of the queries, in any order of rows."""

    class First(Measure):
        def of_query(self, labels):
            return float(labels[0])

    random = np.random.default_rng(0)
    labels, qid = np.tile([1, 0, 0, 0], 400), np.repeat(np.arange(400), 4)
    X, shuffle = random.random((1600, 2)), random.permutation(1600)
    data = pm.Dataset(X, labels, qid)
    other = pm.Dataset(X[shuffle], labels[shuffle], qid[shuffle]).gathered()
    evaluators = [RankingEvaluator(one, First()) for one in (data, other)]
    values = [one.mean(np.zeros(1600)) for one in evaluators]
    assert values[0] == values[1] == evaluators[0].mean(np.ones(1600))
    assert values[0] == pytest.approx(1 / 4, abs=4 * math.sqrt(1 / 4 * 3 / 4 / 400))
    assert judged_rankings(data, np.zeros((2, 1600)), First())[1].mean() == pytest.approx(values[0])
    assert pm.evaluate(data, np.zeros(1600), First())["First"] == 1 / 4


def test_queries_count_that_have_a_weight_and_a_worse_ranking():
    data = pm.Dataset([[0.0]] * 6, [1, 0, 2, 2, 0, 1], [1, 1, 2, 2, 3, 3])
    extremes = best_and_worst(data, measure("p@1"))
    assert extremes.tolist() == [[1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]
    assert queries_that_count(extremes, measure("p@1"), np.ones(3)).tolist() == [True, False, True]
    with pytest.raises(InputError, match=r"nothing to learn: no order of the documents .* would change p@1"):
        queries_that_count(extremes, measure("p@1"), np.array([0.0, 1.0, 0.0]))
