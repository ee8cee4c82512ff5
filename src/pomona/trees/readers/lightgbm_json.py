"""LightGBM's JSON dump (`dump_model`): the same trees, nested; ±1e300 stands for infinity in it."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from pomona.errors import InputError
from pomona.trees.readers.lightgbm_text import NAN_IS_MISSING, NONE, OUTPUTS, ZERO_IS_MISSING, as_ours
from pomona.trees.readers.reader import (
    Leaf,
    Nodes,
    Reader,
    ReadModel,
    checked_width,
    refuse_categories,
    refuse_outputs,
    unless_default,
)

_INFINITE = 1e300  # LightGBM dumps nothing larger
_MISSING = {"None": NONE, "Zero": ZERO_IS_MISSING, "NaN": NAN_IS_MISSING}


class LightGBMJson(Reader):
    """LightGBM's JSON dump."""

    name: ClassVar[str] = "lightgbm-json"

    def recognizes(self, content: Any) -> bool:
        """It has a `tree_info`."""
        return isinstance(content, dict) and "tree_info" in content

    def read(self, content: Any) -> ReadModel:
        """The trees of `tree_info`."""
        refuse_outputs(*(int(content.get(name, 1)) for name in OUTPUTS))
        nodes = Nodes()
        types: list[int] = []

        def read_node(node: Any) -> Leaf | tuple[Any, ...]:
            if "leaf_value" in node:
                if "leaf_coeff" in node:
                    raise InputError("a tree has linear leaves, which Pomona does not know")
                types.append(NONE)
                statistics = (float(node.get(name, math.nan)) for name in ("leaf_count", "leaf_weight"))
                return Leaf(float(node["leaf_value"]), *statistics)
            if node["decision_type"] != "<=":
                refuse_categories(f"a split on feature {node['split_feature']}")
            types.append(_MISSING[node["missing_type"]])
            split = node["split_feature"], _limit(node["threshold"]), bool(node["default_left"])
            return *split, float(node.get("split_gain", 0.0)), node["left_child"], node["right_child"]

        trees = content["tree_info"]
        for tree in trees:
            nodes.add_tree(tree["tree_structure"], read_node)
        width = checked_width(nodes.feature, int(content.get("max_feature_idx", -1)) + 1)
        names = unless_default(content.get("feature_names", []), "Column_", width=width)
        divisor = max(len(trees), 1) if content.get("average_output") else 1
        threshold, nan_left, zeros = as_ours(
            np.array(nodes.threshold, np.float64), np.array(nodes.nan_left, bool), np.array(types, np.int64)
        )
        nodes.threshold, nodes.nan_left = threshold.tolist(), nan_left.tolist()
        forest = nodes.forest(width, double=True, zero_missing=zeros)
        return ReadModel(forest, names, divisor=float(divisor))


def _limit(threshold: Any) -> float:
    limit = float(threshold)
    return math.copysign(math.inf, limit) if abs(limit) >= _INFINITE else limit
