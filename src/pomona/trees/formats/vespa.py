"""Vespa: a file for `models/`, which becomes a ranking expression; XGBoost's JSON dump is what it reads best.

Features are rank features, `attribute(price)` or `bm25(title)` or a function of the profile: name them by a
feature map. Comparisons are `f < T`, or `!(f >= T)` where undefined goes left, with T a float32, so that the
forest's own decisions are kept; sums are float64.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.formats.format import (
    Format,
    Model,
    check_names,
    depths,
    ranges_of,
    single_precision,
    without_base,
    without_infinite_limits,
)
from pomona.trees.formats.xgboost_dump import nested_trees

_FEATURE = re.compile(r"[A-Za-z_$][\w$.]*(\([^()\s]*\)(\.[\w.]+)?)?")
_MOST_LEAVES, _MOST_STEPS, _SMALL_TREE = 25_000, 2500, 12


class Vespa(Format):
    """Vespa's `models/NAME.json`; features are rank features or functions."""

    name: ClassVar[str] = "vespa"

    def write(self, forest: Forest, feature_names: Sequence[str]) -> str:
        """XGBoost's dump, whose first character is `[`."""
        check_names(feature_names)
        used = {feature_names[number] for number in np.unique(forest.feature)}
        wrong = sorted(name for name in used if not _FEATURE.fullmatch(name))
        if wrong:
            raise InputError(
                f"{wrong[0]!r} is no rank feature of Vespa, as attribute(price) or bm25(title): "
                "give --feature-map"
            )
        return nested_trees(forest, feature_names) + "\n"

    def notes(self, model: Model) -> list[str]:
        """Large forests are packed."""
        if isinstance(model, Forest) and is_packed(_written(model)):
            return ["Vespa packs a forest of this size: leaves are float32 there, scores to seven digits"]
        return []


def _written(forest: Forest) -> Forest:
    return without_infinite_limits(single_precision(without_base(forest)))


def is_packed(forest: Forest) -> bool:
    """Whether a content node packs the forest, with thresholds and leaves in float32: one of many leaves, or
    whose mean paths, of all trees together, have many steps."""
    leaves = np.diff(forest.leaf_ptr)
    if leaves.sum() > _MOST_LEAVES:
        return True
    if leaves.max(initial=0) <= _SMALL_TREE:
        return False
    steps = 0.0
    for tree in np.flatnonzero(leaves > 1).tolist():
        nodes, _ = ranges_of(forest, tree)
        n_ends = np.count_nonzero(np.stack((forest.left[nodes], forest.right[nodes])) < 0, axis=0)
        steps += float((np.array(depths(forest, tree)) + 1) @ n_ends / leaves[tree])
    return steps > _MOST_STEPS
