import numpy as np
from sklearn.pipeline import FeatureUnion, make_pipeline

import pomona as pm


def test_ranks_are_added_in_a_union_before_a_ranker(routed):
    data = pm.simulate(30, docs_per_query=10, n_features=5, seed=1)
    union = FeatureUnion([("as they are", "passthrough"), ("ranks", pm.QueryRank())])
    pipeline = make_pipeline(union, pm.LinearRegression(normalize=None))
    pipeline.fit(data.X, data.y, qid=data.qid)
    assert pipeline[-1].n_features_in_ == 10
    assert pipeline.score(data.X, data.y, qid=data.qid) > 0.4
    order = np.random.default_rng(0).permutation(data.n_docs)
    scores = pipeline.predict(data.X, qid=data.qid)
    np.testing.assert_allclose(pipeline.predict(data.X[order], qid=data.qid[order]), scores[order])
