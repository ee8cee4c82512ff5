"""LightGBM's model file, version 4, which Treelite and others read too."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona.trees.category_split import bits_of, members_of, nodes_on_categories
from pomona.trees.forest import Forest
from pomona.trees.formats.format import FLOAT64_NOTE, Format, Model, ranges_of, without_base
from pomona.trees.walk import ZERO

# A split's type is a field of bits: undefined values, or zeros too, go by themselves, and to the left.
_BY_NAN, _BY_ZERO, _NAN_LEFT, _BY_SET = 2 << 2, 1 << 2, 1 << 1, 1


class LightGBM(Format):
    """LightGBM's text model; scores are the same bits."""

    name: ClassVar[str] = "lightgbm"
    holds_zero_missing: ClassVar[bool] = True
    holds_categories: ClassVar[bool] = True

    def notes(self, model: Model) -> list[str]:
        """XGBoost's and RankLib's sums are rounded, LightGBM's are not; and its zero is wide."""
        if not isinstance(model, Forest):
            return []
        return [FLOAT64_NOTE] * model.single + _near_zero(model)

    def name_notes(self, feature_names: Sequence[str]) -> list[str]:
        """Names that LightGBM could not read."""
        if _names(feature_names) is feature_names:
            return []
        return ["LightGBM reads no such names (blanks, quotes …): features are Column_0, Column_1 … there"]

    def write(self, forest: Forest, feature_names: Sequence[str]) -> str:
        """A model whose raw scores are the forest's."""
        forest = without_base(forest)
        statistics = _statistics(forest)
        trees = [f"Tree={tree}\n{_tree(forest, statistics, tree)}\n\n" for tree in range(forest.n_trees)]
        head = _fields(
            version=["v4"],
            num_class=[1],
            num_tree_per_iteration=[1],
            label_index=[0],
            max_feature_idx=[forest.n_features - 1],
            objective=["lambdarank"],
            feature_names=_names(feature_names),
            feature_infos=_infos(forest.n_features, self.categories),
            tree_sizes=[len(text.encode()) for text in trees],
        )
        end = "end of trees\n\nparameters:\nend of parameters\n"
        if self.categories:  # by which LightGBM's package makes codes of a frame's categories
            names = [list(self.categories[feature]) for feature in sorted(self.categories)]
            end += f"\npandas_categorical:{json.dumps(names)}\n"
        return f"tree\n{head}\n{''.join(trees)}{end}"


def _near_zero(forest: Forest) -> list[str]:
    """LightGBM makes 0 of values within ±1e-35: what a threshold in that band divides, it does not."""
    threshold = forest.threshold if forest.double_threshold is None else forest.double_threshold
    in_band = (threshold >= -ZERO) & (threshold < ZERO)
    in_band[nodes_on_categories(forest)] = False
    if forest.zero_missing is not None:
        in_band &= ~forest.zero_missing
    if not in_band.any():
        return []
    places = np.unique(forest.feature[in_band]) + 1
    named = ", ".join(map(str, places[:5].tolist())) + (", …" if len(places) > 5 else "")
    return [
        f"LightGBM takes |x| <= 1e-35 for 0: {np.count_nonzero(in_band)} splits (of features no. {named}) "
        "have a threshold there, and values in that range other than 0 may go elsewhere"
    ]


def _infos(n_features: int, categories: Mapping[int, tuple[str, ...]]) -> list[str]:
    """The ranges of features, and of those whose categories have names, the codes."""
    infos = ["[-inf:inf]"] * n_features
    for feature, names in categories.items():
        infos[feature] = ":".join(map(str, range(len(names))))
    return infos


def _names(names: Sequence[str]) -> Sequence[str]:
    """The features' names, if LightGBM can read them: words, all different."""
    if len(set(names)) == len(names) and all(re.fullmatch(r"[\w.\-()/]+", name) for name in names):
        return names
    return [f"Column_{number}" for number in range(len(names))]


def _statistics(forest: Forest) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """How many training documents fell where, and what they weigh (0 where nobody knows): leaves, nodes.

    No leaf of LightGBM's is empty, and its SHAP values would be NaN if one were: the least is one document.
    """
    count, weight = forest.leaf_count, forest.leaf_weight
    count = np.zeros(len(forest.value), np.int64) if count is None else np.maximum(count, 1)
    weight = np.zeros(len(forest.value)) if weight is None else weight
    counts = forest.sums_below(count)
    value = forest.sums_below(count * forest.value) / np.maximum(counts, 1)
    of_nodes = {"value": value, "weight": forest.sums_below(weight), "count": counts}
    return {"weight": weight, "count": count}, of_nodes


def _tree(forest: Forest, statistics: tuple[Mapping[str, Any], Mapping[str, Any]], tree: int) -> str:
    nodes, leaves = ranges_of(forest, tree)
    value = forest.value[leaves]
    of_leaves, of_nodes = statistics
    ends: dict[str, Any] = {"leaf_value": value, "shrinkage": [1]}
    ends |= {f"leaf_{name}": column[leaves] for name, column in of_leaves.items()}
    if len(value) == 1:
        return _fields(num_leaves=[1], num_cat=[0], **ends)
    threshold = forest.threshold if forest.double_threshold is None else forest.double_threshold
    threshold, kind = threshold[nodes].astype(np.float64), np.full(len(value) - 1, _BY_NAN)
    if forest.zero_missing is not None:
        kind[forest.zero_missing[nodes]] = _BY_ZERO
    kind += _NAN_LEFT * forest.nan_left[nodes]
    on_sets = nodes_on_categories(forest)
    on_sets = on_sets[(on_sets >= nodes.start) & (on_sets < nodes.stop)]
    words = [bits_of(members_of(forest, node)) for node in on_sets.tolist()]
    sets: dict[str, Any] = {}
    if words:
        at = on_sets - nodes.start
        threshold[at], kind[at] = np.arange(len(words)), _BY_NAN + _BY_SET
        sets = {"cat_boundaries": np.cumsum([0, *map(len, words)]), "cat_threshold": np.concatenate(words)}
    return _fields(
        num_leaves=[len(value)],
        num_cat=[len(words)],
        split_feature=forest.feature[nodes],
        split_gain=forest.gain[nodes],
        threshold=threshold,
        decision_type=kind,
        left_child=forest.left[nodes],
        right_child=forest.right[nodes],
        **{f"internal_{name}": column[nodes] for name, column in of_nodes.items()},
        **sets,
        is_linear=[0],
        **ends,
    )


def _fields(**fields: Sequence[Any] | NDArray[Any]) -> str:
    """Lines of name=values; numbers are written so that they read back exactly."""
    return "".join(
        f"{name}={' '.join(map(str, values.tolist() if isinstance(values, np.ndarray) else values))}\n"
        for name, values in fields.items()
    )
