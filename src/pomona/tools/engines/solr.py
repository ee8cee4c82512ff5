"""Solr: float32, x <= threshold + 1e-6 goes left, weights on trees; undefined values from 9.2 on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from pomona.errors import InputError
from pomona.tools.engines.engine import Engine, Served, place_of
from pomona.trees.formats.layers import InputScale, Layers
from pomona.trees.formats.weighted_sum import WeightedSum
from pomona.trees.readers.reader import Nodes

_SLACK = np.float32(1e-6)


class SolrModel(Engine):
    """Solr's learning to rank; features have NaN for their default where the version knows it."""

    name: ClassVar[str] = "solr"
    newest: ClassVar[tuple[int, ...]] = (9, 10)

    def read(self, text: str, names: Sequence[str]) -> Served:
        """What the model store takes."""
        model = json.loads(text)
        places = [place_of(names, feature["name"]) for feature in model["features"]]
        kind, parameters = model["class"].rpartition(".")[2], model["params"]
        if kind == "MultipleAdditiveTreesModel":
            return self._trees(parameters, names)
        if kind == "LinearModel":
            weights = np.array([parameters["weights"][feature["name"]] for feature in model["features"]])
            return Served(WeightedSum(np.array(places), weights, len(names), single=True), "zero")
        if kind != "NeuralNetworkModel":
            raise InputError(f"the engine has no model {kind!r}")
        return Served(_layers(parameters["layers"], model["features"], places, len(names)), "zero")

    def _trees(self, parameters: Any, names: Sequence[str]) -> Served:
        knows = parameters.get("isNullSameAsZero") is False
        if knows and self.version < (9, 2):
            raise InputError("Solr before 9.2 refuses isNullSameAsZero")
        nodes, places = Nodes(), {name: j for j, name in enumerate(names)}
        for tree in parameters["trees"]:
            weight = np.float32(tree["weight"])
            nodes.add_tree(tree["root"], partial(_told, places, weight))
        return Served(nodes.forest(len(names), single=True), "undefined" if knows else "zero")


def _told(places: dict[str, int], weight: np.float32, node: Any) -> float | tuple[Any, ...]:
    if "value" in node:
        return float(weight * np.float32(node["value"]))
    if not isinstance(node["threshold"], str):
        raise InputError("Solr refuses a threshold that is not quoted")
    limit = float(np.float32(np.float32(node["threshold"]) + _SLACK))
    return places[node["feature"]], limit, node.get("missing") == "left", 0.0, node["left"], node["right"]


def _layers(layers: Any, features: Any, places: list[int], width: int) -> Layers:
    mean, inverse = np.zeros(width), np.ones(width)
    for feature, place in zip(features, places, strict=True):
        told = feature.get("norm", {}).get("params", {"avg": "0", "std": "1"})
        mean[place], inverse[place] = float(told["avg"]), 1.0 / float(told["std"])
    first = np.zeros((width, len(layers[0]["bias"])))
    first[places] = np.array(layers[0]["matrix"], np.float64).T
    return Layers(
        (first, *(np.array(layer["matrix"], np.float64).T for layer in layers[1:])),
        tuple(np.array(layer["bias"], np.float64) for layer in layers),
        tuple(layer["activation"] for layer in layers),
        InputScale(mean, inverse, False, np.inf),
    )
