import numpy as np
import pytest

from pomona.errors import InputError
from pomona.trees.formats.layers import Layers


def layers(activation="relu"):
    first = np.array([[1.0, -1.0], [2.0, 1.0]]), np.array([0.5, 0.0])
    last = np.array([[1.0], [3.0]]), np.array([-1.0])
    return Layers((first[0], last[0]), (first[1], last[1]), (activation, "identity"))


def test_by_hand():
    assert layers().score([[1.0, 2.0], [np.nan, -1.0]]).tolist() == [5.5 + 3 * 1.0 - 1, 0 + 0 - 1]
    expected = 1 / (1 + np.exp(-5.5)) + 3 / (1 + np.exp(-1.0)) - 1
    assert layers("sigmoid").score([[1.0, 2.0]])[0] == pytest.approx(expected, rel=1e-15)
    assert layers().importance().tolist() == [1 + 3, 2 + 3]


def test_arrays_and_back():
    model = layers("tanh")
    assert Layers.of_arrays(model.arrays(), model.activations).score([[1, 2]]) == model.score([[1, 2]])


def test_refusals():
    with pytest.raises(InputError, match="expected some of"):
        layers("softmax")
    with pytest.raises(InputError, match="two scores"):
        Layers((np.ones((2, 2)),), (np.ones(2),), ("relu",))
    with pytest.raises(InputError, match="a bias for each"):
        Layers((np.ones((2, 1)),), (np.ones(2),), ("relu",))


@pytest.mark.parametrize("activation", ["identity", "relu", "tanh", "sigmoid"])
def test_the_gradient_is_that_of_finite_differences(activation):
    random = np.random.default_rng(3)
    weights = random.standard_normal((3, 4)), random.standard_normal((4, 1))
    biases = random.standard_normal(4), random.standard_normal(1)
    layers = Layers(weights, biases, (activation, "identity"))
    X = random.standard_normal((5, 3)).astype(np.float32)
    scaled, slopes, start = layers.gradient(X)
    assert start == pytest.approx(layers.score(np.zeros((1, 3)))[0])
    assert scaled == pytest.approx(X)
    for j in range(3):
        step = np.zeros(3, np.float32)
        step[j] = 2.0**-8
        rise = layers.score(X + step) - layers.score(X - step)
        assert slopes[:, j] == pytest.approx(rise / ((X + step) - (X - step))[:, j], abs=2e-3)
