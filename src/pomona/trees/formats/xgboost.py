"""XGBoost's JSON model, as its `save_model` writes it; Treelite reads it too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona.trees.forest import Forest
from pomona.trees.formats.format import FLOAT32_NOTE, Format, Model, as_float32, ranges_of, single_precision

_NO_PARENT = 2**31 - 1


class XGBoost(Format):
    """XGBoost's JSON model; its leaves are float32, so scores agree to some seven digits."""

    name: ClassVar[str] = "xgboost"

    def write(self, forest: Forest, feature_names: Sequence[str]) -> str:
        """A model whose margins are the forest's scores."""
        as_float32(np.append(forest.value, forest.base))  # refuses what would become infinite
        n_trees, split_below, covers = forest.n_trees, below(forest), _covers(forest)
        learner = {
            "attributes": {},
            "feature_names": list(feature_names) if _are_readable(feature_names) else [],
            "feature_types": [],
            "gradient_booster": {
                "model": {
                    "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(n_trees)},
                    "iteration_indptr": list(range(n_trees + 1)),
                    "tree_info": [0] * n_trees,
                    "trees": [_tree(split_below, covers, tree) for tree in range(n_trees)],
                },
                "name": "gbtree",
            },
            "learner_model_param": {
                "base_score": repr(float(forest.base)),
                "boost_from_average": "0",
                "num_class": "0",
                "num_feature": str(forest.n_features),
                "num_target": "1",
            },
            "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
        }
        return json.dumps({"learner": learner, "version": [2, 1, 0]})

    def name_notes(self, feature_names: Sequence[str]) -> list[str]:
        """Names that XGBoost refuses."""
        if _are_readable(feature_names):
            return []
        return ["XGBoost takes no names with [, ] or <, nor any twice: features go by their places there"]

    def notes(self, model: Model) -> list[str]:
        """Precision."""
        return [] if isinstance(model, Forest) and model.single else [FLOAT32_NOTE]


def _are_readable(names: Sequence[str]) -> bool:
    are_words = not any(set(name) & set("[]<") for name in names)
    return are_words and len(set(names)) == len(names)


def below(forest: Forest) -> Forest:
    """The forest with the thresholds of an engine where x must be *below* them to go left.

    Infinity is below nothing: a split that sends it left, x <= inf, has its sides changed, and nothing known
    goes left, x < -inf.
    """
    single = single_precision(forest)
    takes_all = single.threshold == np.inf
    with np.errstate(over="ignore"):
        limits = np.nextafter(single.threshold, np.float32(np.inf))
    return replace(
        single,
        threshold=np.where(takes_all, np.float32(-np.inf), limits),
        nan_left=single.nan_left ^ takes_all,
        left=np.where(takes_all, single.right, single.left),
        right=np.where(takes_all, single.left, single.right),
    )


def _covers(forest: Forest) -> tuple[NDArray[Any], NDArray[Any]]:
    """The sums of second derivatives, else the numbers of training documents, of inner nodes and leaves."""
    cover = forest.leaf_count if forest.leaf_weight is None else forest.leaf_weight
    of_leaves = np.zeros(len(forest.value)) if cover is None else cover.astype(np.float64)
    return forest.sums_below(of_leaves), of_leaves


def _tree(forest: Forest, covers: tuple[NDArray[Any], NDArray[Any]], tree: int) -> dict[str, Any]:
    """Nodes and leaves in one list, siblings side by side; a leaf's value stands for a split's condition."""
    nodes, leaves = ranges_of(forest, tree)
    children, value = np.stack((forest.left[nodes], forest.right[nodes]), 1), forest.value[leaves]
    n_inner, size = len(children), len(children) + len(value)
    # Inner node i gives its children the places 2 i + 1 and 2 i + 2; the root has place 0.
    place = np.zeros(size, int)  # of inner nodes, then of leaves
    place[np.where(children < 0, n_inner + ~children, children).ravel()] = np.arange(1, size)

    def laid_out(of_nodes: Any, of_leaves: Any) -> list[Any]:
        out = np.empty(size, object)
        out[place[:n_inner]] = np.broadcast_to(of_nodes, n_inner).tolist()
        out[place[n_inner:]] = np.broadcast_to(of_leaves, len(value)).tolist()
        return out.tolist()

    inner = np.arange(n_inner)
    return {
        "base_weights": laid_out(0.0, value),
        "categories": [],
        "categories_nodes": [],
        "categories_segments": [],
        "categories_sizes": [],
        "default_left": laid_out(forest.nan_left[nodes].astype(int), 0),
        "id": tree,
        "left_children": laid_out(2 * inner + 1, -1),
        "loss_changes": laid_out(forest.gain[nodes], 0.0),
        "parents": [_NO_PARENT, *place[:n_inner].repeat(2).tolist()],
        "right_children": laid_out(2 * inner + 2, -1),
        "split_conditions": laid_out(forest.threshold[nodes], value),
        "split_indices": laid_out(forest.feature[nodes], 0),
        "split_type": [0] * size,
        "sum_hessian": laid_out(covers[0][nodes], covers[1][leaves]),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(forest.n_features),
            "num_nodes": str(size),
            "size_leaf_vector": "1",
        },
    }
