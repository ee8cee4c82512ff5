import pytest

import pomona as pm
from pomona.measures.base import Measure
from pomona.rankers.neural.lambda_rank import LambdaRank


class FirstTwo(Measure):
    """A user's own measure, which no closed form knows."""

    def of_query(self, labels):
        return float(labels[:2].sum())


@pytest.fixture(scope="module")
def parts():
    return [pm.simulate(50, docs_per_query=12, n_features=8, seed=seed) for seed in (1, 2)]


@pytest.mark.parametrize("text", ["ndcg", "letor4:ap", "p@5", "err@5", "rbp", "rr", "meanndcg@3", FirstTwo()])
def test_any_measure(text, parts):
    train, fresh = parts
    ranker = LambdaRank(measure=text, n_epochs=6, device="cpu")
    start = LambdaRank(measure=text, n_epochs=1, learning_rate=1e-9, device="cpu").fit(train).score(fresh)
    assert ranker.fit(train, valid=fresh).score(fresh) > start + 0.02
    assert "loss" not in ranker.evals_


def test_truncation_none_trains_exactly_towards_the_measure(parts):
    train, fresh = parts
    deep = LambdaRank(measure="ndcg@3", n_epochs=3, device="cpu").fit(train).predict(fresh)
    exact = LambdaRank(measure="ndcg@3", truncation=None, n_epochs=3, device="cpu").fit(train).predict(fresh)
    assert (deep != exact).any()


@pytest.mark.parametrize("measure", ["ap", "p@10", "ndcg", "ndcg@10"])
def test_the_experiment_of_yilmaz_and_robertson_runs(measure, parts):
    train, valid = parts
    ranker = LambdaRank(
        measure=measure,
        valid_measure="p@10",
        hidden=10,
        activation="tanh",
        dropout=0.0,
        truncation=None,
        normalize=False,
        learning_rate=(0.001, 0.01),
        n_epochs=5,
        early_stopping=None,
        restart_after=2,
    ).fit(train, valid=valid)
    assert max(ranker.evals_["valid"]) == pm.evaluate(valid, ranker.predict(valid), "p@10")["p@10"]
