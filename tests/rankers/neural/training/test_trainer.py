import numpy as np
import pytest
import torch

import pomona as pm
from pomona._jit import threads
from pomona.errors import InputError
from pomona.rankers.neural.lambda_rank import LambdaRank
from pomona.rankers.neural.list_mle import ListMLE
from pomona.rankers.neural.list_net import ListNet
from pomona.rankers.neural.rank_net import RankNet
from pomona.rankers.neural.soft_rank import SoftRank
from pomona.rankers.neural.training import trajectory
from pomona.rankers.neural.training.trainer import device_named

RANKERS = [RankNet, LambdaRank, ListNet, ListMLE, SoftRank]


@pytest.fixture(scope="module")
def data():
    return pm.simulate(60, docs_per_query=15, n_features=10, seed=1)


@pytest.fixture(scope="module")
def fresh():
    return pm.simulate(40, docs_per_query=15, n_features=10, seed=2)


def test_pieces_and_threads_change_nothing(data, monkeypatch):
    monkeypatch.setattr(trajectory, "_WORK_OF_PIECE", 0)
    big = pm.simulate(40, docs_per_query=100, n_features=10, seed=1)  # batches of more than two pieces
    found = []
    for count in (1, 2, 3):
        with threads(count):
            found.append(ListNet(n_epochs=3, dropout=0.2, device="cpu").fit(big).predict(data))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_pytorch_is_left_as_it_was(data):
    before, state = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(2)
    try:
        RankNet(n_epochs=2, device="cpu").fit(data)
        assert torch.get_num_threads() == 2
        assert (torch.get_rng_state() == state).all()
    finally:
        torch.set_num_threads(before)


def test_what_pytorch_was_doing_does_not_matter(data):
    first = ListMLE(n_epochs=3, device="cpu").fit(data).predict(data)
    torch.manual_seed(77)
    assert (ListMLE(n_epochs=3, device="cpu").fit(data).predict(data) == first).all()


def test_the_best_iteration_is_kept(data, fresh):
    ranker = RankNet(n_epochs=15, early_stopping=None, learning_rate=0.03, device="cpu").fit(
        data, valid=fresh
    )
    curve = ranker.evals_["valid"]
    assert len(curve) == len(ranker.evals_["train"]) == len(ranker.evals_["loss"]) == 15
    assert ranker.best_iteration_ == int(np.argmax(curve)) + 1
    assert ranker.score(fresh) == max(curve)
    assert ranker.evals_["loss"][-1] < ranker.evals_["loss"][0]
    assert ranker.evals_["train"][-1] > ranker.evals_["train"][0]


def test_early_stopping(data, fresh):
    ranker = RankNet(n_epochs=500, early_stopping=3, learning_rate=0.03, device="cpu").fit(data, valid=fresh)
    assert len(ranker.evals_["valid"]) == ranker.best_iteration_ + 3 < 500


def test_averaged_weights(data, monkeypatch):
    """By hand: the mean of the first epoch's steps; then each of an epoch's n steps counts 1 / n."""

    class Noted(trajectory.Descent):
        def step(self, gradient, learning_rate):
            super().step(gradient, learning_rate)
            visited.append(self._parameters[0].numpy().copy())

    monkeypatch.setattr(trajectory, "Descent", Noted)
    options = {"n_epochs": 2, "batch_size": 20, "dropout": 0.0, "device": "cpu"}
    visited = []
    found = RankNet(**options).fit(data).model_.parameters
    assert len(visited) == 6
    expected = np.mean(visited[:3], axis=0)
    for parameters in visited[3:]:
        expected += (parameters - expected) / 3
    assert found == pytest.approx(expected, abs=1e-6)
    visited = []
    assert (RankNet(**options, averaged=False).fit(data).model_.parameters == visited[-1]).all()


def test_valid_measure_picks_the_epoch(data, fresh):
    ranker = LambdaRank(
        measure="ap", valid_measure="letor4:p@3", n_epochs=8, early_stopping=None, device="cpu"
    )
    ranker.fit(data, valid=fresh)
    value = pm.evaluate(fresh, ranker.predict(fresh), "letor4:p@3")["letor4:p@3"]
    assert value == pytest.approx(max(ranker.evals_["valid"]))
    assert ranker.score(fresh) == pm.evaluate(fresh, ranker.predict(fresh), "ap")["ap"]


def test_the_measure_of_validation_is_also_recorded_on_training_data(data, fresh):
    options = {"measure": "ap", "n_epochs": 3, "early_stopping": None, "device": "cpu"}
    both = LambdaRank(**options, valid_measure="p@3").fit(data, valid=fresh).evals_
    assert both.keys() == {"train", "valid", "train_valid_measure"}
    one = LambdaRank(**{**options, "measure": "p@3"}).fit(data, valid=fresh).evals_
    assert one.keys() == {"train", "valid"}
    # The first epoch begins with the same weights, and p@3 of the scores as they were met is p@3.
    assert both["train_valid_measure"][0] == pytest.approx(one["train"][0], abs=0.05)
    assert both["train_valid_measure"] != both["train"]


def test_restarts(data, fresh):
    slow = {"n_epochs": 12, "learning_rate": 1e-9, "early_stopping": None, "dropout": 0.0, "device": "cpu"}
    still = LambdaRank(**slow).fit(data, valid=fresh).evals_["train"]
    assert max(still) - min(still) < 0.02  # nothing is learnt, so only a new start brings other values
    restarted = LambdaRank(**slow, restart_after=3).fit(data, valid=fresh).evals_["train"]
    assert len(restarted) == 12
    assert max(restarted) - min(restarted) > 0.02
    without = RankNet(n_epochs=3, restart_after=1, device="cpu").fit(data)
    assert len(without.evals_["train"]) == 3


def test_ways_to_train(data, fresh):
    plain = ListNet(n_epochs=6, device="cpu").fit(data)
    for other in (
        {"optimizer": "sgd", "learning_rate": 0.1},
        {"optimizer": "sgd", "learning_rate": 0.1, "momentum": 0.0, "l2": 0.01},
        {"schedule": "cosine"},
        {"l2": 5.0},
        {"layer_norm": True},
        {"batch_size": 4},
        {"averaged": False},
        {"log_features": False},
    ):
        ranker = ListNet(n_epochs=6, device="cpu", **other).fit(data)
        assert ranker.score(fresh) > 0.45
        assert (ranker.predict(fresh) != plain.predict(fresh)).all()


def test_a_training_that_runs_away(data, fresh):
    sgd = {"n_epochs": 4, "optimizer": "sgd", "device": "cpu"}
    for valid in (None, fresh):
        with pytest.raises(InputError, match="ran away to infinite weights: lower the learning rate"):
            ListNet(**sgd, learning_rate=1e30).fit(data, valid=valid)
    # Weights that are still finite would make scores that are not.
    with pytest.raises(InputError, match="ran away"):
        ListNet(n_epochs=1, optimizer="sgd", batch_size=60, hidden=(9, 9, 9), learning_rate=1e15).fit(data)
    # Among several rates it is only one that does not do.
    assert ListNet(**sgd, learning_rate=(1e30, 0.1)).fit(data, valid=fresh).learning_rate_ == 0.1


def test_nothing_to_learn():
    with pytest.raises(InputError, match="there is nothing to learn"):
        RankNet(n_epochs=2, device="cpu").fit(np.eye(4), [1, 1, 0, 0], qid=[1, 1, 2, 2])


def test_devices():
    assert device_named("cpu").type == "cpu"
    assert device_named("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    for name in ("gpu", "cuda:99"):
        with pytest.raises(InputError, match="cannot be used"):
            device_named(name)
