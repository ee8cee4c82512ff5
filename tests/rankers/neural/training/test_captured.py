import numpy as np
import pytest
import torch

import pomona as pm
from pomona.rankers.neural.context_rank import ContextRank
from pomona.rankers.neural.lambda_rank import LambdaRank
from pomona.rankers.neural.list_net import ListNet
from pomona.rankers.neural.network.context import ContextArchitecture
from pomona.rankers.neural.network.network import Architecture
from pomona.rankers.neural.training import captured, trainer, trajectory
from pomona.rankers.neural.training.captured import CapturedTrajectory, can_be_captured, rounded_up
from pomona.rankers.neural.training.descent import Descent
from pomona.rankers.neural.training.trajectory import TrainingConfig, Trajectory

RANKERS = [LambdaRank, ListNet, ContextRank]
CONFIG = TrainingConfig(0.1, 4, "constant", "adam", 0.0, 0.0, 0.0, True, None, None, False, 0)


class Again:
    """Where there is no GPU: what was recorded is done again."""

    def __init__(self, device):
        pass

    def prepare(self, run):
        run()

    def record(self, run, generator):
        return run

    def wait(self):
        pass


@pytest.fixture(scope="module")
def parts():
    return [pm.simulate(n, docs_per_query=12, n_features=8, seed=n) for n in (50, 30)]


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("cls", [LambdaRank, ListNet])
def test_rounded_batches_teach_the_same(cls, averaged, parts, monkeypatch):
    options = {"n_epochs": 4, "dropout": 0.0, "averaged": averaged, "schedule": "linear", "device": "cpu"}
    plain = cls(**options).fit(parts[0], valid=parts[1])
    used = []

    class Noted(CapturedTrajectory):
        def scores(self, x, lengths):
            used.append(len(x))
            return super().scores(x, lengths)

    monkeypatch.setattr(captured, "Recorder", Again)
    monkeypatch.setattr(trainer, "CapturedTrajectory", Noted)
    monkeypatch.setattr(trainer, "can_be_captured", lambda config, device: True)
    rounded = cls(**options).fit(parts[0], valid=parts[1])
    assert len(used) == 4 * 4  # four epochs of 50 queries, 16 a batch
    assert rounded.predict(parts[1]) == pytest.approx(plain.predict(parts[1]), abs=2e-3)
    assert rounded.evals_["valid"] == pytest.approx(plain.evals_["valid"], abs=0.01)


@pytest.mark.parametrize("lengths", [None, [21, 3, 17], [9, 21, 1]])
def test_the_gradient_of_a_rounded_batch(lengths, monkeypatch):
    """After a larger batch, whose rows are still there."""
    gradients = []

    class Noted(Descent):
        def step(self, gradient, learning_rate):
            gradients.append(gradient.clone())

    monkeypatch.setattr(trajectory, "Descent", Noted)
    architecture = Architecture(4, (6,)) if lengths is None else ContextArchitecture(4, (6,))
    larger = None if lengths is None else torch.tensor([22, 22, 22])
    random = torch.Generator().manual_seed(0)
    x, before = torch.randn((63, 4), generator=random), torch.randn((66, 4), generator=random)
    push = np.random.default_rng(0).standard_normal(63).astype(np.float32)
    found = []
    for kind, options in ((Trajectory, {}), (CapturedTrajectory, {"recorder": Again(None)})):
        run = kind(architecture, CONFIG, 2, np.random.default_rng(0), torch.device("cpu"), **options)
        run.begin_epoch()
        run.scores(before, larger)
        run.step(np.ones(66, np.float32))
        found.append(run.scores(x, None if lengths is None else torch.tensor(lengths)))
        run.step(push)
    assert found[0] == pytest.approx(found[1], abs=1e-5)
    assert gradients[1].tolist() == pytest.approx(gradients[3].tolist(), rel=1e-4, abs=1e-4)


def test_sizes_are_rounded_up_by_little():
    for steps, waste in ((4, 1.2), (8, 1.1)):
        sizes = [rounded_up(size, steps) for size in range(8, 5000)]
        assert all(size <= found < waste * size + 1 for size, found in enumerate(sizes, start=8))
        assert len(set(sizes)) < steps * 10


def test_only_adam_on_a_gpu_is_captured():
    for optimizer, device, expected in (
        ("adam", "cuda", True),
        ("sgd", "cuda", False),
        ("adam", "cpu", False),
    ):
        config = type("Config", (), {"optimizer": optimizer})
        assert can_be_captured(config, torch.device(device)) is expected


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("cls", RANKERS)
def test_graphs_teach_what_single_kernels_do(cls, parts, monkeypatch):
    options = {"n_epochs": 5, "dropout": 0.0, "device": "cuda"}
    graphs = cls(**options).fit(parts[0], valid=parts[1])
    dropped = cls(**{**options, "dropout": 0.3}).fit(parts[0], valid=parts[1])
    again = cls(**{**options, "dropout": 0.3}).fit(parts[0], valid=parts[1])
    monkeypatch.setattr(trainer, "can_be_captured", lambda config, device: False)
    single = cls(**options).fit(parts[0], valid=parts[1])
    assert graphs.evals_["valid"] == pytest.approx(single.evals_["valid"], abs=0.005)
    assert again.evals_["valid"] == pytest.approx(dropped.evals_["valid"], abs=0.005)
    assert graphs.evals_["valid"] != pytest.approx(dropped.evals_["valid"], abs=1e-4)
