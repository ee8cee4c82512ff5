"""Elasticsearch's own learning to rank: float64, <= goes left, sums compensated, scores float32.

From 8.19, 9.0.1 and 9.1 on scores are shifted by the least that the trees can give, if that is negative. An
infinite value goes where an undefined one does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from pomona.errors import InputError
from pomona.tools.engines.engine import Engine, Served, place_of
from pomona.trees.readers.reader import forest_of

_SPLIT = {
    *("node_index", "left_child", "right_child", "split_feature"),
    *("threshold", "decision_type", "default_left"),
}


class ElasticTrainedModel(Engine):
    """Elasticsearch's trained models, 8.12 and later."""

    name: ClassVar[str] = "elastic"
    newest: ClassVar[tuple[int, ...]] = (9, 1)

    def read(self, text: str | bytes, names: Sequence[str]) -> Served:
        """The definition of a trained model."""
        ensemble = json.loads(text)["definition"]["trained_model"]["ensemble"]
        places = np.array([place_of(names, name) for name in ensemble["feature_names"]], np.int64)
        nodes, sizes = [], []
        for one in ensemble["trained_models"]:
            structure = one["tree"]["tree_structure"]
            if any(set(node) not in (_SPLIT, {"node_index", "leaf_value"}) for node in structure):
                raise InputError("the engine refuses a node with other keys")
            nodes += structure
            sizes.append(len(structure))
        weights = np.repeat(ensemble["aggregate_output"]["weighted_sum"]["weights"], sizes)
        forest = forest_of(
            sizes,
            np.array([node.get("left_child", -1) for node in nodes]),
            np.array([node.get("right_child", -1) for node in nodes]),
            places[[node.get("split_feature", 0) for node in nodes]],
            np.array([_limit(node) for node in nodes], np.float64),
            np.array([node.get("default_left", False) for node in nodes]),
            np.zeros(len(nodes)),
            np.array([node.get("leaf_value", 0.0) for node in nodes]) * weights,
            n_features=len(names),
            double=True,
        )
        return Served(forest, "undefined", compensated=True, shift=self._shift(ensemble["trained_models"]))

    def _shift(self, trees: Sequence[Any]) -> float:
        """What versions that want no score below 0 add: the least leaves, whatever their trees weigh."""
        if self.version < (8, 19) or (9,) <= self.version < (9, 0, 1):
            return 0.0
        structures = (one["tree"]["tree_structure"] for one in trees)
        least = sum(min(node["leaf_value"] for node in s if "leaf_value" in node) for s in structures)
        return max(0.0, -float(least))


def _limit(node: Mapping[str, Any]) -> float:
    """What a value must not exceed to go left."""
    kind, threshold = node.get("decision_type", "lte"), float(node.get("threshold", 0.0))
    if kind not in ("lt", "lte"):
        raise InputError(f"found decisions by {kind!r}, expected lt or lte")
    return threshold if kind == "lte" else float(np.nextafter(threshold, -np.inf))
