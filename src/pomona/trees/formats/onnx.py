"""ONNX: trees, weighted sums and networks for any runtime of it, in float64.

Trees are a TreeEnsemble of ai.onnx.ml 5, which gives float64 scores; before it, `--engine-version 3` (of
ai.onnx.ml), a TreeEnsembleRegressor, whose scores are float32. Weighted sums and networks are plain
operators. The input `X` is (n_docs, n_features) in float64, the output `score` (n_docs, 1); the names of the
features stand in the model's metadata.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona.trees.forest import Forest
from pomona.trees.formats.format import FLOAT32_NOTE, FLOAT64_NOTE, Format, Model, without_base
from pomona.trees.formats.layers import InputScale, Layers
from pomona.trees.formats.protobuf import content, integer, integers
from pomona.trees.formats.weighted_sum import WeightedSum

_NEWEST = (5,)
_TYPES = {np.dtype(np.float32): 1, np.dtype(np.uint8): 2, np.dtype(np.int64): 7, np.dtype(np.float64): 11}
_FLOAT, _DOUBLE = 1, 11
_INT, _STRING, _TENSOR, _INTS, _STRINGS = 2, 3, 4, 7, 8
_LEQ, _SUM = 0, 1


class Onnx(Format):
    """ONNX in float64: TreeEnsemble (or, for ai.onnx.ml 3, its float32 predecessor), or plain operators."""

    name: ClassVar[str] = "onnx"

    def write(self, forest: Forest, feature_names: Sequence[str]) -> bytes:
        """One operator for all trees; the base is the first, so that sums are made in our order."""
        if self.options.version(_NEWEST) < _NEWEST:
            attributes = _regressor(without_base(forest))
            nodes = _node("TreeEnsembleRegressor", ["X"], "score", attributes, "ai.onnx.ml")
            return _model(nodes, b"", feature_names, ml_version=3, output=_FLOAT)
        nodes = _node("TreeEnsemble", ["X"], "score", _ensemble(without_base(forest)), "ai.onnx.ml")
        return _model(nodes, b"", feature_names)

    def write_sum(self, model: WeightedSum, feature_names: Sequence[str]) -> bytes:
        """Undefined values become 0, then a product and a sum."""
        one_layer = Layers((model.coef[:, None],), (np.array([model.start]),), ("identity",))
        return self.write_layers(one_layer, feature_names)

    def write_layers(self, model: Layers, feature_names: Sequence[str]) -> bytes:
        """Scaled features, then product, sum and activation of each layer."""
        graph = _Graph("X")
        if model.scale is not None:
            graph.scale(model.scale)
        graph.step("Where", graph.beside("IsNaN", graph.last), graph.constant(np.float64(0)), graph.last)
        operators = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid"}
        for weight, bias, activation in zip(model.weights, model.biases, model.activations, strict=True):
            graph.step("MatMul", graph.last, graph.constant(weight))
            graph.step("Add", graph.last, graph.constant(bias))
            if activation in operators:
                graph.step(operators[activation], graph.last)
        nodes = graph.nodes + _node("Identity", [graph.last], "score")
        return _model(nodes, graph.constants, feature_names)

    def notes(self, model: Model) -> list[str]:
        """Where scores are rounded."""
        if isinstance(model, Forest) and self.options.version(_NEWEST) < _NEWEST:
            return [FLOAT32_NOTE]
        if isinstance(model, Forest) and model.single:
            return [FLOAT64_NOTE]
        return []


class _Graph:
    """Operators one after the other; `last` is the name of what the last one gives."""

    def __init__(self, first: str) -> None:
        self.nodes, self.constants, self.last, self._count = b"", b"", first, 0

    def beside(self, operator: str, *inputs: str) -> str:
        """The name of what an operator gives."""
        self._count += 1
        self.nodes += _node(operator, list(inputs), f"h{self._count}")
        return f"h{self._count}"

    def step(self, operator: str, *inputs: str) -> None:
        """An operator whose result is what the next one works on."""
        self.last = self.beside(operator, *inputs)

    def constant(self, array: Any) -> str:
        """The name of a constant."""
        self._count += 1
        self.constants += content(5, _tensor(f"c{self._count}", array))
        return f"c{self._count}"

    def scale(self, scale: InputScale) -> None:
        """Put features on their scale."""
        if scale.log:
            size = self.beside("Add", self.beside("Abs", self.last), self.constant(np.float64(1)))
            self.step("Mul", self.beside("Sign", self.last), self.beside("Log", size))
        self.step("Sub", self.last, self.constant(scale.mean))
        self.step("Mul", self.last, self.constant(scale.inverse))
        limits = [self.constant(np.float64(way * scale.limit)) for way in (-1, 1)]
        self.step("Clip", self.last, *limits)


def _thresholds(forest: Forest) -> NDArray[np.float64]:
    threshold = forest.threshold if forest.double_threshold is None else forest.double_threshold
    return threshold.astype(np.float64)


def _ensemble(forest: Forest) -> bytes:
    """Inner nodes and leaves apart; a tree of one leaf becomes a node whose sides both lead to it."""
    inner = np.diff(forest.node_ptr)
    lone = inner == 0
    roots = np.cumsum(np.maximum(inner, 1)) - np.maximum(inner, 1)
    tree = np.repeat(np.arange(forest.n_trees), np.maximum(inner, 1))
    is_node = ~lone[tree]

    def spread(of_nodes: NDArray[Any], otherwise: Any) -> NDArray[Any]:
        out = np.full(len(tree), otherwise, of_nodes.dtype)
        out[is_node] = of_nodes
        return out

    def side(child: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        children = spread(child.astype(np.int64), ~0)
        is_leaf = children < 0
        place = np.where(is_leaf, forest.leaf_ptr[tree] + ~children, roots[tree] + children)
        return place, is_leaf.astype(np.int64)

    (true_ids, true_leaves), (false_ids, false_leaves) = side(forest.left), side(forest.right)
    whole = {
        "tree_roots": roots,
        "nodes_featureids": spread(forest.feature, 0),
        "nodes_truenodeids": true_ids,
        "nodes_trueleafs": true_leaves,
        "nodes_falsenodeids": false_ids,
        "nodes_falseleafs": false_leaves,
        "nodes_missing_value_tracks_true": spread(forest.nan_left, False),
        "leaf_targetids": np.zeros(len(forest.value), np.int64),
    }
    tensors = {
        "nodes_splits": spread(_thresholds(forest), 0.0),
        "nodes_modes": np.full(len(tree), _LEQ, np.uint8),
        "leaf_weights": forest.value,
    }
    out = b"".join(_ints(name, numbers) for name, numbers in whole.items())
    out += b"".join(_tensor_attribute(name, array) for name, array in tensors.items())
    return out + _int("n_targets", 1) + _int("aggregate_function", _SUM) + _int("post_transform", 0)


def _regressor(forest: Forest) -> bytes:
    """Nodes and leaves in one list a tree, its inner nodes first."""
    sizes = np.diff(forest.node_ptr) + np.diff(forest.leaf_ptr)
    tree = np.repeat(np.arange(forest.n_trees), sizes)
    number = np.arange(len(tree)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    n_inner = np.diff(forest.node_ptr)[tree]
    is_node = number < n_inner

    def spread(of_nodes: NDArray[Any]) -> NDArray[Any]:
        out = np.zeros(len(tree), of_nodes.dtype)
        out[is_node] = of_nodes
        return out

    def side(child: NDArray[np.int32]) -> NDArray[np.int64]:
        inner = n_inner[is_node]
        return spread(np.where(child < 0, inner + ~child, child).astype(np.int64))

    whole = {
        "nodes_treeids": tree,
        "nodes_nodeids": number,
        "nodes_featureids": spread(forest.feature),
        "nodes_truenodeids": side(forest.left),
        "nodes_falsenodeids": side(forest.right),
        "nodes_missing_value_tracks_true": spread(forest.nan_left),
        "target_treeids": tree[~is_node],
        "target_nodeids": number[~is_node],
        "target_ids": np.zeros(len(forest.value), np.int64),
    }
    modes = np.where(is_node, "BRANCH_LEQ", "LEAF").tolist()
    out = b"".join(_ints(name, numbers) for name, numbers in whole.items())
    out += _attribute("nodes_modes", _STRINGS, b"".join(content(9, mode) for mode in modes))
    out += _tensor_attribute("nodes_values_as_tensor", spread(_thresholds(forest)))
    out += _tensor_attribute("target_weights_as_tensor", forest.value)
    return out + _int("n_targets", 1) + _attribute("aggregate_function", _STRING, content(4, "SUM"))


def _attribute(name: str, kind: int, value: bytes) -> bytes:
    return content(5, content(1, name) + value + integer(20, kind))


def _int(name: str, number: int) -> bytes:
    return _attribute(name, _INT, integer(3, number))


def _ints(name: str, numbers: NDArray[Any]) -> bytes:
    return _attribute(name, _INTS, integers(8, numbers.astype(np.int64).tolist()))


def _tensor_attribute(name: str, array: NDArray[Any]) -> bytes:
    return _attribute(name, _TENSOR, content(5, _tensor(name, array)))


def _tensor(name: str, array: Any) -> bytes:
    values = np.asarray(array)
    dims = b"".join(integer(1, size) for size in values.shape)
    raw = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
    return dims + integer(2, _TYPES[values.dtype]) + content(8, name) + content(9, raw)


def _node(operator: str, inputs: list[str], output: str, attributes: bytes = b"", domain: str = "") -> bytes:
    fields = b"".join(content(1, name) for name in inputs) + content(2, output) + content(4, operator)
    return content(1, fields + attributes + (content(7, domain) if domain else b""))


def _value(name: str, kind: int, width: int) -> bytes:
    shape = content(1, content(2, "n_docs")) + content(1, integer(1, width))
    return content(1, name) + content(2, content(1, integer(1, kind) + content(2, shape)))


def _model(
    nodes: bytes, constants: bytes, names: Sequence[str], ml_version: int = 5, output: int = _DOUBLE
) -> bytes:
    ends = content(11, _value("X", _DOUBLE, len(names))) + content(12, _value("score", output, 1))
    graph = nodes + content(2, "pomona") + constants + ends
    needed = {"": 15, "ai.onnx.ml": ml_version}
    versions = b"".join(content(8, content(1, name) + integer(2, one)) for name, one in needed.items())
    metadata = content(14, content(1, "feature_names") + content(2, json.dumps(list(names))))
    return integer(1, 8) + content(2, "pomona") + content(7, graph) + versions + metadata
