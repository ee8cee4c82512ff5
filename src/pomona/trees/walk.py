"""Walking one tree: the leaf that each document falls into."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Features

ZERO = float(np.float32(1e-35))
"""What LightGBM takes for zero, of either sign: not only 0 itself."""


@kernel
def _walk(first, last, X, feature, threshold, nan_left, left, right, zero_missing, out_leaf):
    """feature … right (n_nodes,) of one tree · out_leaf (n_docs,)."""
    for i in range(first, last):
        node = 0
        while node >= 0:
            x = X[i, feature[node]]
            is_missing = np.isnan(x) or (zero_missing[node] and abs(x) <= ZERO)
            goes_left = nan_left[node] if is_missing else x <= threshold[node]
            node = left[node] if goes_left else right[node]
        out_leaf[i] = ~node


def leaves_of(
    X: Features,
    feature: NDArray[np.int32],
    threshold: NDArray[np.floating],
    nan_left: NDArray[np.bool_],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    zero_missing: NDArray[np.bool_] | None = None,
) -> NDArray[np.int32]:
    """The leaf of every document; the arrays are those of one tree in a `Forest`.

    >>> tree = np.array([0], np.int32), np.array([1.5], np.float32), np.array([True])
    >>> children = np.array([~0], np.int32), np.array([~1], np.int32)
    >>> leaves_of(np.array([[1.0], [2.0], [np.nan]], np.float32), *tree, *children).tolist()
    [0, 1, 0]
    """
    out = np.zeros(len(X), np.int32)
    if zero_missing is None:
        zero_missing = np.zeros(len(feature), np.bool_)
    if len(feature):
        nodes = feature, threshold, nan_left, left, right, zero_missing
        over_chunks(_walk, len(X), X, *nodes, out, smallest=1024)
    return out
