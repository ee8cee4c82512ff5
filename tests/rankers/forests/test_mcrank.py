import numpy as np
import pytest

import pomona as pm
from pomona.rankers.forests.mcrank import McRank


@pytest.fixture(scope="module")
def train():
    return pm.simulate(50, docs_per_query=12, n_features=8, seed=1)


def test_both_kinds(train):
    for kind, n_forests in (("ordinal", 4), ("multinomial", 5)):
        ranker = McRank(kind=kind, n_trees=10, min_docs=3).fit(train)
        assert len(ranker.models_) == n_forests
        assert ranker.score(train) > 0.6
        scores = ranker.predict(train)
        assert -0.5 < scores.min() <= scores.max() < 4.5  # an expected label


def test_two_classes_rank_alike_both_ways(train):
    binary = train.replace(y=(train.y > 0).astype(np.float32))
    one, other = (
        McRank(kind=kind, n_trees=5, min_docs=3).fit(binary).predict(binary)
        for kind in ("ordinal", "multinomial")
    )
    assert np.corrcoef(np.argsort(np.argsort(one)), np.argsort(np.argsort(other)))[0, 1] > 0.97


def test_refusals(train):
    for wrong in ({"kind": "x"}, {"target": "x"}):
        with pytest.raises(pm.PomonaError, match="unknown"):
            McRank(**wrong).fit(train)
    fitted = McRank(n_trees=2).fit(train)
    with pytest.raises(pm.PomonaError, match="knows other labels"):
        fitted.set_params(warm_start=True).fit(train.replace(y=(train.y > 0).astype(np.float32)))
    with pytest.raises(pm.PomonaError, match="same label"):
        McRank().fit(train.replace(y=np.zeros_like(train.y)))
