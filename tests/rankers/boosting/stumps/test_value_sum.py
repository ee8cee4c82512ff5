import numpy as np
import pytest

from pomona.errors import InputError
from pomona.rankers.boosting.stumps.value_sum import ScaledFeatures, ValueSum

X = np.array([[1.0, np.nan, 7.0], [3.0, 2.0, 7.0], [2.0, 6.0, 7.0]], np.float32)
NAMES = ("a", "b", "c")


def test_the_weak_ranker_of_largest_r():
    features = ScaledFeatures(X, NAMES)
    # a stands at (0, 1, ½), b at (undefined, 0, 1), c tells nothing.
    weak, r = features.best(np.array([-0.2, 0.5, -0.3]))
    assert weak == (1, True)
    assert r == pytest.approx(-0.3 - 0.2)
    weak, r = features.best(np.array([-0.5, 0.5, 0.0]))
    assert weak == (0, False)
    assert r == 0.5
    assert features.values((0, False)).tolist() == [0.0, 1.0, 0.5]
    assert features.values((1, True)).tolist() == [1.0, 0.0, 1.0]


def test_steps_are_summed_by_feature():
    found = ScaledFeatures(X, NAMES).sum_of([((0, False), 0.5), ((1, True), -1.0), ((0, True), 0.25)])
    assert found.weight.tolist() == [0.75, -1.0, 0.0]
    assert found.undefined.tolist() == [0.25, -1.0, 0.0]
    assert found.score(X).tolist() == [-1.0, 0.75, 0.75 / 2 - 1.0]
    assert ValueSum.of_arrays(found.arrays(), NAMES).score(X).tolist() == found.score(X).tolist()
    with pytest.raises(ValueError, match=r"low is float64 of shape \(3,\), expected float64 of shape \(2,\)"):
        ValueSum.of_arrays(found.arrays(), ("a", "b"))


def test_features_of_another_width_are_refused():
    values = ValueSum(np.zeros(3), np.ones(3), np.ones(3), np.zeros(3), NAMES)
    with pytest.raises(InputError, match="shape"):
        values.score(np.zeros((2, 2), np.float32))
