import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.combine.members.weighted import weighted, weighted_or_none


@pytest.fixture(scope="module")
def data():
    return pm.simulate(30, docs_per_query=10, n_features=5, seed=1)


@pytest.fixture(scope="module")
def forests(data):
    rankers = pm.LambdaMART(n_trees=4, n_leaves=4), pm.MART(n_trees=3, n_leaves=5)
    return [ranker.fit(data) for ranker in rankers]


def test_forests(data, forests):
    one = weighted(forests, [0.3, -2.0])
    expected = 0.3 * forests[0].predict(data) - 2.0 * forests[1].predict(data)
    assert one.score(data.X) == pytest.approx(expected, abs=1e-12)
    assert one.n_trees == 7


def test_weighted_sums(data):
    members = [pm.LinearRegression(normalize=None).fit(data.sample(n_queries=n)) for n in (15, 30)]
    one = weighted(members, [0.5, 2.0])
    expected = 0.5 * members[0].predict(data) + 2.0 * members[1].predict(data)
    assert one.score(data.X) == pytest.approx(expected, abs=1e-5)


def test_what_makes_no_one_model(data, forests):
    linear = pm.LinearRegression(normalize=None).fit(data)
    with pytest.raises(InputError, match="are Forest and WeightedSum, whose sum is no one model"):
        weighted([forests[0], linear], [1, 1])
    assert weighted_or_none([forests[0], linear], [1, 1]) is None
    other = pm.MART(n_trees=1).fit(data.replace(feature_names=list("abcde")))
    with pytest.raises(InputError, match="features of different names"):
        weighted([forests[0], other], [1, 1])
    assert np.isfinite(weighted(forests, [1, 1]).score(data.X)).all()
