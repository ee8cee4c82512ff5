"""Vespa: a model becomes one ranking expression in float64; large forests are packed, with float32 leaves.

XGBoost's dump: `f < T` (or `!(f >= T)`), T a float32, sums in order. XGBoost's UBJSON: T is one float32
lower, leaves are `base_weights`, and the base score's margin comes last. LightGBM's dump: its `<=` becomes
`<`, and categories are told by their numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pomona.errors import InputError
from pomona.tools.engines.engine import Engine, Served
from pomona.trees.forest import Forest
from pomona.trees.formats.vespa import is_packed
from pomona.trees.readers.reader import Nodes
from pomona.trees.readers.ubjson import read_ubjson

_SPLIT = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"}


class VespaModel(Engine):
    """Vespa's ranking expression of a model of XGBoost or LightGBM."""

    name: ClassVar[str] = "vespa"
    newest: ClassVar[tuple[int, ...]] = (8,)

    def read(self, text: str | bytes, names: Sequence[str]) -> Served:
        """A file of `models/`."""
        places = {name: j for j, name in enumerate(names)}
        if isinstance(text, bytes):
            return Served(_served(*_of_learner(read_ubjson(text)["learner"]), len(names)), "undefined")
        if text.startswith("["):
            trees = json.loads(text)
            return Served(_served(trees, partial(_of_dump, places), len(names)), "undefined")
        model = json.loads(text) if text.startswith("{") else {}
        if "tree_info" not in model:
            raise InputError("Vespa reads XGBoost's dump from its first character on, which is [")
        of_column = dict(enumerate(places[name] for name in model["feature_names"]))
        trees = [tree["tree_structure"] for tree in model["tree_info"]]
        forest = _served(trees, partial(_of_lightgbm, of_column), len(names))
        is_binary = model["objective"].startswith(("binary", "cross_entropy"))
        return Served(forest, "undefined", logistic="float64" if is_binary else None)


def _served(trees: Iterable[Any], read_node: Any, n_features: int) -> Forest:
    """The trees as a content node evaluates them: large forests have float32 leaves, the last tree first."""
    nodes = Nodes()
    for tree in trees:
        nodes.add_tree(tree, read_node)
    forest = nodes.forest(n_features, double=True)
    if not is_packed(forest):
        return forest
    packed = Nodes()
    for tree in reversed(list(trees)):
        packed.add_tree(tree, read_node)
    packed.value = [float(np.float32(one)) for one in packed.value]
    packed.threshold = [_below(np.float32(np.nextafter(one, np.inf))) for one in packed.threshold]
    return packed.forest(n_features, double=True)


def _below(limit: np.floating) -> float:
    """What x must not exceed to lie below the limit."""
    return float(np.nextafter(np.float64(limit), -np.inf))


def _of_dump(places: Mapping[str, int], node: Any) -> float | tuple[Any, ...]:
    if "leaf" in node:
        return float(node["leaf"])
    if node.keys() != _SPLIT:
        raise InputError(f"Vespa refuses a split with {sorted(node)}")
    limit, nan_left = _below(np.float32(node["split_condition"])), node["missing"] == node["yes"]
    return places[node["split"]], limit, nan_left, 0.0, *node["children"]


def _of_learner(learner: Any) -> tuple[list[Any], Any]:
    """The trees of XGBoost's own model, and last its base score: nodes go by (tree, number)."""
    trees = learner["gradient_booster"]["model"]["trees"]
    base = float(str(learner["learner_model_param"]["base_score"]).strip("[]"))
    if learner["objective"]["name"].endswith(":logistic"):
        base = math.log(base / (1 - base))

    def read_node(node: Any) -> float | tuple[Any, ...]:
        if isinstance(node, float):
            return node
        tree, number = node
        left, right = tree["left_children"][number], tree["right_children"][number]
        if left < 0:
            return float(tree["base_weights"][number])
        limit = _below(np.nextafter(np.float32(tree["split_conditions"][number]), np.float32(-np.inf)))
        split = int(tree["split_indices"][number]), limit, bool(tree["default_left"][number])
        return *split, 0.0, (tree, left), (tree, right)

    return [*((tree, 0) for tree in trees), base], read_node


class _Within(NamedTuple):
    """Values below the first limit belong to `here`, those below the next to `other`, and so on in turn."""

    feature: int
    limits: tuple[float, ...]
    here: Any
    other: Any
    is_outside: bool


def _of_lightgbm(places: Mapping[int, int], node: Any) -> float | tuple[Any, ...]:
    if isinstance(node, _Within):
        feature, (limit, *rest), here, other, is_outside = node
        after = _Within(feature, tuple(rest), other, here, not is_outside) if rest else other
        return feature, _below(np.float64(limit)), is_outside, 0.0, here, after
    if "leaf_value" in node:
        return float(node["leaf_value"])
    feature, children = places[node["split_feature"]], (node["left_child"], node["right_child"])
    if node["decision_type"] == "<=":
        return feature, _below(np.float64(node["threshold"])), bool(node["default_left"]), 0.0, *children
    chosen = {int(one) for one in node["threshold"].split("||")}
    edges = sorted(
        {edge for one in chosen for edge in (one, one + 1) if (edge in chosen) != (edge - 1 in chosen)}
    )
    limits = tuple(edge - 0.5 for edge in edges)
    return _of_lightgbm(places, _Within(feature, limits, children[1], children[0], True))
