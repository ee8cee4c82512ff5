import copy

import numpy as np
import pytest

import pomona as pm

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def cluster():
    """Five workers in this process: what processes add is tried with the kill of one."""
    with distributed.LocalCluster(
        n_workers=5, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tcp"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def data():
    return pm.simulate(23, docs_per_query=12, n_features=5, seed=4), pm.simulate(
        9, docs_per_query=8, n_features=5, seed=5
    )


RANKER = pm.LambdaMART(n_trees=5, n_leaves=5, min_docs=3, query_fraction=0.8)


def bits(ranker):
    return {name: array.tobytes() for name, array in ranker.get_state()[1].items()}


def test_a_dataset_of_the_client(data, client):
    train, valid = data
    weights = np.random.default_rng(1).random(train.n_docs)
    expected = copy.copy(RANKER).fit(train, valid=valid, sample_weight=weights)
    found = copy.copy(RANKER).fit(train, valid=valid, sample_weight=weights, client=client)
    assert bits(found) == bits(expected)
    assert found.evals_ == expected.evals_
    assert found.best_iteration_ == expected.best_iteration_
    assert found.feature_names_ == expected.feature_names_
    assert found.predict(valid).tolist() == expected.predict(valid).tolist()
