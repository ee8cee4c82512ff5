import numpy as np
import pytest

import pomona as pm
from pomona.measures.parse import measure
from pomona.rankers.forests.training.portion import PeerPortion, Portion
from trees.fake_peers import run_peers


def test_means_are_over_all_queries_in_their_order():
    values = np.array([0.1, 0.7, 0.2, 0.9, 1e-17])
    wanted = np.array([True, False, True, True, True])

    def work(peers):
        mine = np.flatnonzero(np.array([0, 1, 1, 0, 1]) == peers.rank)
        portion = PeerPortion(peers, np.arange(len(mine) + 1) * 2, {"train": mine}, {"train": 5})
        assert portion.n_docs == 10
        assert portion.doc_numbers.tolist() == [d for q in mine for d in (2 * q, 2 * q + 1)]
        assert portion.here(values).tolist() == values[mine].tolist()
        means = portion.mean(values[mine], "train"), portion.mean(values[mine], "train", wanted=wanted[mine])
        return *means, portion.any(peers.rank == 1), portion.any(False)

    alone = Portion()
    expected = (alone.mean(values, "train"), alone.mean(values, "train", wanted=wanted), True, False)
    assert run_peers(2, work) == [expected] * 2
    assert expected[0] == ((((0.1 + 0.7) + 0.2) + 0.9) + 1e-17) / 5


def test_a_worker_without_validation_queries_has_no_value_to_add():
    data = pm.Dataset([[0.0], [1.0]], [0, 1], [1, 1])

    def work(peers):
        numbers = {"train": np.array([peers.rank]), "valid": np.arange(1 - peers.rank)}
        portion = PeerPortion(peers, np.array([0, 2]), numbers, {"train": 2, "valid": 1})
        held_out = data if peers.rank == 0 else data.take([])
        return portion.evaluator(held_out, measure("ndcg"), "valid").mean(held_out.X[:, 0].astype(float))

    assert run_peers(2, work) == [1.0, 1.0]


def test_an_objective_that_says_nothing_of_clusters_is_refused():
    from pomona.objectives.multinomial import MultinomialObjective

    with pytest.raises(pm.PomonaError, match="MultinomialObjective does not know"):
        MultinomialObjective([0, 1]).join(None)
