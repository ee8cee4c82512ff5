import numpy as np

import pomona as pm
from pomona.data.overlap import shared_query

DATA = pm.simulate(9, docs_per_query=5, n_features=3, seed=1)


def test_every_shared_query_is_found_in_whatever_order_its_documents_come():
    order = np.random.default_rng(0).permutation(DATA.n_docs)
    scattered = pm.Dataset(DATA.X[order], np.zeros(DATA.n_docs), DATA.qid[order].astype(str))
    for q, qid in enumerate(DATA.qids.tolist()):
        assert shared_query(DATA.take([q]), scattered) == shared_query(scattered, DATA.take([q])) == str(qid)


def test_the_same_id_of_other_documents_is_another_query():
    changed = DATA.X.copy()
    changed[DATA.query_ptr[:-1], 0] += 1
    assert shared_query(DATA, DATA.replace(X=changed)) is None
    assert shared_query(DATA, pm.simulate(9, docs_per_query=5, n_features=3, seed=2)) is None
    fewer = pm.Dataset(
        np.delete(DATA.X, DATA.query_ptr[:-1], axis=0),
        *(np.delete(column, DATA.query_ptr[:-1]) for column in (DATA.y, DATA.qid)),
    )
    assert shared_query(DATA, fewer) is None


def test_minus_zero_is_zero():
    assert shared_query(pm.Dataset([[0.0]], [0], [1]), pm.Dataset([[-0.0]], [1], [1])) == "1"
