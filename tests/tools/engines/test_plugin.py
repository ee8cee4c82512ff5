import json

import numpy as np
import pytest

from pomona.errors import InputError
from pomona.tools.engines.engine import engine_named

F = np.float32
TREE = {"nodeid": 0, "depth": 0, "split": "feat1", "split_condition": 0.123, "yes": 1, "no": 2, "missing": 1}
LEAVES = [{"nodeid": 1, "leaf": 0.5}, {"nodeid": 2, "leaf": 0.2}]


def body(definition, kind="model/xgboost+json"):
    return json.dumps({"model": {"name": "m", "model": {"type": kind, "definition": definition}}})


@pytest.mark.parametrize(
    ("engine", "absent"),
    [
        ("elasticsearch", 0.5),
        ("elasticsearch-1.5.8", 0.5),
        ("opensearch-3.8", 0.5),
        ("opensearch-3.5", 0.2),
        ("opensearch-2.18", 0.5),
    ],
)
def test_the_plugins_own_figures(engine, absent):
    """`XGBoostJsonParserTests`: 0.124 → 0.2, 0.122 → 0.5, 0.123 → 0.2, undefined → 0.5 (by its branch)."""
    served = engine_named(engine).read(body([{**TREE, "children": LEAVES}]), ["feat1"])
    X = np.array([[0.124], [0.122], [0.123], [np.nan]], F)
    assert served.score(X).tolist() == [float(F(x)) for x in (0.2, 0.5, 0.2, absent)]


def test_linear():
    """`LinearRankerTests`: weights 1, 2, 3 and 2, 3, 4 give 20."""
    served = engine_named("opensearch").read(body({"c": 3, "a": 1, "b": 2}, "model/linear"), ["a", "b", "c"])
    assert served.score(np.array([[2, 3, 4]], F)).tolist() == [20.0]


@pytest.mark.parametrize(
    "definition",
    [
        [{**TREE, "children": LEAVES, "gain": 1}],
        [{**TREE, "split": "x", "children": LEAVES}],
        [{key: one for key, one in TREE.items() if key != "depth"} | {"children": LEAVES}],
        [{**TREE, "children": LEAVES[::-1]}],
        [{"nodeid": 0, "leaf": 1, "cover": 3}],
    ],
)
def test_refused_by_the_parser(definition):
    with pytest.raises(InputError, match="the engine refuses"):
        engine_named("elasticsearch").read(body(definition), ["feat1"])
