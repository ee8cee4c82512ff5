"""The learning to rank plugins of Elasticsearch and OpenSearch: float32, x < threshold goes left.

Where undefined values go depends on the version: by the split, always right, or nowhere, as they are 0.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from pomona.errors import InputError
from pomona.tools.engines.engine import Engine, Served, place_of
from pomona.trees.formats.weighted_sum import WeightedSum
from pomona.trees.readers.reader import Nodes
from pomona.trees.readers.xgboost_json import below

_SPLIT = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"}
Undefined = Literal["by split", "right", "zero"]


class _Plugin(Engine):
    """What both plugins do."""

    def undefined(self) -> Undefined:
        """What this version makes of features that a document lacks."""
        raise NotImplementedError

    def read(self, text: str, names: Sequence[str]) -> Served:
        """The body of `_createmodel`."""
        body = json.loads(text)["model"]["model"]
        definition = body["definition"]
        if body["type"] == "model/linear":
            features = np.array([place_of(names, name) for name in definition], np.int64)
            order = np.argsort(features)
            weights = np.array(list(definition.values()), np.float64)
            return Served(WeightedSum(features[order], weights[order], len(names), single=True), "zero")
        if body["type"] != "model/xgboost+json":
            raise InputError(f"the engine has no models of type {body['type']!r}")
        undefined, nodes, places = self.undefined(), Nodes(), {name: j for j, name in enumerate(names)}
        for tree in definition["splits"] if isinstance(definition, dict) else definition:
            nodes.add_tree(tree, lambda node: _told(node, places, undefined))
        forest = nodes.forest(len(names), single=True)
        return Served(forest, "zero" if undefined == "zero" else "undefined")


class ElasticsearchPlugin(_Plugin):
    """Elasticsearch with o19s' plugin; the version is the plugin's (1.5.8) or Elasticsearch's (8.11)."""

    name: ClassVar[str] = "elasticsearch"
    newest: ClassVar[tuple[int, ...]] = (9, 0)

    def undefined(self) -> Undefined:
        """By the split from 1.5.9 on, of Elasticsearch 8.11.4."""
        is_new = self.version >= ((1, 5, 9) if self.version[0] == 1 else (8, 11, 4))
        return "by split" if is_new else "zero"


class OpenSearchPlugin(_Plugin):
    """OpenSearch with its plugin."""

    name: ClassVar[str] = "opensearch"
    newest: ClassVar[tuple[int, ...]] = (3, 8)

    def undefined(self) -> Undefined:
        """By the split from 3.8 on, always right from 3.2 on, before that 0."""
        return "by split" if self.version >= (3, 8) else "right" if self.version >= (3, 2) else "zero"


def _told(node: Any, places: dict[str, int], undefined: Undefined) -> float | tuple[Any, ...]:
    if "leaf" in node:
        if node.keys() - {"nodeid", "leaf", "depth"}:
            raise InputError(f"the engine refuses a leaf with {sorted(node)}")
        return float(np.float32(node["leaf"]))
    if node.keys() != _SPLIT:
        raise InputError(f"the engine refuses a split with {sorted(node)}, it wants {sorted(_SPLIT)}")
    left, right = node["children"]
    if (left["nodeid"], right["nodeid"]) != (node["yes"], node["no"]) or node["split"] not in places:
        raise InputError(f"the engine refuses the split on {node['split']!r}")
    limit = float(below(np.array([node["split_condition"]], np.float32))[0])
    nan_left = undefined == "by split" and node["missing"] == node["yes"]
    return places[node["split"]], limit, nan_left, 0.0, left, right
