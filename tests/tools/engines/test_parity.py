import numpy as np

import pomona as pm
from pomona.tools.engines.engine import Served
from pomona.tools.engines.parity import Difference, undefined_features
from pomona.trees.forest import Forest

STUMPS = {
    "feature": [0, 1],
    "threshold": [0.5, 0.5],
    "nan_left": [True, False],
    "left": [~0, ~0],
    "right": [~1, ~1],
}
FOREST = Forest(
    **STUMPS, gain=[1, 1], node_ptr=[0, 1, 2], value=[1.0, 2.0, 5.0, 9.0], leaf_ptr=[0, 2, 4], n_features=2
)
NAN = np.nan
DATA = pm.Dataset([[0, 0], [1, NAN], [NAN, 1], [1, 1]], [0, 1, 2, 3], [1, 1, 2, 2], feature_names=["a", "b"])


def test_a_constant_is_no_difference():
    scores = np.array([1.0, 2.0, 3.0, 4.0])
    assert Difference.of(DATA, scores, scores + 7) == Difference(0, 0, 0, 1.0, 1.0)
    turned = Difference.of(DATA, scores, np.array([1.0, 2.0, 3.0, 2.5]))
    assert (turned.documents, turned.queries, turned.rankings) == (1, 1, 1)
    assert turned.after < turned.before == 1.0


def test_only_zero_and_undefined_that_go_apart_are_blamed():
    """Of a, undefined goes left and so does 0; of b it goes right, and 0 left."""
    found = undefined_features(DATA, FOREST, Served(FOREST, "zero"), ["a", "b"])
    assert list(found) == ["b"]
    assert (found["b"].documents, found["b"].queries) == (1, 1)


def test_always_right():
    served = Served(
        Forest(
            **{**STUMPS, "nan_left": [False, False]},
            gain=[1, 1],
            node_ptr=[0, 1, 2],
            value=[1.0, 2.0, 5.0, 9.0],
            leaf_ptr=[0, 2, 4],
            n_features=2,
        ),
        "undefined",
    )
    assert list(undefined_features(DATA, FOREST, served, ["a", "b"])) == ["a"]
    assert undefined_features(DATA, FOREST, Served(FOREST, "undefined"), ["a", "b"]) == {}
