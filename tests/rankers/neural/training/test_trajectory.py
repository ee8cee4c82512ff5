import numpy as np
import pytest
import torch

from pomona.rankers.neural.network.context import ContextArchitecture
from pomona.rankers.neural.network.network import Architecture
from pomona.rankers.neural.training import trajectory
from pomona.rankers.neural.training.trajectory import TrainingConfig, Trajectory

CONFIG = TrainingConfig(0.1, 4, "linear", "sgd", 0.0, 0.0, 0.0, False, None, None, False, 0)
CPU = torch.device("cpu")


def start(architecture, config=CONFIG):
    run = Trajectory(architecture, config, 2, np.random.default_rng(0), CPU)
    run.begin_epoch()
    return run


@pytest.mark.parametrize("lengths", [None, [700, 3, 400]])
def test_a_step_is_down_the_gradient(lengths, monkeypatch):
    """In pieces as at once: the parameters move by the rate times Σ gradient · ∂score."""
    architecture = Architecture(4, (6,)) if lengths is None else ContextArchitecture(4, (6,))
    x = torch.randn((2100, 4), generator=torch.Generator().manual_seed(0))
    sizes = None if lengths is None else torch.tensor(lengths)
    gradient = np.random.default_rng(0).standard_normal(2100).astype(np.float32)
    found = []
    for work in (1e9, 0):
        monkeypatch.setattr(trajectory, "_WORK_OF_PIECE", work)
        run = start(architecture)
        before = run.parameters.detach().clone()
        scores = run.scores(x, sizes)
        assert len(run._met) == (1 if work else 5 if lengths is None else 3)
        run.step(gradient)
        found.append((scores, run.parameters.detach() - before))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-5)
    assert found[0][1].tolist() == pytest.approx(found[1][1].tolist(), rel=1e-3, abs=1e-3)
    moved = -0.1 * slope(architecture, before, x, sizes, gradient)
    assert found[0][1].tolist() == pytest.approx(moved.tolist(), rel=1e-3, abs=1e-3)


def slope(architecture, parameters, x, lengths, gradient):
    parameters = parameters.clone().requires_grad_()
    lists = x if lengths is None else x.view(len(lengths), -1, 4)
    scores = trajectory.scores_of(architecture, parameters, lists, lengths)
    (scores * torch.from_numpy(gradient)).sum().backward()
    return parameters.grad


def test_the_rate_falls_by_the_schedule():
    run = start(Architecture(1, ()))
    rates = [run._learning_rate]
    for _ in range(3):
        run.begin_epoch()
        rates.append(run._learning_rate)
    assert rates == pytest.approx([0.1, 0.075, 0.05, 0.025])
