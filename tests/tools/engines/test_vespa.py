import json

import numpy as np
import pytest

from pomona.errors import InputError
from pomona.tools.engines.engine import engine_named


def split(name, limit, missing_left, left, right):
    left, right = {**left, "nodeid": 1}, {**right, "nodeid": 2}
    ways = {"yes": 1, "no": 2, "missing": 1 if missing_left else 2, "children": [left, right]}
    return {"nodeid": 0, "depth": 0, "split": name, "split_condition": limit, **ways}


def leaf(value):
    return {"nodeid": 0, "leaf": value}


def test_vespas_own_figures():
    """`xgboost.test.json`; – is undefined."""
    second = [split("f2", 0.5, True, leaf(a), leaf(b)) for a, b in ((1, 2), (3, 4))]
    trees = [
        split("f1", 0.5, False, *second),
        split("f1", 1.5, False, leaf(0), split("f2", 0.5, False, leaf(4), leaf(5))),
        split("f2", 1.5, False, leaf(0), split("f1", 0.5, False, leaf(4), leaf(3))),
    ]
    nan = np.nan
    X = [[0, 0], [0, 1], [1, 0], [1, 1], [0, nan], [1, nan], [nan, 0], [nan, 1], [nan, nan]]
    served = engine_named("vespa").read(json.dumps(trees), ["f1", "f2"])
    assert served.score(np.array(X, np.float32)).tolist() == [1, 2, 3, 4, 5, 6, 7, 9, 11]


def test_thresholds_are_float32():
    served = engine_named("vespa").read(json.dumps([split("a", 0.1, False, leaf(1), leaf(2))]), ["a"])
    assert served.score(np.array([[0.1], [0.09]], np.float32)).tolist() == [2.0, 1.0]


def test_refusals():
    with pytest.raises(InputError, match="refuses a split"):
        engine_named("vespa").read(json.dumps([{**split("a", 1, True, leaf(1), leaf(2)), "gain": 1}]), ["a"])
    with pytest.raises(InputError, match="first character"):
        engine_named("vespa").read("{}", ["a"])
