import numpy as np
import pytest
import torch

from pomona.rankers.neural.network.context import ContextArchitecture
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
    dropped = scores_of(architecture, parameters, x, None, 0.5, generator)
    assert len(dropped.unique()) > 10
    assert float(dropped.mean()) == pytest.approx(float(whole.mean()), rel=0.02)
    again = scores_of(architecture, parameters, x, None, 0.5, torch.Generator().manual_seed(0))
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


CONTEXT = ContextArchitecture(136, (16,), n_blocks=2, n_heads=4)


def lists_of(architecture, lengths, longest, fill=0.0):
    """Lists of documents, and what stands behind them."""
    random = np.random.default_rng(1)
    x = np.full((len(lengths), longest, architecture.n_features), fill, np.float32)
    for i, length in enumerate(lengths):
        x[i, :length] = random.standard_normal((length, architecture.n_features))
    return torch.from_numpy(x), torch.tensor(lengths)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_context_equals_the_scores_without_pytorch(layer_norm):
    architecture = ContextArchitecture(136, (16,), "relu", layer_norm, n_blocks=2, n_heads=4)
    parameters, lengths = parameters_of(architecture), [1, 30, 7, 1200]
    x, n_docs = lists_of(architecture, lengths, 1200)
    found = scores_of(architecture, torch.from_numpy(parameters), x, n_docs).view(4, 1200)
    network = architecture.network(Scaling.done(136), parameters)
    for i, length in enumerate(lengths):
        expected = network.score(x[i, :length].numpy())
        assert found[i, :length].tolist() == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_padding_changes_nothing():
    parameters, found = torch.from_numpy(parameters_of(CONTEXT)).requires_grad_(), []
    for longest, fill in ((9, 0.0), (9, 5.0), (20, -7.0)):
        x, lengths = lists_of(CONTEXT, [9, 4, 1], longest, fill)
        scores = scores_of(CONTEXT, parameters, x, lengths).view(3, longest)
        real = torch.cat([scores[0, :9], scores[1, :4], scores[2, :1]])
        (gradient,) = torch.autograd.grad((real * torch.arange(14)).sum(), parameters)
        found.append((real.detach(), gradient))
    for scores, gradient in found[1:]:
        assert torch.allclose(scores, found[0][0], atol=1e-6)
        assert torch.allclose(gradient, found[0][1], atol=1e-4)


def test_gradient_of_attention_is_the_finite_difference():
    architecture = ContextArchitecture(3, (4,), "tanh", n_blocks=1, n_heads=2)
    parameters = torch.from_numpy(parameters_of(architecture)).double().requires_grad_()
    x, lengths = lists_of(architecture, [3, 2], 3)
    seen = torch.tensor([1, 1, 1, 1, 1, 0], dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda p: scores_of(architecture, p, x.double(), lengths) * seen, parameters
    )
