"""Serving engines in slow, plain Python, as their own parsers and evaluators do; what they refuse fails."""

import json
import math

import numpy as np

F = np.float32
SPLIT = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"}


def plugin_score(body, rows, names, missing="by split"):
    """The learning to rank plugins; missing: `by split`, `right` or `zero`; rows: name → value, or absent."""
    model = json.loads(body)["model"]
    assert model.keys() == {"name", "model"}
    normalizers = model["model"].pop("feature_normalizers", {})
    assert model["model"].keys() == {"type", "definition"}
    kind, definition = model["model"]["type"], model["model"]["definition"]
    if kind == "model/linear":
        assert set(definition) <= set(names)
        assert set(normalizers) <= set(names)
        for name, normalizer in normalizers.items():
            ((way, told),) = normalizer.items()
            mean, deviation = F(told["mean"]), F(told["standard_deviation"])
            assert way == "standard"
            assert deviation > 0
            rows = [{**row, name: F(F(F(row.get(name, 0)) - mean) / deviation)} for row in rows]
        return [_linear(definition, row, names) for row in rows]
    assert kind == "model/xgboost+json"
    for tree in definition:
        check_tree(tree, names)
    return [float(sum_trees(definition, row, missing)) for row in rows]


def _linear(weights, row, names):
    total = F(0)
    for name in names:
        total = F(total + F(F(weights.get(name, 0)) * F(row.get(name, 0))))
    return float(total)


def check_tree(root, names):
    todo = [root]
    while todo:
        node = todo.pop()
        if "leaf" in node:
            assert node.keys() <= {"nodeid", "leaf", "depth"}
            continue
        assert node.keys() == SPLIT
        assert node["split"] in names
        assert [child["nodeid"] for child in node["children"]] == [node["yes"], node["no"]]
        todo += node["children"]


def sum_trees(trees, row, missing="by split"):
    total = F(0)
    for node in trees:
        while "leaf" not in node:
            x = F(row.get(node["split"], 0.0 if missing == "zero" else math.nan))
            left = F(node["split_condition"]) > x
            if np.isnan(x):
                left = missing == "by split" and node["missing"] == node["yes"]
            node = node["children"][0 if left else 1]
        total = F(total + F(node["leaf"]))
    return total


def vespa_score(text, rows):
    """A ranking expression in float64: `f < T`, or `!(f >= T)` where undefined goes left."""
    assert text.startswith("[")
    scores = []
    for row in rows:
        total = 0.0
        for node in json.loads(text):
            while "leaf" not in node:
                assert node.keys() == SPLIT
                x, limit = row.get(node["split"], math.nan), float(F(node["split_condition"]))
                left = not x >= limit if node["missing"] == node["yes"] else x < limit
                node = node["children"][0 if left else 1]
            total += node["leaf"]
        scores.append(total)
    return scores


def elastic_score(body, rows):
    """Elasticsearch's trained model: float64, total order, a compensated sum, a float32 score."""
    ensemble = json.loads(body)["definition"]["trained_model"]["ensemble"]
    assert ensemble.keys() == {"feature_names", "target_type", "trained_models", "aggregate_output"}
    trees = [one["tree"] for one in ensemble["trained_models"]]
    return [float(F(_compensated([_elastic_tree(tree, row) for tree in trees]))) for row in rows]


def _elastic_tree(tree, row):
    nodes = tree["tree_structure"]
    assert [node["node_index"] for node in nodes] == list(range(len(nodes)))
    node = nodes[0]
    while "leaf_value" not in node:
        assert node["decision_type"] == "lte"
        x, limit = row.get(tree["feature_names"][node["split_feature"]], math.nan), node["threshold"]
        key = (x, math.copysign(1, x)), (limit, math.copysign(1, limit))  # −0 before 0
        left = node["default_left"] if not math.isfinite(x) else key[0] <= key[1]
        node = nodes[node["left_child" if left else "right_child"]]
    return node["leaf_value"]


def _compensated(values):
    total = lost = 0.0
    for value in values:
        term = value - lost
        after = total + term
        lost = (after - total) - term
        total = after
    return total - lost


def solr_score(text, rows, undefined=False):
    """Solr; undefined: whether features have NaN for their default (9.2 and later), else 0."""
    model = json.loads(text)
    names = [feature["name"] for feature in model["features"]]
    assert len(set(names)) == len(names)
    kind, parameters = model["class"].rpartition(".")[2], model["params"]
    if kind == "MultipleAdditiveTreesModel":
        assert undefined == (parameters.get("isNullSameAsZero") is False)
        return [float(_solr_trees(parameters["trees"], row, names, undefined)) for row in rows]
    vectors = [
        [_normalized(feature, row.get(feature["name"], 0.0)) for feature in model["features"]] for row in rows
    ]
    if kind == "LinearModel":
        return [float(_solr_linear(parameters["weights"], names, vector)) for vector in vectors]
    assert kind == "NeuralNetworkModel"
    return [float(_solr_network(parameters["layers"], vector)) for vector in vectors]


def _normalized(feature, value):
    if "norm" not in feature:
        return F(value)
    assert feature["norm"]["class"].endswith("StandardNormalizer")
    average, deviation = (F(feature["norm"]["params"][key]) for key in ("avg", "std"))
    return F(F(F(value) - average) / deviation)


def _solr_trees(trees, row, names, undefined):
    total = F(0)
    for tree in trees:
        node = tree["root"]
        while "value" not in node:
            assert isinstance(node["threshold"], str)
            assert node["feature"] in names
            x = F(row.get(node["feature"], math.nan if undefined else 0.0))
            if np.isnan(x):
                node = node[node["missing"]]
                continue
            node = node["left" if x <= F(F(node["threshold"]) + F(1e-6)) else "right"]
        total = F(total + F(F(tree["weight"]) * F(node["value"])))
    return total


def _solr_linear(weights, names, vector):
    assert set(weights) == set(names)
    total = F(0)
    for name, x in zip(names, vector, strict=True):
        total = F(total + F(x * F(weights[name])))
    return total


def _solr_network(layers, vector):
    def activated(kind, x):
        if kind == "sigmoid":
            return F(1 / (1 + math.exp(-float(x))))
        return {"relu": lambda: max(x, F(0)), "tanh": lambda: F(math.tanh(float(x))), "identity": lambda: x}[
            kind
        ]()

    for layer in layers:
        out = []
        for row, bias in zip(layer["matrix"], layer["bias"], strict=True):
            assert all(isinstance(one, float) for one in [*row, bias])
            total = F(bias)
            for weight, x in zip(row, vector, strict=True):
                total = F(total + F(F(weight) * x))
            out.append(activated(layer["activation"], total))
        vector = out
    assert len(vector) == 1
    return vector[0]


def as_rows(X, names):
    """Documents as engines see them: a feature that is undefined is absent."""
    return [{name: float(x) for name, x in zip(names, row, strict=True) if not math.isnan(x)} for row in X]
