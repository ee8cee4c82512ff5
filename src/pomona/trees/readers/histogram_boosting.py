"""scikit-learn's HistGradientBoostingRegressor and -Classifier, as they stand in memory.

x <= threshold goes left in float64, NaN as each split says, and sums begin with the baseline. A classifier of
two classes gives its raw score, the log-odds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pomona.errors import InputError
from pomona.trees.readers.reader import ReadModel, forest_of, refuse_categories, refuse_outputs


def read_histogram_boosting(estimator: Any) -> ReadModel:
    """The trees of a fitted estimator."""
    if not hasattr(estimator, "_predictors"):
        raise InputError(f"{type(estimator).__name__} is not fitted: call fit first")
    if getattr(estimator, "is_categorical_", None) is not None:
        refuse_categories(type(estimator).__name__)
    refuse_outputs(max((len(trees) for trees in estimator._predictors), default=1))
    baseline = np.asarray(estimator._baseline_prediction, np.float64).ravel()
    refuse_outputs(len(baseline))
    trees = [trees[0].nodes for trees in estimator._predictors]
    nodes = np.concatenate(trees) if trees else np.empty(0, [(name, float) for name in _FIELDS])
    is_leaf = nodes["is_leaf"].astype(bool)
    left, right, feature = (
        np.where(is_leaf, empty, nodes[name].astype(np.int64))
        for name, empty in (("left", -1), ("right", -1), ("feature_idx", 0))
    )
    forest = forest_of(
        [len(tree) for tree in trees],
        left,
        right,
        feature,
        np.where(is_leaf, 0.0, nodes["num_threshold"]),
        nodes["missing_go_to_left"].astype(bool),
        np.where(is_leaf, 0.0, nodes["gain"]),
        np.where(is_leaf, nodes["value"], 0.0),
        n_features=int(estimator.n_features_in_),
        base=float(baseline[0]),
        double=True,
        leaf_count=nodes["count"],
    )
    names = getattr(estimator, "feature_names_in_", None)
    return ReadModel(forest, None if names is None else tuple(map(str, names)))


_FIELDS = (
    *("is_leaf", "left", "right", "feature_idx", "num_threshold"),
    *("missing_go_to_left", "gain", "value", "count"),
)
