"""Grown trees: as a forest, and the leaves that other documents fall into."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.trees.forest import Forest
from pomona.trees.grower import GrownTree
from pomona.trees.walk import leaves_of


def forest_of(grown: Sequence[tuple[GrownTree, Values]], after: Forest) -> Forest:
    """Grown trees, each with its leaf values, as one forest that begins with the trees of `after`."""
    node_ptr = np.cumsum([0, *(len(tree.feature) for tree, _ in grown)])
    leaf_ptr = np.cumsum([0, *(len(value) for _, value in grown)])
    arrays: dict[str, NDArray[np.generic]] = {"node_ptr": node_ptr, "leaf_ptr": leaf_ptr}
    for name in ("feature", "threshold", "nan_left", "left", "right", "gain"):
        arrays[name] = np.concatenate([getattr(after, name)[:0], *(getattr(tree, name) for tree, _ in grown)])
    arrays["value"] = np.concatenate([np.empty(0), *(value for _, value in grown)])
    for name in ("leaf_count", "leaf_weight"):
        known = [getattr(tree, name) for tree, _ in grown]
        if known and all(array is not None for array in known):
            arrays[name] = np.concatenate(known)
    if any(tree.members is not None for tree, _ in grown):
        members = [one for tree, _ in grown for one in tree.members or ()]
        arrays["member_ptr"] = np.cumsum([0, *map(len, members)])
        arrays["member"] = np.concatenate([np.empty(0, np.int64), *members])
    return after.extended(Forest.of_arrays(arrays, after.n_features, 0.0))


def leaves_in(data: Dataset, tree: GrownTree) -> NDArray[np.int32]:
    """The leaf of a tree that each document falls into."""
    if tree.members is not None:
        return forest_of([(tree, tree.value)], Forest.empty(data.n_features)).leaf_of(data.X)[:, 0]
    return leaves_of(data.X, tree.feature, tree.threshold, tree.nan_left, tree.left, tree.right)
