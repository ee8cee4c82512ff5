"""LightGBM's model file (`save_model`), versions 2 to 4.

Numbers are float64. A value within ±1e-35 is zero before anything is asked of it, and NaN is zero too unless
the split says otherwise: so thresholds in that band are moved to its edge, and NaN gets its side here.

A split on categories has the bits of those that go left; all else goes right. Their names, where LightGBM was
trained on a frame, follow the trees.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona.errors import InputError
from pomona.trees.category_split import members_of_bits
from pomona.trees.forest import Forest, rounded_down
from pomona.trees.readers.reader import (
    Reader,
    ReadModel,
    check_count,
    checked_width,
    if_known,
    refuse_outputs,
    unless_default,
)
from pomona.trees.walk import ZERO

_CATEGORICAL, _DEFAULT_LEFT = 1, 2
NONE, ZERO_IS_MISSING, NAN_IS_MISSING = 0, 1, 2
OUTPUTS = ("num_class", "num_tree_per_iteration")
_COLUMNS = {
    "split_feature": np.int64,
    "split_gain": np.float64,
    "threshold": np.float64,
    "decision_type": np.int64,
    "left_child": np.int64,
    "right_child": np.int64,
    "leaf_value": np.float64,
    "leaf_count": np.float64,
    "leaf_weight": np.float64,
}
_OPTIONAL = {"split_gain", "leaf_count", "leaf_weight"}


class LightGBMText(Reader):
    """LightGBM's text model."""

    name: ClassVar[str] = "lightgbm"

    def recognizes(self, content: Any) -> bool:
        """It begins with `tree` on a line of its own, then the version."""
        return isinstance(content, str) and content.lstrip()[:40].replace("\r", "").startswith(
            "tree\nversion="
        )

    def read(self, content: Any) -> ReadModel:
        """The trees before `end of trees`."""
        text, end, _ = content.partition("end of trees")
        if not end:
            raise InputError("the file is cut short: there is no line `end of trees`")
        head, *blocks = text.replace("\r", "").split("\nTree=")
        facts = _fields(head)
        refuse_outputs(*(int(facts.get(name, "1")) for name in OUTPUTS))
        names = facts.get("feature_names", "").split()
        if "tree_sizes" in facts:
            check_count(len(facts["tree_sizes"].split()), len(blocks))
        trees = [_tree(number, _fields(block)) for number, block in enumerate(blocks)]
        columns = {
            name: np.concatenate([np.empty(0, dtype), *(tree[name] for tree in trees)])
            for name, dtype in _COLUMNS.items()
        }
        width = checked_width(columns["split_feature"], int(facts["max_feature_idx"]) + 1)
        threshold, nan_left, zero_missing = as_ours(
            columns["threshold"],
            columns["decision_type"] & _DEFAULT_LEFT > 0,
            columns["decision_type"] >> 2 & 3,
        )
        threshold[columns["decision_type"] & _CATEGORICAL > 0] = 0.0
        members = [one for tree in trees for one in tree["members"]]
        is_categorical = any(map(len, members))
        forest = Forest(
            feature=columns["split_feature"],
            threshold=rounded_down(threshold),
            nan_left=nan_left & (columns["decision_type"] & _CATEGORICAL == 0),
            left=columns["left_child"],
            right=columns["right_child"],
            gain=np.nan_to_num(columns["split_gain"].clip(-1e30, 1e30)),
            node_ptr=np.cumsum([0, *(len(tree["threshold"]) for tree in trees)]),
            value=columns["leaf_value"],
            leaf_ptr=np.cumsum([0, *(len(tree["leaf_value"]) for tree in trees)]),
            n_features=width,
            double_threshold=threshold,
            zero_missing=zero_missing,
            leaf_count=if_known(columns["leaf_count"], np.int64),
            leaf_weight=if_known(columns["leaf_weight"], np.float64),
            member_ptr=np.cumsum([0, *map(len, members)]) if is_categorical else None,
            member=np.concatenate(members) if is_categorical else None,
        )
        is_average = "average_output" in head.split("\n")
        divisor = max(len(trees), 1) if is_average else 1
        categories = _category_names(content, facts.get("feature_infos", "").split())
        named = unless_default(names, "Column_", width=width)
        return ReadModel(forest, named, divisor=float(divisor), categories=categories)


def as_ours(
    threshold: NDArray[np.float64], default_left: NDArray[np.bool_], missing_type: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_] | None]:
    """Threshold, where NaN goes, and whether zeros go there (None if nowhere), of splits of LightGBM."""
    if np.isnan(threshold).any() or not np.isin(missing_type, (NONE, ZERO_IS_MISSING, NAN_IS_MISSING)).all():
        raise InputError("a threshold is NaN, or the type of a split unknown")
    in_band = (threshold >= -ZERO) & (threshold < ZERO)
    edge = np.where(threshold >= 0, ZERO, np.nextafter(-ZERO, -np.inf))
    limit = np.where(in_band, edge, threshold)
    nan_left = np.where(missing_type == NONE, threshold >= 0, default_left)
    zeros = missing_type == ZERO_IS_MISSING
    # A zero on its side of the threshold goes there anyway.
    zeros &= nan_left != (limit >= 0)
    return limit, nan_left, zeros if zeros.any() else None


def _fields(block: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in block.split("\n") if "=" in line)


def _tree(number: int, fields: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    where = f"tree {number}"
    if int(fields.get("is_linear", "0")):
        raise InputError(
            f"{where} has linear leaves, which Pomona does not know: train with linear_tree=false"
        )
    n_leaves = int(fields["num_leaves"])
    tree: dict[str, Any] = {}
    for name, dtype in _COLUMNS.items():
        size = n_leaves if name.startswith("leaf_") else n_leaves - 1
        words = fields.get(name, "").split()
        if len(words) != size and not (name in _OPTIONAL and not words):
            raise InputError(f"{where}: {name} has {len(words)} values, expected {size}")
        # Python reads more than numbers: an underscore between digits, say.
        if any("_" in word for word in words):
            raise InputError(f"{where}: {name} holds something that is no number")
        nothing = np.nan if name in ("leaf_count", "leaf_weight") else 0  # not told, or told as 0
        tree[name] = np.array(words, dtype) if words else np.full(max(size, 0), nothing, dtype)
    tree["members"] = _members(where, fields, tree)
    return tree


def _members(
    where: str, fields: Mapping[str, str], tree: Mapping[str, NDArray[Any]]
) -> list[NDArray[np.int64]]:
    """For every node the categories that go left."""
    ends, words = (
        np.array(fields.get(f"cat_{name}", "").split(), np.int64) for name in ("boundaries", "threshold")
    )
    members = [np.empty(0, np.int64)] * len(tree["threshold"])
    for node in np.flatnonzero(tree["decision_type"] & _CATEGORICAL).tolist():
        number = int(tree["threshold"][node])
        if not 0 <= number < len(ends) - 1 or not 0 <= ends[number] < ends[number + 1] <= len(words):
            raise InputError(f"{where}: a split on categories has none")
        bits = words[ends[number] : ends[number + 1]]
        if bits.min() < 0 or bits.max() >= 1 << 32 or not bits.any():
            raise InputError(f"{where}: categories are no bits")
        members[node] = members_of_bits(bits.astype(np.uint32))
    return members


def _category_names(content: str, infos: list[str]) -> dict[int, tuple[str, ...]]:
    """By feature the names of categories, if the file has as many lists as features of categories."""
    _, mark, text = content.rpartition("\npandas_categorical:")
    lists = json.loads(text.partition("\n")[0]) if mark else None
    places = [place for place, info in enumerate(infos) if info != "none" and not info.startswith("[")]
    if not isinstance(lists, list) or len(lists) != len(places):
        return {}
    return {place: tuple(map(str, names)) for place, names in zip(places, lists, strict=True)}
