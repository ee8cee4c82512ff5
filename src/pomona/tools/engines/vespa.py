"""Vespa: float64 sums in order, `f < T` (or `!(f >= T)`), T a float32; large forests keep float32 leaves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from pomona.errors import InputError
from pomona.tools.engines.engine import Engine, Served
from pomona.trees.readers.reader import Nodes

_SPLIT = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"}
_LARGE = 25_000


class VespaModel(Engine):
    """Vespa's ranking expression of XGBoost's JSON dump."""

    name: ClassVar[str] = "vespa"
    newest: ClassVar[tuple[int, ...]] = (8,)

    def read(self, text: str, names: Sequence[str]) -> Served:
        """A file of `models/`."""
        if not text.startswith("["):
            raise InputError("Vespa reads XGBoost's dump from its first character on, which is [")
        nodes, places = Nodes(), {name: j for j, name in enumerate(names)}

        def told(node: Any) -> float | tuple[Any, ...]:
            if "leaf" in node:
                return float(node["leaf"])
            if node.keys() != _SPLIT:
                raise InputError(f"Vespa refuses a split with {sorted(node)}")
            limit = float(np.nextafter(np.float64(np.float32(node["split_condition"])), -np.inf))
            nan_left = node["missing"] == node["yes"]
            return places[node["split"]], limit, nan_left, 0.0, *node["children"]

        for tree in json.loads(text):
            nodes.add_tree(tree, told)
        if len(nodes.value) > 2 * _LARGE:
            nodes.value = [float(np.float32(one)) for one in nodes.value]
        return Served(nodes.forest(len(names), double=True), "undefined")
