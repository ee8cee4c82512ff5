"""The learning to rank plugins of Elasticsearch and OpenSearch: float32, x < threshold goes left.

Where undefined values go depends on the version: by the split, always right, or nowhere, as they are 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from pomona.errors import InputError
from pomona.tools.engines.engine import Engine, FeatureScale, Served, place_of
from pomona.trees.forest import Forest
from pomona.trees.formats.weighted_sum import WeightedSum
from pomona.trees.readers.reader import Nodes, forest_of
from pomona.trees.readers.xgboost_json import below

_SPLIT = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"}
_RAW_COLUMNS = (
    *("left_children", "right_children", "split_indices", "split_conditions"),
    *("default_left", "base_weights"),
)
_IDENTITY = {"binary:logitraw", "rank:ndcg", "rank:map", "rank:pairwise", "reg:linear"}
_LOGISTIC = {"binary:logistic", "reg:logistic"}
Undefined = Literal["by split", "right", "zero"]


class _Plugin(Engine):
    """What both plugins do."""

    def undefined(self) -> Undefined:
        """What this version makes of features that a document lacks."""
        raise NotImplementedError

    def raw_undefined(self) -> Undefined:
        """The same for XGBoost's own JSON."""
        return self.undefined()

    def reads_raw(self) -> bool:
        """Whether this version reads XGBoost's own JSON."""
        raise NotImplementedError

    def knows_missing_as_zero(self) -> bool:
        """Whether a model may ask for zeros in the place of what a document lacks."""
        return False

    def read(self, text: str | bytes, names: Sequence[str]) -> Served:
        """The body of `_createmodel`."""
        body = json.loads(text)["model"]["model"]
        definition, kind = body["definition"], body["type"]
        scale = _normalizers(body.get("feature_normalizers", {}), names)
        if kind == "model/linear":
            features = np.array([place_of(names, name) for name in definition], np.int64)
            order = np.argsort(features)
            weights = np.array(list(definition.values()), np.float64)
            total = WeightedSum(features[order], weights[order], len(names), single=True)
            return Served(total, "zero", scale)
        places, is_raw = {name: j for j, name in enumerate(names)}, kind == "model/xgboost+json+raw"
        if kind != "model/xgboost+json" and not (is_raw and self.reads_raw()):
            raise InputError(f"the engine has no models of type {kind!r}")
        written = definition if isinstance(definition, dict) else {"splits": definition}
        undefined = self.raw_undefined() if is_raw else self.undefined()
        if self.knows_missing_as_zero() and written.get("missing_as_zero"):
            undefined = "zero"
        if is_raw:
            forest = _raw_forest(written["learner"], places, undefined)
            objective = written["learner"]["objective"]["name"]
        else:
            known = {"splits", "objective", *["missing_as_zero"] * self.knows_missing_as_zero()}
            if unknown := sorted(written.keys() - known):
                raise InputError(f"the engine refuses a definition with {unknown[0]!r}")
            forest, objective = additive_trees(written["splits"], places, undefined), written.get("objective")
        logistic: Literal["float32"] | None = "float32" if objective and _is_logistic(objective) else None
        return Served(forest, "zero" if undefined == "zero" else "undefined", scale, logistic=logistic)


class ElasticsearchPlugin(_Plugin):
    """Elasticsearch with o19s' plugin; the version is the plugin's (1.5.8) or Elasticsearch's (8.11)."""

    name: ClassVar[str] = "elasticsearch"
    newest: ClassVar[tuple[int, ...]] = (9, 0, 8)

    def undefined(self) -> Undefined:
        """By the split from 1.5.9 on, of Elasticsearch 8.11.4."""
        is_new = self.version >= ((1, 5, 9) if self.version[0] == 1 else (8, 11, 4))
        return "by split" if is_new else "zero"

    def raw_undefined(self) -> Undefined:
        """By the split from 1.5.12 on, of Elasticsearch 9.0.8; before, always right."""
        is_new = self.version >= ((1, 5, 12) if self.version[0] == 1 else (9, 0, 8))
        return "by split" if is_new else "right"

    def reads_raw(self) -> bool:
        """From 1.5.10 on, of Elasticsearch 8.15.2."""
        return self.version >= ((1, 5, 10) if self.version[0] == 1 else (8, 15, 2))


class OpenSearchPlugin(_Plugin):
    """OpenSearch with its plugin."""

    name: ClassVar[str] = "opensearch"
    newest: ClassVar[tuple[int, ...]] = (3, 8)

    def undefined(self) -> Undefined:
        """By the split from 3.8 on, always right from 3.2 on, before that 0."""
        return "by split" if self.version >= (3, 8) else "right" if self.version >= (3, 2) else "zero"

    def reads_raw(self) -> bool:
        """From 2.19.2 on."""
        return self.version >= (2, 19, 2)

    def knows_missing_as_zero(self) -> bool:
        """After 3.8."""
        return self.version >= (3, 9)


def _is_logistic(objective: str) -> bool:
    if objective not in _IDENTITY | _LOGISTIC:
        raise InputError(f"the engine refuses the objective {objective!r}")
    return objective in _LOGISTIC


def _normalizers(normalizers: Any, names: Sequence[str]) -> FeatureScale | None:
    """`feature_normalizers`: (x − minimum) / (maximum − minimum), or (x − mean) / standard deviation."""
    scales: dict[int, tuple[Any, Any]] = {}
    for name, normalizer in normalizers.items():
        ((kind, given),) = normalizer.items()
        if kind == "standard":
            center, width = np.float32(given["mean"]), np.float32(given["standard_deviation"])
        elif kind == "min_max":
            center = np.float32(given["minimum"])
            width = np.float32(given["maximum"]) - center
        else:
            raise InputError(f"the engine has no normalizer {kind!r}")
        if not width > 0 or (kind == "min_max" and center < 0):
            raise InputError(f"the engine refuses the normalizer of {name!r}: {given}")
        scales[place_of(names, name)] = center, width
    return FeatureScale.of(scales, len(names))


def additive_trees(
    trees: Any, places: Mapping[str, int], undefined: Undefined, weights: Sequence[float] | None = None
) -> Forest:
    """The plugins' sum of trees; of XGBoost's every weight is 1."""
    nodes = Nodes()
    for tree, weight in zip(trees, [1.0] * len(trees) if weights is None else weights, strict=True):
        nodes.add_tree(tree, partial(_read_node, places, undefined, np.float32(weight)))
    return nodes.forest(len(places), single=True)


def _raw_forest(learner: Any, places: dict[str, int], undefined: Undefined) -> Forest:
    """XGBoost's own JSON: a leaf is a node that lacks a child, and its value stands in `base_weights`."""
    names, types = learner["feature_names"], learner["feature_types"]
    if len(types) != len(names) or not set(types) <= {"float"} or not set(names) <= places.keys():
        raise InputError("the engine refuses features that it does not know, or of another type than float")
    trees = learner["gradient_booster"]["model"]["trees"]
    columns = {key: np.concatenate([np.asarray(tree[key]) for tree in trees]) for key in _RAW_COLUMNS}
    is_leaf = (columns["left_children"] == -1) | (columns["right_children"] == -1)
    place = np.array([places[name] for name in names])
    return forest_of(
        [len(tree["left_children"]) for tree in trees],
        np.where(is_leaf, -1, columns["left_children"]),
        np.where(is_leaf, -1, columns["right_children"]),
        np.where(is_leaf, 0, place[np.where(is_leaf, 0, columns["split_indices"])]),
        np.where(is_leaf, 0.0, below(columns["split_conditions"].astype(np.float32))),
        columns["default_left"].astype(bool) & (undefined == "by split"),
        np.zeros(len(is_leaf)),
        np.where(is_leaf, columns["base_weights"].astype(np.float32), np.float32(0)),
        n_features=len(places),
        single=True,
    )


def _read_node(
    places: Mapping[str, int], undefined: Undefined, weight: np.float32, node: Any
) -> float | tuple[Any, ...]:
    if "leaf" in node:
        if node.keys() - {"nodeid", "leaf", "depth"}:
            raise InputError(f"the engine refuses a leaf with {sorted(node)}")
        return float(weight * np.float32(node["leaf"]))
    if node.keys() != _SPLIT:
        raise InputError(f"the engine refuses a split with {sorted(node)}, it wants {sorted(_SPLIT)}")
    left, right = node["children"]
    if (left["nodeid"], right["nodeid"]) != (node["yes"], node["no"]) or node["split"] not in places:
        raise InputError(f"the engine refuses the split on {node['split']!r}")
    limit = float(below(np.array([node["split_condition"]], np.float32))[0])
    nan_left = undefined == "by split" and node["missing"] == node["yes"]
    return places[node["split"]], limit, nan_left, 0.0, left, right
