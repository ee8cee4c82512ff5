import json
from dataclasses import replace

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.tools.engines.engine import engine_named
from pomona.trees.formats.elasticsearch import Elasticsearch
from pomona.trees.formats.format import ExportOptions
from pomona.trees.formats.opensearch import OpenSearch

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


def test_the_plugins_own_logistic_figures():
    """`XGBoostJsonParserTests`, leaves 0.5 and −0.2; `NormalizersTests`."""
    leaves = [{"nodeid": 1, "leaf": 0.5}, {"nodeid": 2, "leaf": -0.2}]
    definition = {"objective": "reg:logistic", "splits": [{**TREE, "children": leaves}]}
    served = engine_named("elasticsearch").read(body(definition), ["feat1"])
    found = served.score(np.array([[0.122], [0.123], [0.124]], F))
    assert found.tolist() == [float(F(x)) for x in (0.62245935, 0.45016602, 0.45016602)]
    for sum_, expected in ((0.2, 0.549834), (-0.5, 0.37754068)):
        definition = {"objective": "binary:logistic", "splits": [{"nodeid": 0, "leaf": sum_}]}
        found = engine_named("opensearch").read(body(definition), ["feat1"]).score(np.zeros((1, 1), F))
        assert F(found[0]) == pytest.approx(expected, abs=6e-7)
    with pytest.raises(InputError, match="refuses the objective 'reg:squarederror'"):
        engine_named("opensearch").read(body({"objective": "reg:squarederror", "splits": []}), ["feat1"])


def raw(**changes):
    tree = {
        "left_children": [2, -1, -1],
        "right_children": [1, -1, -1],
        "split_indices": [0, 0, 0],
        "split_conditions": [3.0, -1.0, -1.0],
        "default_left": [0, 0, 0],
        "base_weights": [1.0, 10.0, 0.0],
    }
    learner = {
        "feature_names": ["feat1"],
        "feature_types": ["float"],
        "objective": {"name": "reg:linear"},
        "gradient_booster": {"model": {"trees": [tree]}},
        "learner_model_param": {"base_score": "5E-1"},
    }
    return body({"learner": {**learner, **changes}}, "model/xgboost+json+raw")


@pytest.mark.parametrize(
    "engine", ["elasticsearch", "elasticsearch-1.5.10", "opensearch", "opensearch-2.19.2"]
)
def test_the_plugins_own_raw_figures(engine):
    """`XGBoostRawJsonParserTests`: 2 → 0 and 4 → 10; the base score does not count."""
    served = engine_named(engine).read(raw(), ["feat1"])
    assert served.score(np.array([[2], [4]], F)).tolist() == [0.0, 10.0]


def test_raw_refusals():
    with pytest.raises(InputError, match="no models of type"):
        engine_named("opensearch-2.18").read(raw(), ["feat1"])
    for change in ({"feature_types": ["int"]}, {"feature_types": []}, {"feature_names": ["other"]}):
        with pytest.raises(InputError, match="the engine refuses features"):
            engine_named("opensearch").read(raw(**change), ["feat1"])


@pytest.mark.filterwarnings("ignore:scores are float32")
@pytest.mark.parametrize("engine", ["elasticsearch", "opensearch"])
def test_raw_exports_score_as_the_others(engine):
    data = pm.simulate(20, docs_per_query=10, n_features=5, seed=1)
    X = data.X.copy()
    X[::3, 1] = np.nan
    ranker = pm.MART(n_trees=7, n_leaves=5, min_docs=3).fit(data.replace(X=X))
    names = [f"n{j}" for j in range(5)]
    served = [
        engine_named(engine).read(chosen(ExportOptions(raw=is_raw)).content(ranker.portable(), names), names)
        for chosen in ({"elasticsearch": Elasticsearch, "opensearch": OpenSearch}[engine],)
        for is_raw in (False, True)
    ]
    np.testing.assert_array_equal(served[0].score(X), served[1].score(X))
    np.testing.assert_allclose(served[1].score(X), ranker.predict(X), rtol=1e-5, atol=1e-6)
    assert '"type":"model/xgboost+json+raw"' in ranker.exported(engine, raw=True)
    with pytest.raises(InputError, match="leave raw out"):
        ranker.exported(engine, raw=True, engine_version="1.5.9" if engine == "elasticsearch" else "2.18")


@pytest.mark.parametrize(("version", "n_notes"), [("8.15.2", 2), ("8.18", 1), ("9.0.8", 0)])
def test_what_older_parsers_of_raw_models_do_is_said(version, n_notes):
    data = pm.simulate(20, docs_per_query=10, n_features=5, seed=1)
    X = np.where(np.median(data.X, axis=0) > data.X, np.nan, data.X)  # undefined, and to be sent left
    forest = pm.MART(n_trees=7, n_leaves=5, min_docs=3).fit(data.replace(X=X)).portable()
    assert forest.nan_left.any()
    notes = Elasticsearch(ExportOptions(engine_version=version, raw=True)).notes(replace(forest, single=True))
    assert len(notes) == n_notes
