"""XGBoost's dumps (`dump_model`), as text or as JSON; search engines keep models so.

A dump has neither the base score nor DART's weights, so that scores are the model's less a constant.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np

from pomona.errors import InputError
from pomona.trees.readers.reader import Nodes, Reader, ReadModel, checked_width, refuse_categories
from pomona.trees.readers.xgboost_json import below

_NOTE = "a dump of XGBoost has no base score: all scores may differ from XGBoost's by one constant"
_SPLIT = re.compile(r"(\d+):\[(.*)<([^<\]]+)\] yes=(\d+),no=(\d+),missing=(\d+)(?:,gain=([^,]+))?(?:,.*)?")
_LEAF = re.compile(r"(\d+):leaf=([^,]+)(?:,.*)?")


class XGBoostJsonDump(Reader):
    """XGBoost's JSON dump, also as the learning to rank of Elasticsearch and OpenSearch wraps it."""

    name: ClassVar[str] = "xgboost-dump"

    def recognizes(self, content: Any) -> bool:
        """A list of nested trees, perhaps as the `splits` beside an objective."""
        trees = _splits(content)
        is_list = isinstance(trees, list) and len(trees) > 0 and isinstance(trees[0], dict)
        return is_list and "nodeid" in trees[0]

    def read(self, content: Any) -> ReadModel:
        """The trees one after the other."""
        trees = _Trees()
        for tree in _splits(content):
            trees.nodes.add_tree(tree, trees.read_node)
        return trees.read("" if isinstance(content, dict) else _NOTE)


class XGBoostTextDump(Reader):
    """XGBoost's text dump."""

    name: ClassVar[str] = "xgboost-text"

    def recognizes(self, content: Any) -> bool:
        """It begins with `booster[0]:`."""
        return isinstance(content, str) and content.lstrip().startswith("booster[")

    def read(self, content: Any) -> ReadModel:
        """The trees under their `booster[…]` lines."""
        trees = _Trees()
        for block in re.split(r"^booster\[\d+\]:?", content, flags=re.MULTILINE)[1:]:
            lines = [line.strip() for line in block.splitlines() if line.strip()]
            nodes = dict(map(_line, lines))
            if "0" not in nodes or len(nodes) < len(lines):
                raise InputError("a tree has no node 0, or a node stands twice")
            _link(nodes)
            trees.nodes.add_tree(nodes["0"], trees.read_node)
        return trees.read(_NOTE)


def _splits(content: Any) -> Any:
    """The list of trees, out of what a search engine wraps it in: the request that uploads it, or a part."""
    for key in ("model", "model", "definition", "splits"):
        if isinstance(content, dict) and key in content:
            content = content[key]
    return content


class _Trees:
    """Trees whose features go by name, and which become numbers."""

    def __init__(self) -> None:
        self.nodes, self._places = Nodes(), dict[str, int]()

    def read_node(self, node: Any) -> float | tuple[Any, ...]:
        if "leaf" in node:
            return float(np.float32(node["leaf"]))  # of nine digits
        if not isinstance(node["split_condition"], int | float):
            refuse_categories(f"a split on {node['split']}")
        children = {child["nodeid"]: child for child in node["children"]}
        if len(children) != 2 or node["missing"] not in children:
            raise InputError(f"node {node['nodeid']} needs two children, one of them for missing values")
        place = self._places.setdefault(str(node["split"]), len(self._places))
        limit = float(below(np.array([node["split_condition"]], np.float32))[0])
        split = place, limit, node["missing"] == node["yes"], float(node.get("gain", 0.0))
        return *split, children[node["yes"]], children[node["no"]]

    def read(self, note: str) -> ReadModel:
        names = list(self._places)
        columns = np.array(_columns(names) or [0])
        if len(_columns(names)) < len(names):
            forest = self.nodes.forest(len(names), single=True)
            return ReadModel(forest, tuple(names), by_name=True, note=note)
        self.nodes.feature = columns[np.array(self.nodes.feature, int)].tolist()
        return ReadModel(self.nodes.forest(checked_width(columns), single=True), is_open=True, note=note)


def _columns(names: list[str]) -> list[int]:
    """The places of features that go by numbers: XGBoost's from 0, Pomona's from 1; of others none."""
    for pattern, first in ((r"f(\d{1,9})", 0), (r"feature_([1-9]\d{0,8})", 1)):
        matches = [re.fullmatch(pattern, name) for name in names]
        if all(matches):
            return [int(one[1]) - first for one in matches if one]
    return []


def _line(line: str) -> tuple[str, dict[str, Any]]:
    if leaf := _LEAF.fullmatch(line):
        return leaf[1], {"nodeid": leaf[1], "leaf": float(leaf[2])}
    split = _SPLIT.fullmatch(line)
    if split is None:
        if ":{" in line:
            refuse_categories(line[:60])
        raise InputError(f"found {line[:60]!r}, expected a split with a threshold, or a leaf")
    number, name, limit, yes, no, missing, gain = split.groups()
    node = {"nodeid": number, "split": name, "split_condition": float(limit), "gain": float(gain or 0)}
    return number, {**node, "yes": yes, "no": no, "missing": missing}


def _link(nodes: dict[str, dict[str, Any]]) -> None:
    """Give every node its children; each may be the child of one."""
    linked: set[str] = {"0"}
    for node in nodes.values():
        if "leaf" not in node:
            ways = node["yes"], node["no"]
            if linked & set(ways) or ways[0] == ways[1]:
                raise InputError(f"node {node['nodeid']}: a child of two nodes")
            linked.update(ways)
            node["children"] = [nodes[way] for way in ways]
