"""Whole trainings by a team of threads: sizes at which every step of a tree is cut into several tasks."""

import threading

import pytest
from sklearn.base import clone

import pomona as pm
from pomona import _team
from pomona._jit import threads

TRAIN = pm.simulate(400, docs_per_query=120, n_features=12, seed=1)
VALID = pm.simulate(50, docs_per_query=20, n_features=12, seed=2)
RANKERS = {
    "leaf-wise": pm.LambdaMART(n_trees=4, growth="leafwise", n_leaves=31),
    "oblivious, noisy, judged by AP": pm.LambdaMART(n_trees=3, growth="oblivious", noise=0.3, measure="ap"),
    "bags of queries": pm.MART(n_trees=3, query_fraction=0.6, feature_fraction_bynode=0.7),
    "random forest": pm.RandomForest(n_trees=2),
}


def bits(ranker):
    return b"".join(array.tobytes() for array in ranker.fit(TRAIN, valid=VALID).model_.arrays().values())


@pytest.mark.parametrize("kind", RANKERS)
def test_the_same_bits_for_any_number_of_threads(kind):
    found = set()
    for count in (1, 2, 7):  # more than most machines for tests have cores
        with threads(count):
            found.add(bits(RANKERS[kind]))
    assert len(found) == 1
    assert _team._team.count == 7


def test_several_trainings_at_once_give_the_same_bits():
    expected, found = bits(RANKERS["leaf-wise"]), []
    with threads(3):
        at_once = [
            threading.Thread(target=lambda: found.append(bits(clone(RANKERS["leaf-wise"])))) for _ in range(3)
        ]
        for one in at_once:
            one.start()
        for one in at_once:
            one.join()
    assert found == [expected] * 3


def test_members_that_leave_in_mid_training_change_nothing(monkeypatch):
    expected, n_asked, team_of = bits(RANKERS["leaf-wise"]), 0, _team._team_of

    def ended(count):
        nonlocal n_asked
        n_asked += 1
        team = team_of(count)
        if n_asked == 10:
            team.end()
        return team

    monkeypatch.setattr(_team, "_team", None)  # a team of this test's own
    monkeypatch.setattr(_team, "_team_of", ended)
    with threads(3):
        assert bits(RANKERS["leaf-wise"]) == expected
    assert n_asked > 20
