from dataclasses import replace

import numpy as np

import pomona as pm
from pomona.tools.engines.engine import FeatureScale, Served
from pomona.tools.engines.parity import Causes, Difference
from pomona.trees.forest import Forest
from pomona.trees.formats.weighted_sum import WeightedSum

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
    found = Causes.of(DATA, FOREST, Served(FOREST, "zero"), ["a", "b"])
    assert (list(found.undefined), found.way) == (["b"], "is 0 there")
    assert (found.undefined["b"].documents, found.undefined["b"].queries) == (1, 1)
    assert (found.infinite, found.besides.documents) == ({}, 0)


def test_sums_and_infinite_values():
    total = WeightedSum(np.array([0, 1]), np.array([1.0, 10.0]), 2)
    scaled = Served(total, "zero", FeatureScale.of({0: (1.0, 2.0)}, 2))
    found = Causes.of(DATA, total, scaled, ["a", "b"])
    assert found.undefined == {}
    assert found.besides.documents > 0
    data = DATA.replace(X=np.array([[0, 0], [1, np.inf], [-np.inf, 1], [1, 1]], np.float32))
    found = Causes.of(data, FOREST, Served(FOREST, "undefined", compensated=True), ["a", "b"])
    assert (found.undefined, found.infinite, found.besides.documents) == ({}, {}, 0)  # they went there anyway
    turned = replace(FOREST, nan_left=[False, True])
    found = Causes.of(data, turned, Served(turned, "undefined", compensated=True), ["a", "b"])
    assert (list(found.infinite), found.besides.documents) == (["a", "b"], 0)


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
    found = Causes.of(DATA, FOREST, served, ["a", "b"])
    assert (list(found.undefined), found.way) == (["a"], "goes right there")
    assert Causes.of(DATA, FOREST, Served(FOREST, "undefined"), ["a", "b"]).undefined == {}
