import numpy as np
import pytest

import pomona as pm
from pomona.experiments.importance import LEAST, importance_of

DATA = pm.simulate(60, docs_per_query=10, n_features=8, seed=2)


@pytest.mark.parametrize("name", ["LambdaMART", "RankBoost", "LinearRegression", "RankSVM"])
def test_shares_sum_to_one_and_come_in_order(name):
    shares = importance_of(getattr(pm, name)().fit(DATA), DATA)
    assert set(shares) <= set(DATA.feature_names)
    assert sum(shares.values()) == pytest.approx(1, abs=8 * LEAST)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


def test_of_forests_it_is_the_gain():
    ranker = pm.MART(n_trees=10).fit(DATA)
    shares = importance_of(ranker, DATA)
    first = DATA.feature_names[int(np.argmax(ranker.importance("gain")))]
    assert next(iter(shares)) == first
    assert shares[first] == pytest.approx(
        ranker.importance("gain").max() / ranker.importance("gain").sum(), rel=1e-5
    )


def test_weights_count_as_much_as_their_feature_varies():
    X = np.column_stack([np.tile([0.0, 1.0], 50), np.tile([0.0, 0.0, 100.0, 100.0], 25)])
    train = pm.Dataset(X, X[:, 0] + 0.02 * X[:, 1], np.repeat(np.arange(25), 4))
    shares = importance_of(pm.LinearRegression(normalize=None, l2=0, target="label").fit(train), train)
    # y = x₁ + 0.02 x₂, whose deviations are 0.5 and 50: shares ½ : 1
    assert list(shares.values()) == pytest.approx([2 / 3, 1 / 3], abs=1e-3)


def test_rankers_that_do_not_tell():
    assert importance_of(pm.RandomRanker().fit(DATA), DATA) == {}
