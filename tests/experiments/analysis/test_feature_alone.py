import itertools
from dataclasses import replace

import numpy as np
import pytest

import pomona as pm
from pomona.experiments.analysis.feature_alone import features_alone, random_value
from pomona.measures.base import Measure
from pomona.stats.bootstrap import interval


@pytest.fixture(scope="module")
def data():
    simulated = pm.simulate(30, docs_per_query=12, n_features=6, seed=2)
    X = simulated.X.copy()
    X[:, 1] = np.round(X[:, 1])
    X[::5, 2] = np.nan
    X[:, 3] *= -1
    return simulated.replace(X=X)


@pytest.mark.parametrize("text", ["ndcg@10", "ap", "err@5"])
def test_means_are_those_of_evaluate_with_expected_ties(data, text):
    table = features_alone(data, pm.measure(text)).table
    fair = replace(pm.measure(text), ties="expected")
    for feature, row in enumerate(table.to_dicts()):
        for side, sign in (("up", 1), ("down", -1)):
            scores = np.where(np.isnan(data.X[:, feature]), -1e30, sign * data.X[:, feature].astype(float))
            values = pm.evaluate(data, scores, fair, per_query=True)[str(fair)]
            assert row[side] == pytest.approx(values.mean(), abs=1e-12)
            if row["direction"] == side:
                assert row["alone"] == row[side] == max(row["up"], row["down"])
                assert (row["low"], row["high"]) == pytest.approx(interval(values), abs=1e-12)


def test_a_reversed_feature_has_the_other_direction(data):
    table = features_alone(data, pm.measure("ndcg@10")).table
    other = features_alone(data.replace(X=-data.X), pm.measure("ndcg@10")).table
    assert table["up"].to_list() == other["down"].to_list()
    assert set(zip(table["direction"], other["direction"], strict=True)) <= {("up", "down"), ("down", "up")}


def test_random_is_the_mean_over_all_orders():
    labels = [2, 0, 1, 0]
    data = pm.Dataset(np.zeros((4, 1)), labels, [1] * 4)
    orders = [pm.evaluate(data, scores, "ndcg@2")["ndcg@2"] for scores in itertools.permutations(range(4))]
    assert random_value(data, pm.measure("ndcg@2")) == pytest.approx(np.mean(orders))
    assert features_alone(data, pm.measure("ndcg@2")).table["alone"][0] == pytest.approx(np.mean(orders))


def test_random_of_a_measure_without_a_closed_form_is_estimated():
    class First(Measure):
        def of_query(self, labels):
            return float(labels[0])

    data = pm.Dataset(np.zeros((400, 1)), np.arange(400) % 2, np.arange(400) // 2)
    assert random_value(data, First()) == pytest.approx(0.5, abs=0.02)


def test_one_query_has_no_interval():
    data = pm.Dataset([[1.0], [2.0]], [0, 1], [1, 1])
    assert features_alone(data, pm.measure("ndcg")).table.select("alone", "low", "high").row(0) == (
        1.0,
        None,
        None,
    )
