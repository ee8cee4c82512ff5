"""CatBoost's JSON model (`save_model(format="json")`): oblivious trees, or any.

Values and borders are compared as float32, x > border goes right; leaves are summed in float64, then scaled
and shifted.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pomona.errors import InputError
from pomona.trees.readers.reader import (
    Leaf,
    Nodes,
    Reader,
    ReadModel,
    checked_width,
    refuse_categories,
    refuse_outputs,
)

_DEEPEST = 30


class CatBoostJson(Reader):
    """CatBoost's JSON model."""

    name: ClassVar[str] = "catboost"

    def recognizes(self, content: Any) -> bool:
        """It has `features_info`, and trees of either kind."""
        has_trees = isinstance(content, dict) and ("oblivious_trees" in content or "trees" in content)
        return has_trees and "features_info" in content

    def read(self, content: Any) -> ReadModel:
        """The trees with their scale and bias."""
        info = content["features_info"]
        float_features = info.get("float_features", [])
        self._splits = {
            entry["feature_index"]: (entry["flat_feature_index"], _nan_left(entry))
            for entry in float_features
        }
        every = [entry for kind in info.values() if isinstance(kind, list) for entry in kind]
        flat = [entry["flat_feature_index"] for entry in every if "flat_feature_index" in entry]
        nodes = Nodes()
        for tree in content.get("oblivious_trees", []):
            nodes.add_tree((self._questions(tree), _leaves(tree), 0), _read_node)
        for tree in content.get("trees", []):
            nodes.add_tree(tree, self._read_node)
        scale, bias = content.get("scale_and_bias", [1, [0]])
        biases = np.atleast_1d(np.asarray(bias, np.float64))
        refuse_outputs(len(biases))
        shift, width = float(biases[0]) if len(biases) else 0.0, checked_width(flat)
        names = _names(float_features, width)
        return ReadModel(nodes.forest(width), names, scale=float(scale), shift=shift)

    def _split(self, split: Any) -> tuple[int, float, bool]:
        if split.get("split_type", "FloatFeature") != "FloatFeature":
            refuse_categories("a tree")
        column, nan_left = self._splits[split["float_feature_index"]]
        return column, float(np.float32(split["border"])), nan_left

    def _questions(self, tree: Any) -> list[tuple[int, float, bool]]:
        questions = [self._split(split) for split in tree.get("splits") or []]
        if len(questions) > _DEEPEST or len(tree["leaf_values"]) != 1 << len(questions):
            raise InputError(
                f"a tree of {len(questions)} splits has {len(tree['leaf_values'])} leaf values, "
                f"one score needs {1 << min(len(questions), _DEEPEST)}"
            )
        return questions

    def _read_node(self, node: Any) -> Leaf | tuple[Any, ...]:
        if "value" in node:
            value = np.atleast_1d(np.asarray(node["value"], np.float64))
            refuse_outputs(len(value))
            return Leaf(float(value[0]), weight=float(node.get("weight", np.nan)))
        return *self._split(node["split"]), 0.0, node["left"], node["right"]


def _leaves(tree: Any) -> list[Leaf]:
    """The leaves of an oblivious tree."""
    values, weights = tree["leaf_values"], tree.get("leaf_weights", ())
    weights = weights if len(weights) == len(values) else [np.nan] * len(values)
    return [Leaf(float(value), weight=float(weight)) for value, weight in zip(values, weights, strict=True)]


def _read_node(node: Any) -> Leaf | tuple[Any, ...]:
    """An oblivious tree: the last split asks first, as it is the highest bit of the leaf's number."""
    questions, leaves, first = node
    if not questions:
        leaf: Leaf = leaves[first]
        return leaf
    rest, half = questions[:-1], 1 << (len(questions) - 1)
    return *questions[-1], 0.0, (rest, leaves, first), (rest, leaves, first + half)


def _nan_left(entry: Any) -> bool:
    """An undefined value is above no border, unless the feature says that it is above all."""
    treatment = entry.get("nan_value_treatment", "AsIs")
    if treatment not in ("AsIs", "AsFalse", "AsTrue"):
        raise InputError(f"found a nan_value_treatment of {treatment!r}")
    return not (entry.get("has_nans") and treatment == "AsTrue")


def _names(float_features: Any, width: int) -> tuple[str, ...] | None:
    names = {entry["flat_feature_index"]: str(entry.get("feature_id", "")) for entry in float_features}
    given = tuple(names.get(column, "") for column in range(width))
    is_default = all(name in ("", str(column)) for column, name in enumerate(given))
    return None if is_default or len(set(given)) < width else given
