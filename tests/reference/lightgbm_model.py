"""The trees that a LightGBM text model holds, as flat arrays."""

import numpy as np

NAMES = {
    "feature": "split_feature",
    "threshold": "threshold",
    "nan_left": "decision_type",
    "left": "left_child",
    "right": "right_child",
    "gain": "split_gain",
    "value": "leaf_value",
}


def trees_of(text):
    """text: what `Booster.model_to_string` gives; numerical splits only."""
    trees = []
    for part in text.split("end of trees")[0].split("\nTree=")[1:]:
        lines = dict(line.split("=", 1) for line in part.splitlines() if "=" in line)
        trees.append({ours: np.array(lines.get(its, "").split(), float) for ours, its in NAMES.items()})
    forest = {name: np.concatenate([tree[name] for tree in trees]) for name in NAMES}
    # Its thresholds are doubles: a float32 lies below one if it lies below the next float32 downwards.
    nearest = forest["threshold"].astype(np.float32)
    below = np.nextafter(nearest, np.float32(-np.inf))
    integers = {name: forest[name].astype(np.int32) for name in ("feature", "left", "right")}
    return {
        **forest,
        **integers,
        "threshold": np.where(nearest <= forest["threshold"], nearest, below),
        "nan_left": forest["nan_left"].astype(int) & 2 > 0,
        "node_ptr": np.cumsum([0, *(len(tree["feature"]) for tree in trees)]),
        "leaf_ptr": np.cumsum([0, *(len(tree["value"]) for tree in trees)]),
    }
