import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import pomona as pm
from pomona.errors import InputError


def test_differences_by_hand():
    X = [[1.0, np.nan], [5.0, 2.0], [3.0, 4.0], [7.0, np.nan]]
    found = pm.QueryDifference().fit_transform(X, qid=["a", "b", "a", "b"])
    np.testing.assert_array_equal(found, [[-1.0, np.nan], [-1.0, 0.0], [1.0, 0.0], [1.0, np.nan]])


def test_rows_may_come_in_any_order():
    random = np.random.default_rng(0)
    X, qid = random.normal(size=(60, 3)), random.integers(0, 9, 60)
    order = random.permutation(60)
    one = pm.QueryDifference().fit_transform(X, qid=qid)
    np.testing.assert_allclose(pm.QueryDifference().fit_transform(X[order], qid=qid[order]), one[order])
    for query in np.unique(qid):
        np.testing.assert_allclose(one[qid == query].mean(axis=0), 0, atol=1e-12)


def test_a_pipeline_with_a_ranker_routes_the_query_ids(routed):
    data = pm.simulate(20, docs_per_query=10, n_features=4, seed=1)
    pipeline = make_pipeline(pm.QueryDifference(), pm.LambdaMART(n_trees=5))
    pipeline.fit(data.X, data.y, qid=data.qid)
    assert pipeline.score(data.X, data.y, qid=data.qid) > 0.4


def test_query_ids_are_needed():
    with pytest.raises(InputError, match="QueryDifference needs the query ids"):
        pm.QueryDifference().fit([[1.0]]).transform([[1.0]])
