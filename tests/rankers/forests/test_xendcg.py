import numpy as np
import pytest

import pomona as pm
from pomona.errors import PomonaError


def test_learns_to_rank():
    train, test = (pm.simulate(60, docs_per_query=12, n_features=10, seed=seed) for seed in (1, 2))
    ranker = pm.XENDCG(n_trees=40, n_leaves=7, min_docs=5).fit(train)
    random = pm.RandomRanker().fit(train)
    assert ranker.score(test) > random.score(test) + 0.1


def test_labels_that_it_cannot_learn_from():
    data = pm.simulate(10, docs_per_query=8, n_features=4, seed=1)
    with pytest.raises(PomonaError, match="equal"):
        pm.XENDCG().fit(data.replace(y=np.ones_like(data.y)))
    with pytest.raises(PomonaError, match="labels between 0"):
        pm.XENDCG().fit(pm.Dataset.quiet(data.X, data.y - 1, data.qid))
