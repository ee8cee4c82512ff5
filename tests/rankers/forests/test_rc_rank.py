import numpy as np
import pytest

import pomona as pm
from pomona.rankers.forests.rc_rank import RCRank


@pytest.fixture(scope="module")
def train():
    return pm.simulate(60, docs_per_query=12, n_features=8, seed=1)


def test_trees_are_oblivious(train):
    forest = RCRank(n_trees=4, max_depth=3).fit(train).model_
    for t in range(4):
        nodes = slice(forest.node_ptr[t], forest.node_ptr[t + 1])
        splits = set(zip(forest.feature[nodes].tolist(), forest.threshold[nodes].tolist(), strict=True))
        assert len(splits) <= 3


def test_enhanced_begins_with_context_trees(train):
    ranker = RCRank(n_trees=20, enhanced=True).fit(train)
    assert ranker.model_.n_trees == 20
    assert abs(ranker.model_.base) < 1e-6  # deviations from the query's mean are 0 on average
    assert ranker.score(train) > 0.6
    assert not np.array_equal(ranker.predict(train), RCRank(n_trees=20).fit(train).predict(train))
