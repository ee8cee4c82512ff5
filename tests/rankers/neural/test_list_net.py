import pytest

import pomona as pm
from pomona.rankers.neural.list_net import ListNet


@pytest.mark.parametrize("k", [1, 2, 5])
def test_learns_at_every_k(k):
    train, fresh = (pm.simulate(50, docs_per_query=12, n_features=8, seed=seed) for seed in (1, 2))
    ranker = ListNet(k=k, n_samples=3, n_epochs=10, device="cpu").fit(train)
    assert ranker.score(fresh) > 0.55
    assert ranker.evals_["loss"][-1] < ranker.evals_["loss"][0]
