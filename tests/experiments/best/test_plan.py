import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.experiments.best.plan import JUDGE, LEARN, STOP, Plan, PlanSource


@pytest.fixture(scope="module")
def train():
    return pm.simulate(23, docs_per_query=6, n_features=3, seed=1)


def test_folds_of_queries(train):
    plan = Plan.of(train, None, 5, seed=0)
    assert plan.roles.shape == (6, 23)
    judged, stopping = (plan.roles[:5] == role for role in (JUDGE, STOP))
    assert (judged.sum(axis=0) == 1).all()  # each query judges once,
    assert (stopping.sum(axis=0) == 1).all()  # stops once,
    assert ((plan.roles[:5] == LEARN).sum(axis=0) == 3).all()  # and teaches three times
    assert sorted(plan.judged(list(range(5)))) == list(range(23))
    assert (plan.roles[plan.final] != JUDGE).all()
    assert (plan.roles[plan.final] == STOP).sum() == judged[0].sum()


def test_halves_of_the_validation_queries(train):
    valid = pm.simulate(7, docs_per_query=6, n_features=3, seed=2)
    plan = Plan.of(train, valid, 5, seed=0)
    assert plan.n_folds == 2
    assert (plan.roles[:, :23] == LEARN).all()
    assert (plan.roles[:2, 23:].sum(axis=0) == STOP + JUDGE).all()
    assert (plan.roles[plan.final, 23:] == STOP).all()
    assert plan.data.n_queries == 30
    assert np.array_equal(plan.data.X, np.concatenate([train.X, valid.X]))


def test_queries_that_teach_are_spread_over_the_folds():
    labels = np.zeros((20, 2))
    labels[:5, 0] = 1  # only five of twenty have something to learn from
    data = pm.Dataset(np.ones((40, 1)), labels.ravel(), np.repeat(np.arange(20), 2))
    plan = Plan.of(data, None, 5, seed=3)
    assert ((plan.roles[:5, :5] == JUDGE).sum(axis=1) == 1).all()


def test_what_processes_read(train, tmp_path):
    ids = [f"d{i}" for i in range(train.n_docs)]
    data = pm.Dataset(train.X, train.y, [f"q{q}" for q in train.qid], doc_ids=ids, feature_names=list("abc"))
    plan = Plan.of(data, None, 5, seed=0)
    path = plan.write(tmp_path)
    for fold in range(6):
        source = PlanSource("best", fold, path=str(path), digest=plan.digest)
        (learnt, stopping, judged), name = source.load_with_digest()
        assert name == source.data_digest
        assert np.array_equal(learnt.X, data.take(plan.roles[fold] == LEARN).X)
        assert list(learnt.feature_names) == list("abc")
        assert list(learnt.doc_ids) == list(data.take(plan.roles[fold] == LEARN).doc_ids)
        if fold < 5:
            assert not set(judged.qids) & (set(learnt.qids) | set(stopping.qids))
    part = PlanSource("best", 0, path=str(path), digest=plan.digest, share=0.5)
    assert part.load_with_digest()[0].train.n_queries == round(0.5 * (plan.roles[0] == LEARN).sum())


def test_the_digest_knows_data_and_roles(train):
    one = Plan.of(train, None, 5, seed=0).digest
    assert Plan.of(train, None, 5, seed=0).digest == one
    assert Plan.of(train, None, 5, seed=1).digest != one
    assert Plan.of(train.replace(y=train.y + 1), None, 5, seed=0).digest != one


def test_too_few_queries(train):
    with pytest.raises(InputError, match="found 2 queries for 2 folds, expected 3 at least"):
        Plan.of(train.take([0, 1]), None, 5, seed=0)
    assert Plan.of(train.take([0, 1, 2]), None, 5, seed=0).n_folds == 3
    with pytest.raises(InputError, match="found 1 validation query, expected 2 at least"):
        Plan.of(train, train.take([0]), 5, seed=0)
