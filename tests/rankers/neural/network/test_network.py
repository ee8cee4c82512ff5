import itertools

import numpy as np
import pytest

from pomona._jit import threads
from pomona.errors import InputError, UnknownNameError
from pomona.rankers.neural.network.network import ACTIVATIONS, Architecture, Network
from pomona.rankers.neural.network.scaling import Scaling

FUNCTIONS = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh, "logistic": lambda x: 1 / (1 + np.exp(-x))}


def unscaled(n):
    return Scaling(np.zeros(n), np.ones(n))


def network(n_features, hidden, activation="relu", layer_norm=False, seed=0):
    architecture = Architecture(n_features, hidden, activation, layer_norm)
    random = np.random.default_rng(seed)
    parameters = architecture.start(random) + 0.1 * random.standard_normal(architecture.n_parameters)
    return Network(architecture, unscaled(n_features), parameters.astype(np.float32))


def plain(net, x):
    """The formula, matrix by matrix."""
    h, at = x.astype(float), 0

    def take(*shape):
        nonlocal at
        size = int(np.prod(shape))
        at += size
        return net.parameters[at - size : at].astype(float).reshape(shape)

    shape = net.architecture
    for n_in, n_out in itertools.pairwise(shape.sizes):
        weight, bias = take(n_in, n_out), take(n_out)
        h = h @ weight + bias
        if shape.layer_norm:
            gain, shift = take(n_out), take(n_out)
            h = (h - h.mean(1, keepdims=True)) / np.sqrt(h.var(1, keepdims=True) + 1e-5) * gain + shift
        h = FUNCTIONS[shape.activation](h)
    scores = h @ take(shape.sizes[-1])
    assert at == len(net.parameters)
    return scores


def test_by_hand():
    architecture = Architecture(2, (2,), "relu")
    parameters = [1, 2, 3, 4, 0.5, -9, 10, 100]  # W = (1 2 / 3 4), b = (½, −9), w = (10, 100)
    net = Network(architecture, unscaled(2), np.array(parameters, np.float32))
    assert net.score(np.array([[1, 1]], np.float32)) == [10 * (1 + 3 + 0.5) + 100 * 0]
    assert net.score(np.array([[1, 2]], np.float32)) == [10 * (1 + 6 + 0.5) + 100 * (2 + 8 - 9)]


@pytest.mark.parametrize("hidden", [(), (1,), (10,), (7, 5), (33, 16, 3)])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("layer_norm", [False, True])
def test_equals_the_formula(hidden, activation, layer_norm):
    net = network(13, hidden, activation, layer_norm)
    x = np.random.default_rng(1).standard_normal((50, 13)).astype(np.float32)
    assert net.score(x) == pytest.approx(plain(net, x), rel=1e-5, abs=1e-5)


def test_a_row_scores_alike_wherever_it_stands():
    net = network(9, (20, 7), "tanh", layer_norm=True)
    x = np.random.default_rng(1).standard_normal((3000, 9)).astype(np.float32)
    scores = net.score(x)
    order = np.random.default_rng(2).permutation(len(x))
    assert (net.score(x[order]) == scores[order]).all()
    assert (net.score(x[:1]) == scores[:1]).all()
    with threads(3):
        assert (net.score(x) == scores).all()


def test_scores_scaled_features():
    net = network(2, (3,))
    scaled = Network(net.architecture, Scaling(np.array([5.0, 0.0]), np.array([2.0, 0.0])), net.parameters)
    assert scaled.score(np.array([[6, 9], [np.nan, 1]], np.float32)) == pytest.approx(
        net.score(np.array([[2, 0], [0, 0]], np.float32))
    )


def test_start_keeps_the_size_of_what_passes_through():
    architecture = Architecture(100, (200, 200))
    net = Network(architecture, unscaled(100), architecture.start(np.random.default_rng(0)))
    x = np.random.default_rng(1).standard_normal((300, 100)).astype(np.float32)
    assert 0.5 < net.score(x).std() < 2
    assert Architecture(4, (3,), layer_norm=True).n_parameters == 4 * 3 + 3 + 3 + 3 + 3


def test_refusals():
    for hidden in ((0,), (1, 2, 3, 4), (5, -1)):
        with pytest.raises(InputError, match="widths"):
            Architecture(3, hidden)
    with pytest.raises(UnknownNameError, match="unknown activation 'rellu': did you mean 'relu'"):
        Architecture(3, (2,), "rellu")
