import numpy as np
import pytest

import pomona as pm
from pomona.errors import UnknownParameterError
from pomona.rankers.forests.random_forest import RandomForest
from pomona.trees.grow_leafwise import LeafwiseGrower


@pytest.fixture(scope="module")
def train():
    return pm.simulate(60, docs_per_query=12, n_features=8, seed=1)


def test_scores_are_the_mean_of_the_bags(train):
    ranker = RandomForest(n_trees=6, n_leaves=15).fit(train)
    forest = ranker.model_
    bags = [
        forest.value[forest.leaf_ptr[t] : forest.leaf_ptr[t + 1]][forest.leaf_of(train.X)[:, t]] * 6
        for t in range(6)
    ]
    np.testing.assert_allclose(ranker.predict(train), forest.base + np.mean(bags, axis=0), rtol=1e-6)


def test_out_of_bag_is_below_training_and_above_chance(train):
    ranker = RandomForest(n_trees=30, n_leaves=31).fit(train)
    assert 0.35 < ranker.oob_score_ < ranker.score(train)


def test_bags_of_lambdamart(train):
    assert RandomForest(n_trees=10, trees_per_bag=3, objective="lambda").fit(train).score(train) > 0.5


def test_bags_have_as_many_queries_as_asked(train, monkeypatch):
    shares, grow = [], LeafwiseGrower.grow

    def watched(self, gradient, hessian, rows, rng):
        shares.append(len(rows) / train.n_docs)
        return grow(self, gradient, hessian, rows, rng)

    monkeypatch.setattr(LeafwiseGrower, "grow", watched)
    whole, small = (RandomForest(n_trees=8, query_fraction=share).fit(train) for share in (1.0, 0.2))
    # Drawn with replacement: 1 − exp(−share) of them are there.
    assert np.mean(shares[:8]) == pytest.approx(1 - np.exp(-1), abs=0.06)
    assert np.mean(shares[8:]) == pytest.approx(1 - np.exp(-0.2), abs=0.04)
    assert not np.array_equal(whole.predict(train), small.predict(train))


def test_refusals(train):
    with pytest.raises(pm.PomonaError, match="unknown objective"):
        RandomForest(objective="none").fit(train)
    with pytest.raises(pm.PomonaError, match="the one tree of a bag takes its whole step"):
        RandomForest(learning_rate=0.1).fit(train)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("early_stopping", 5, "none is best"),
        ("averaged", False, "none is best"),
        ("dropout", 0.1, "no earlier trees"),
        ("dropout_skip", 0.1, "no earlier trees"),
        ("top_fraction", 0.5, "at random"),
        ("rest_fraction", 0.5, "at random"),
        ("warm_start", True, "cannot go on"),
    ],
)
def test_what_would_do_nothing_is_no_parameter(name, value, reason):
    assert name not in RandomForest().get_params()
    with pytest.raises(UnknownParameterError, match=reason):
        RandomForest(**{name: value})
    with pytest.raises(UnknownParameterError, match=reason):
        RandomForest().set_params(**{name: value})


def test_bags_of_several_trees_take_smaller_steps(train):
    bags = {"n_trees": 2, "trees_per_bag": 3}
    slow, usual, same = (RandomForest(**bags, learning_rate=rate).fit(train) for rate in (0.01, None, 0.1))
    assert usual.model_ == same.model_
    assert np.ptp(slow.predict(train)) < np.ptp(usual.predict(train))


def test_trees_are_large_where_nothing_is_said(train):
    ranker = RandomForest(n_trees=2).fit(train)
    assert ranker.chosen_ == {"n_leaves": 100}
    assert ranker.model_ == RandomForest(n_trees=2, n_leaves=100).fit(train).model_
    assert RandomForest(n_trees=2, growth="oblivious").fit(train).chosen_ == {"max_depth": 4}
