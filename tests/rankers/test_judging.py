from dataclasses import replace

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.parse import measure
from pomona.rankers.judging import (
    best_and_worst,
    judged_rankings,
    mean_of,
    queries_that_count,
    with_fair_ties,
)


@pytest.fixture(scope="module")
def data():
    return pm.simulate(5, docs_per_query=6, n_features=3, seed=1)


def test_the_mean_is_what_evaluate_says(data):
    scores = np.random.default_rng(0).random(data.n_docs)
    assert mean_of(data, scores, measure("err@3")) == pm.evaluate(data, scores, "err@3")["err@3"]


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
    assert with_fair_ties(Own()).ties == "worst"


def test_queries_count_that_have_a_weight_and_a_worse_ranking():
    data = pm.Dataset([[0.0]] * 6, [1, 0, 2, 2, 0, 1], [1, 1, 2, 2, 3, 3])
    extremes = best_and_worst(data, measure("p@1"))
    assert extremes.tolist() == [[1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]
    assert queries_that_count(extremes, measure("p@1"), np.ones(3)).tolist() == [True, False, True]
    with pytest.raises(InputError, match=r"nothing to learn: no order of the documents .* would change p@1"):
        queries_that_count(extremes, measure("p@1"), np.array([0.0, 1.0, 0.0]))
