"""XGBoost's model (`save_model`), JSON or UBJSON, from version 1.0 on.

Everything is float32: x < threshold goes left, the sum begins with the margin of the base score and is
rounded after every tree, and DART weighs each leaf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona.errors import InputError
from pomona.trees.formats.weighted_sum import WeightedSum
from pomona.trees.readers.reader import (
    Reader,
    ReadModel,
    check_count,
    checked_width,
    forest_of,
    refuse_categories,
    refuse_outputs,
    unless_default,
)

# What the base score is given as: a probability, or something that is multiplied; all others add it as it is
# (`binary:logitraw` too: versions 1.7 to 3.2 were tried).
_LOGIT = {"binary:logistic", "reg:logistic"}
_LOG = {"count:poisson", "reg:gamma", "reg:tweedie", "survival:aft", "survival:cox"}
_COLUMNS = {
    "left_children": np.int64,
    "right_children": np.int64,
    "split_indices": np.int64,
    "split_conditions": np.float32,
    "default_left": np.bool_,
    "loss_changes": np.float32,
}


class XGBoostJson(Reader):
    """XGBoost's JSON or UBJSON model."""

    name: ClassVar[str] = "xgboost"

    def recognizes(self, content: Any) -> bool:
        """It has a `learner`."""
        return isinstance(content, dict) and "learner" in content

    def read(self, content: Any) -> ReadModel:
        """The trees, or the weights of `gblinear`."""
        learner = content["learner"]
        parameters, booster = learner["learner_model_param"], learner["gradient_booster"]
        refuse_outputs(int(parameters.get("num_class", "0")), int(parameters.get("num_target", "1")))
        base = margin(parameters["base_score"], learner["objective"]["name"])
        stated = int(parameters["num_feature"])
        names = unless_default(learner.get("feature_names", []), "f", width=stated)
        if booster["name"] == "gblinear":
            return ReadModel(_linear(booster["model"]["weights"], base, checked_width([], stated)), names)
        within = booster.get("gbtree", booster)
        trees = within["model"]["trees"]
        told = within["model"].get("gbtree_model_param", {}).get("num_trees")
        check_count(None if told is None else int(told), len(trees))
        if np.any(within["model"].get("tree_info", 0)):
            refuse_outputs(1 + int(np.max(within["model"]["tree_info"])))
        weights = booster.get("weight_drop", within["model"].get("weight_drop"))
        return ReadModel(_forest(trees, weights, base, stated), names)


def margin(text: Any, objective: str) -> float:
    """What the base score adds to every score: `5E-1` or, from 3.1 on, `[5E-1]`.

    >>> margin("5E-1", "rank:ndcg"), margin("[2E-1]", "binary:logistic"), margin("1E0", "count:poisson")
    (0.5, -1.3862943649291992, 0.0)
    """
    words = str(text).strip("[] ").split(",")
    refuse_outputs(len(words))
    score = np.float32(words[0])
    if not np.isfinite(score):
        raise InputError(f"found a base score of {text}, expected a number")
    if objective in _LOGIT and 0 < score < 1:
        odds = np.float32(np.float32(1) / score) - np.float32(1)
        return float(np.float32(-np.log(np.float64(odds))))
    if objective in _LOG and score > 0:
        return float(np.float32(np.log(np.float64(score))))
    if objective in _LOGIT | _LOG:
        raise InputError(f"a base score of {text} has no margin under {objective}")
    return float(score)


def below(limits: NDArray[np.float32]) -> NDArray[np.float64]:
    """What x must not exceed to lie below: the float32 before; nothing is below −∞ (NaN, for `forest_of`)."""
    with np.errstate(over="ignore", under="ignore"):
        before = np.nextafter(limits, np.float32(-np.inf)).astype(np.float64)
    return np.where(limits == -np.inf, np.nan, before)


def _forest(trees: Any, weights: Any, base: float, stated: int) -> Any:
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in _COLUMNS}
    for number, tree in enumerate(trees):
        _check_tree(number, tree)
        for name, dtype in _COLUMNS.items():
            columns[name].append(np.asarray(tree[name]).astype(dtype))
    sizes = [len(column) for column in columns["left_children"]]
    left, right, feature, condition, nan_left, gain = (
        np.concatenate([np.empty(0, dtype), *columns[name]]) for name, dtype in _COLUMNS.items()
    )
    is_leaf = left < 0
    value = condition
    if weights is not None:
        if len(weights) != len(sizes):
            raise InputError(f"found {len(weights)} weights of trees for {len(sizes)} trees")
        value = condition * np.repeat(np.asarray(weights, np.float32), sizes)
    return forest_of(
        sizes,
        left,
        right,
        np.where(is_leaf, 0, feature),
        np.where(is_leaf, 0.0, below(condition)),
        nan_left,
        gain,
        np.where(is_leaf, value, np.float32(0)),
        n_features=checked_width(feature[~is_leaf], stated),
        base=base,
        single=True,
        leaf_weight=_covers(trees, sizes),
    )


def _covers(trees: Any, sizes: Sequence[int]) -> NDArray[np.float64] | None:
    """What the training documents of every node weigh, where the file tells."""
    covers = [np.asarray(tree.get("sum_hessian", ()), np.float64) for tree in trees]
    is_told = all(column.shape == (size,) for column, size in zip(covers, sizes, strict=True))
    return np.concatenate([np.empty(0), *covers]) if is_told else None


def _check_tree(number: int, tree: Mapping[str, Any]) -> None:
    if int(tree.get("tree_param", {}).get("size_leaf_vector", "1") or 1) > 1:
        raise InputError(f"tree {number} has leaves of several values, and a ranker gives one score")
    sizes = {len(tree[name]) for name in (*_COLUMNS, *(["split_type"] if "split_type" in tree else []))}
    if len(sizes) > 1:
        raise InputError(f"tree {number}: its lists differ in length")
    is_split = np.asarray(tree["left_children"]) >= 0
    if np.asarray(tree.get("split_type", is_split & False))[is_split].any():
        refuse_categories(f"tree {number}")


def _linear(weights: Any, base: float, n_features: int) -> WeightedSum:
    values = np.asarray(weights, np.float32)
    if len(values) != n_features + 1:
        raise InputError(f"found {len(values)} weights for {n_features} features and a constant")
    start = float(np.float32(values[-1]) + np.float32(base))
    return WeightedSum(np.arange(n_features), values[:-1].astype(np.float64), n_features, start, single=True)
