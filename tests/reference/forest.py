"""Trees walked one document at a time, and random trees to walk."""

import math

import numpy as np


def leaf_of(x, tree):
    """The leaf of document x; tree: (feature, threshold, nan_left, left, right) of one tree."""
    feature, threshold, nan_left, left, right = tree
    if len(feature) == 0:
        return 0
    node = 0
    while node >= 0:
        value = np.float32(x[feature[node]])
        goes_left = nan_left[node] if math.isnan(value) else value <= threshold[node]
        node = left[node] if goes_left else right[node]
    return ~node


def leaves_of(X, forest):
    """(n_docs, n_trees); forest: a dictionary of the flat arrays."""
    out = np.zeros((len(X), len(forest["node_ptr"]) - 1), int)
    for t in range(out.shape[1]):
        nodes = slice(forest["node_ptr"][t], forest["node_ptr"][t + 1])
        tree = [forest[name][nodes] for name in ("feature", "threshold", "nan_left", "left", "right")]
        for d, x in enumerate(X):
            out[d, t] = leaf_of(x, tree)
    return out


def score(X, forest, base=0.0):
    """base + the leaf values, in float64, tree after tree."""
    scores = []
    for leaves in leaves_of(X, forest):
        total = base
        for t, leaf in enumerate(leaves):
            total = total + forest["value"][forest["leaf_ptr"][t] + leaf]
        scores.append(total)
    return np.array(scores, float)


def random_tree(random, n_leaves, n_features, thresholds):
    """A tree that was split at random leaves, its leaves numbered at random."""
    left, right = [], []
    places = [None]  # of the leaves: (children, node)
    while len(places) < n_leaves:
        place = places.pop(random.integers(len(places)))
        if place is not None:
            children, node = place
            children[node] = len(left)
        places += [(left, len(left)), (right, len(right))]
        left.append(0)
        right.append(0)
    if left:
        for number, place in zip(random.permutation(n_leaves), places, strict=True):
            children, node = place
            children[node] = ~int(number)
    n = len(left)
    return {
        "feature": random.integers(0, n_features, n),
        "threshold": random.choice(thresholds, n),
        "nan_left": random.random(n) < 0.5,
        "left": np.array(left, int),
        "right": np.array(right, int),
    }


def oblivious_tree(random, n_levels, n_features, thresholds):
    """A complete tree by levels: every level asks one question."""
    n = 2**n_levels - 1
    level = np.log2(np.arange(1, n + 1)).astype(int)
    children = np.arange(1, 2 * n + 1).reshape(n, 2)
    numbers = random.permutation(n + 1)
    children = np.where(children < n, children, ~numbers[children - n])
    return {
        "feature": random.integers(0, n_features, n_levels)[level],
        "threshold": random.choice(thresholds, n_levels)[level],
        "nan_left": (random.random(n_levels) < 0.5)[level],
        "left": children[:, 0],
        "right": children[:, 1],
    }


def plant(random, trees, values):
    """The flat arrays of a forest of these trees, with leaves drawn from `values`."""
    sizes = [len(tree["feature"]) for tree in trees]
    names = {"feature": int, "threshold": np.float32, "nan_left": bool, "left": int, "right": int}
    forest = {
        name: np.concatenate([np.empty(0), *(tree[name] for tree in trees)]).astype(dtype)
        for name, dtype in names.items()
    }
    return {
        **forest,
        "gain": random.random(sum(sizes)).astype(np.float32),
        "node_ptr": np.cumsum([0, *sizes]),
        "value": random.choice(values, sum(sizes) + len(sizes)).astype(float),
        "leaf_ptr": np.cumsum([0, *(size + 1 for size in sizes)]),
    }
