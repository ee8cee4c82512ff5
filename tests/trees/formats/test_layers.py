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
