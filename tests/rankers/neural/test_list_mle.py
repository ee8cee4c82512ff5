import numpy as np

import pomona as pm
from pomona.rankers.neural.list_mle import ListMLE


def test_the_order_of_rows_teaches_nothing():
    # Labels fall with the row, and no feature tells anything: an order taken from the file would not help.
    random = np.random.default_rng(0)
    labels = np.tile(np.repeat([1, 0], 6), 40)
    X = random.standard_normal((len(labels), 3))
    ranker = ListMLE(n_epochs=5, hidden=0, device="cpu").fit(X, labels, qid=np.repeat(np.arange(40), 12))
    assert np.abs(ranker.predict(X)).max() < 1.5


def test_the_first_places_alone():
    train, fresh = (pm.simulate(50, docs_per_query=12, n_features=8, seed=seed) for seed in (1, 2))
    ranker = ListMLE(k=3, n_epochs=10, device="cpu").fit(train)
    whole = ListMLE(n_epochs=10, device="cpu").fit(train)
    assert ranker.evals_["loss"][0] < whole.evals_["loss"][0]
    assert ranker.score(fresh) > 0.55
