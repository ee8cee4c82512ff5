import pomona as pm
from pomona.rankers.neural.rank_net import RankNet


def test_sums_and_means_over_pairs_differ():
    train, fresh = (pm.simulate(50, docs_per_query=12, n_features=8, seed=seed) for seed in (1, 2))
    mean = RankNet(n_epochs=5, device="cpu").fit(train)
    total = RankNet(n_epochs=5, average=False, device="cpu").fit(train)
    assert (mean.predict(fresh) != total.predict(fresh)).any()
    assert total.evals_["loss"][0] > 5 * mean.evals_["loss"][0]
    assert min(mean.score(fresh), total.score(fresh)) > 0.5
