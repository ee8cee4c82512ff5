import numpy as np
import pytest
import torch

from pomona.rankers.neural.network.network import ACTIVATIONS, Architecture, Network
from pomona.rankers.neural.network.scaling import Scaling
from pomona.rankers.neural.network.torch_network import scores_of


def parameters_of(architecture, seed=0):
    random = np.random.default_rng(seed)
    noise = 0.1 * random.standard_normal(architecture.n_parameters)
    return (architecture.start(random) + noise).astype(np.float32)


@pytest.mark.parametrize("hidden", [(), (10,), (256, 128), (16, 8, 4)])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("layer_norm", [False, True])
def test_equals_the_scores_without_pytorch(hidden, activation, layer_norm):
    architecture = Architecture(136, hidden, activation, layer_norm)
    parameters = parameters_of(architecture)
    x = np.random.default_rng(1).standard_normal((200, 136)).astype(np.float32)
    found = scores_of(architecture, torch.from_numpy(parameters), torch.from_numpy(x)).numpy()
    expected = Network(architecture, Scaling(np.zeros(136), np.ones(136)), parameters).score(x)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_gradient_is_the_finite_difference():
    architecture = Architecture(3, (4, 3), "tanh", layer_norm=True)
    parameters = torch.from_numpy(parameters_of(architecture)).double().requires_grad_()
    x = torch.randn((5, 3), dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(lambda p: scores_of(architecture, p, x), parameters)


def test_dropout_keeps_the_mean():
    architecture = Architecture(3, (4000,), "logistic")
    parameters, x = torch.from_numpy(parameters_of(architecture)).abs(), torch.zeros(20, 3)
    whole = scores_of(architecture, parameters, x)
    generator = torch.Generator().manual_seed(0)
    dropped = scores_of(architecture, parameters, x, 0.5, generator)
    assert len(dropped.unique()) > 10
    assert float(dropped.mean()) == pytest.approx(float(whole.mean()), rel=0.02)
    again = scores_of(architecture, parameters, x, 0.5, torch.Generator().manual_seed(0))
    assert (again == dropped).all()


def test_half_precision():
    """Close to the whole, and the scores themselves have all their digits."""
    architecture = Architecture(20, (30, 10), layer_norm=True)
    parameters = torch.from_numpy(parameters_of(architecture))
    x = torch.randn((500, 20), generator=torch.Generator().manual_seed(0))
    whole, half = (scores_of(architecture, parameters, x, in_half=way) for way in (False, True))
    assert half.dtype == torch.float32
    assert (half != whole).any()
    assert half.tolist() == pytest.approx(whole.tolist(), abs=0.1)
    assert len(half.unique()) == 500
