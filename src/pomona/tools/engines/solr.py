"""Solr: float32, x <= threshold + 1e-6 goes left, weights on trees; undefined values from 9.2 on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Scores
from pomona.errors import InputError
from pomona.tools.engines.engine import Engine, FeatureScale, Served, place_of
from pomona.trees.formats.weighted_sum import WeightedSum
from pomona.trees.readers.reader import Nodes

_SLACK = np.float32(1e-6)


class SolrModel(Engine):
    """Solr's learning to rank; features have NaN for their default where the version knows it."""

    name: ClassVar[str] = "solr"
    newest: ClassVar[tuple[int, ...]] = (9, 10)

    def read(self, text: str | bytes, names: Sequence[str]) -> Served:
        """What the model store takes."""
        model = json.loads(text)
        places = [place_of(names, feature["name"]) for feature in model["features"]]
        kind, parameters = model["class"].rpartition(".")[2], model["params"]
        scale = _normalizers(model["features"], places, len(names))
        if kind == "MultipleAdditiveTreesModel":
            return self._trees(parameters, names, scale)
        if kind == "LinearModel":
            weights = np.array([parameters["weights"][feature["name"]] for feature in model["features"]])
            return Served(WeightedSum(np.array(places), weights, len(names), single=True), "zero", scale)
        if kind != "NeuralNetworkModel":
            raise InputError(f"the engine has no model {kind!r}")
        return Served(Network(parameters["layers"], places), "zero", scale)

    def _trees(self, parameters: Any, names: Sequence[str], scale: FeatureScale | None) -> Served:
        knows = parameters.get("isNullSameAsZero") is False
        if knows and self.version < (9, 2):
            raise InputError("Solr before 9.2 refuses isNullSameAsZero")
        nodes, places = Nodes(), {name: j for j, name in enumerate(names)}
        for tree in parameters["trees"]:
            nodes.add_tree(tree["root"], partial(_read_node, places, _float(tree["weight"]), knows))
        return Served(nodes.forest(len(names), single=True), "undefined" if knows else "zero", scale)


def _float(text: Any) -> np.float32:
    """As Java reads a float: `0.5f` too."""
    return np.float32(str(text).rstrip("fF"))


def _normalizers(features: Any, places: Sequence[int], n_features: int) -> FeatureScale | None:
    scales: dict[int, tuple[Any, Any]] = {}
    for feature, place in zip(features, places, strict=True):
        norm = feature.get("norm", {"class": "IdentityNormalizer"})
        kind, given = norm["class"].rpartition(".")[2], norm.get("params", {})
        if kind == "StandardNormalizer":
            scales[place] = _float(given["avg"]), _float(given["std"])
        elif kind == "MinMaxNormalizer":
            scales[place] = _float(given["min"]), _float(given["max"]) - _float(given["min"])
        elif kind != "IdentityNormalizer":
            raise InputError(f"Solr has no normalizer {kind!r}")
    return FeatureScale.of(scales, n_features)


def _read_node(
    places: Mapping[str, int], weight: np.float32, knows_undefined: bool, node: Any
) -> float | tuple[Any, ...]:
    if "value" in node:
        return float(weight * _float(node["value"]))
    if not isinstance(node["threshold"], str):
        raise InputError("Solr refuses a threshold that is not quoted")
    if knows_undefined and "missing" not in node:
        raise InputError(f"Solr fails where {node['feature']!r} is undefined: a split does not say `missing`")
    limit = float(_float(node["threshold"]) + _SLACK)
    return places[node["feature"]], limit, node.get("missing") == "left", 0.0, node["left"], node["right"]


_ACTIVATIONS: dict[str, Callable[[NDArray[np.float32]], NDArray[np.floating]]] = {
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, np.float32(0)),
    "leakyrelu": lambda x: np.where(x < 0, np.float32(0.01) * x, x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x.astype(np.float64))),
    "tanh": lambda x: np.tanh(x.astype(np.float64)),
}


class Network:
    """Solr's NeuralNetworkModel: float32, each product and each sum rounded, beginning with the bias."""

    def __init__(self, layers: Any, places: Sequence[int]) -> None:
        self._places = list(places)
        self._layers = [
            (
                np.array(layer["matrix"], np.float32),
                np.array(layer["bias"], np.float32),
                _ACTIVATIONS[layer["activation"]],
            )
            for layer in layers
        ]

    def score(self, X: Features) -> Scores:
        """One score a row."""
        units: NDArray[np.float32] = X[:, self._places].astype(np.float32)
        for matrix, bias, activation in self._layers:
            total = np.repeat(bias[None], len(units), axis=0)
            for column in range(matrix.shape[1]):
                total += units[:, column, None] * matrix[:, column]
            units = activation(total).astype(np.float32)
        return units[:, 0].astype(np.float64)
