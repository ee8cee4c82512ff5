import json
from dataclasses import replace

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.tools.engines.engine import engine_named
from pomona.tools.engines.plugin import additive_trees
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


def test_a_leaf_alone():
    """`XGBoostJsonParserTests`: 0.234 → 0.234."""
    served = engine_named("elasticsearch").read(body([{"nodeid": 0, "leaf": 0.234}]), ["feat1"])
    assert served.score(np.zeros((1, 1), F)).tolist() == [float(F(0.234))]


def split(name, limit, missing_left, left, right):
    ways = {"yes": 1, "no": 2, "missing": 1 if missing_left else 2}
    children = [{**left, "nodeid": 1}, {**right, "nodeid": 2}]
    return {"nodeid": 0, "depth": 0, "split": name, "split_condition": limit, **ways, "children": children}


def leaf(value):
    return {"nodeid": 0, "leaf": value}


def test_the_plugins_own_weighted_trees():
    """`NaiveAdditiveDecisionTreeTests`, `simple_tree.txt`: 1.2 · 3.4 + 3.2 · 2.8 and 17 · 3.4 + 23 · 2.8."""
    third = split("f3", 3.2, True, leaf(17), leaf(11))
    first = split("f1", 2.3, True, split("f2", 2.2, False, leaf(1.2), third), leaf(3.2))
    fourth = split("f2", 1.8, False, leaf(15), split("f3", 3.2, False, leaf(3.2), leaf(10)))
    second = split("f1", 0.1, True, leaf(23), fourth)
    places = {"f1": 0, "f2": 1, "f3": 2}
    forest = additive_trees([first, second], places, "by split", weights=[3.4, 2.8])
    found = forest.score(np.array([[1, 2, 3], [np.nan] * 3], F))
    assert found.tolist() == [float(F(13.040001)), float(F(122.200005))]


def test_normalizers():
    """`StoredLtrModelParserTests`: a mean of 1.25 and deviation of 0.25; from 0.05 to 1.25."""
    standard = {"standard": {"mean": 1.25, "standard_deviation": 0.25}}
    min_max = {"min_max": {"minimum": 0.05, "maximum": 1.25}}

    def served(normalizers, definition=None, kind="model/linear"):
        model = {"type": kind, "definition": {"a": 1, "b": 100} if definition is None else definition}
        text = json.dumps({"model": {"name": "m", "model": {**model, "feature_normalizers": normalizers}}})
        return engine_named("opensearch").read(text, ["a", "b"])

    found = served({"a": standard, "b": min_max}).score(np.array([[1.5, 0.65], [1.0, 1.25], [0, np.nan]], F))
    np.testing.assert_allclose(found, [1 + 50, -1 + 100, -5 - 100 * 0.05 / 1.2], rtol=1e-6)
    tree = split("a", 1.0, True, leaf(7), leaf(9))
    trees = served({"a": standard}, [tree], "model/xgboost+json")
    assert trees.score(np.array([[1.5, 0], [1.4, 0], [np.nan, 0]], F)).tolist() == [9.0, 7.0, 7.0]
    for wrong in (
        {"a": {"min_max": {"minimum": -1, "maximum": 1}}},
        {"a": {"min_max": {"minimum": 1, "maximum": 1}}},
        {"a": {"standard": {"mean": 1, "standard_deviation": 0}}},
        {"a": {"log": {}}},
        {"c": standard},
    ):
        with pytest.raises(InputError, match="the engine"):
            served(wrong)


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


def test_opensearchs_own_missing_as_zero():
    """`XGBoostRawJsonParserTests`, default_left = 0: with missing_as_zero a missing value → 0."""
    absent = np.array([[np.nan]], F)
    for version, expected in (("3.9", 0.0), ("3.8", 10.0)):  # unknown keys of a raw model are passed over
        text = raw().replace('"learner"', '"missing_as_zero": true, "learner"')
        assert engine_named(f"opensearch-{version}").read(text, ["feat1"]).score(absent).tolist() == [
            expected
        ]
    assert engine_named("opensearch-3.9").read(raw(), ["feat1"]).score(absent).tolist() == [10.0]
    trees = body({"missing_as_zero": True, "splits": [split("feat1", 3.0, False, leaf(0), leaf(10))]})
    assert engine_named("opensearch-3.9").read(trees, ["feat1"]).score(absent).tolist() == [0.0]
    with pytest.raises(InputError, match="a definition with 'missing_as_zero'"):
        engine_named("opensearch-3.8").read(trees, ["feat1"])


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
