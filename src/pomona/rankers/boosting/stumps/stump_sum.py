"""A sum of stumps: what boosting of thresholded features leaves.

    H(x) = Σ_t weight_t · [x_{feature_t} > threshold_t]

All stumps on one feature make one step function of it, so a score is one look-up a feature, however many
stumps there are. An undefined value passes the stumps that say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._lazy import cached_property
from pomona._types import Codes, Features, Offsets, Scores, Values
from pomona.data.rows import read_only
from pomona.errors import InputError
from pomona.rankers.learnt import Array, check_learnt
from pomona.trees.forest import Forest
from pomona.trees.formats.weighted_sum import owned

_ARRAYS = {
    "feature": Array("n_stumps", dtype=np.int32, below="n_features"),
    "threshold": Array("n_stumps", dtype=np.float32, finite=False),
    "weight": Array("n_stumps"),
    "undefined": Array("n_stumps", dtype=np.bool_),
}


@kernel
def _sum_steps(first, last, X, feature, step_ptr, threshold, level, undefined, out):
    """X (n_docs, n_features) · feature, undefined (n_used,) · step_ptr (n_used + 1,) · threshold (n_steps,),
    ascending inside a feature · level (n_steps + n_used,), a feature's value above so many thresholds."""
    for i in range(first, last):
        total = 0.0
        for f in range(feature.size):
            x = X[i, feature[f]]
            if np.isnan(x):
                total += undefined[f]
                continue
            low, high = step_ptr[f], step_ptr[f + 1]
            while low < high:
                middle = (low + high) // 2
                if x > threshold[middle]:
                    low = middle + 1
                else:
                    high = middle
            total += level[low + f]
        out[i] = total


@kernel
def _look_up(first, last, steps_below, table, out):
    """steps_below (n_used, n_docs), 0 where a value is undefined · table (n_used, most) · out (n_docs,)."""
    out[first:last] = 0.0
    for f in range(len(table)):
        levels, below = table[f], steps_below[f]
        for i in range(first, last):
            out[i] += levels[below[i]]


@dataclass(frozen=True, eq=False)
class StumpSum:
    """A sum of thresholded features, in the order in which they were learnt.

    Attributes
    ----------
    feature, threshold, weight : of each stump, which adds `weight` where the feature is above `threshold`.
    undefined : whether a stump also adds its weight where the feature is undefined.
    feature_names : of all features, for printing.

    >>> learnt = [(0, 0.5, 1.0, False), (1, 2.0, -0.25, False), (0, 0.1, 0.5, True)]
    >>> stumps = StumpSum.of(learnt, ("bm25", "length"))
    >>> stumps.score(np.array([[0.3, 1.0], [0.9, 3.0]], np.float32)).tolist()
    [0.5, 1.25]
    >>> print(stumps)
    bm25   > 0.1   +0.5000
           > 0.5   +1.0000
    length > 2     -0.2500
    """

    feature: Codes
    threshold: NDArray[np.float32]
    weight: Values
    undefined: NDArray[np.bool_]
    feature_names: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            object.__setattr__(self, name, owned(getattr(self, name)))

    @classmethod
    def of(cls, stumps: Sequence[tuple[int, float, float, bool]], feature_names: tuple[str, ...]) -> StumpSum:
        """From the feature, threshold, weight and treatment of undefined values of each stump."""
        kinds = [(name, array.dtype) for name, array in _ARRAYS.items()]
        columns = np.array([tuple(stump) for stump in stumps], kinds)
        return cls(**{name: columns[name].copy() for name in _ARRAYS}, feature_names=feature_names)

    @property
    def n_stumps(self) -> int:
        """How many stumps are summed."""
        return len(self.weight)

    def score(self, X: Features) -> Scores:
        """One sum a row."""
        out = np.empty(len(X))
        rows = read_only(np.ascontiguousarray(X, np.float32))
        if rows.ndim != 2 or rows.shape[1] != len(self.feature_names):
            raise InputError(
                f"found features of shape {rows.shape}, expected {len(self.feature_names)} of them"
            )
        over_chunks(_sum_steps, len(X), rows, *self._steps, out, smallest=4096)
        return out

    @cached_property
    def _steps(self) -> tuple[Codes, Offsets, NDArray[np.float32], Values, Values]:
        """The step function of every used feature, as `_sum_steps` wants it."""
        used = np.unique(self.feature)
        step_ptr, thresholds, levels, undefined = [0], [], [], []
        for j in used:
            on = self.feature == j
            places, heights, of_undefined = _step_function(
                self.threshold[on], self.weight[on], self.undefined[on]
            )
            thresholds.append(places)
            levels.append(heights)
            undefined.append(of_undefined)
            step_ptr.append(step_ptr[-1] + len(places))
        return (
            used,
            np.array(step_ptr, np.int64),
            np.concatenate([np.empty(0, np.float32), *thresholds]),
            np.concatenate([np.empty(0), *levels]),
            np.array(undefined, np.float64),
        )

    def forest(self) -> Forest:
        """A tree for each used feature, whose leaves are the values of its step function: the same sums."""
        used, step_ptr, threshold, level, undefined = self._steps
        trees = [
            _step_tree(int(feature), threshold[a:b], level[a + f : b + f + 1], undefined[f], self.n_features)
            for f, (feature, (a, b)) in enumerate(zip(used, pairwise(step_ptr), strict=True))
        ]
        return Forest.join(trees, self.n_features)

    @property
    def n_features(self) -> int:
        """How many features there are, used or not."""
        return len(self.feature_names)

    def importance(self) -> Values:
        """The sum of the sizes of each feature's steps."""
        sizes = np.abs(self.weight)
        return np.bincount(self.feature, sizes, len(self.feature_names)).astype(np.float64)

    def __str__(self) -> str:
        """Every step, features of most importance first."""
        used, step_ptr, threshold, level, _ = self._steps
        width = max((len(self.feature_names[j]) for j in used), default=0)
        lines = []
        for f in np.argsort(-self.importance()[used], kind="stable"):
            name = self.feature_names[used[f]]
            for step in range(step_ptr[f], step_ptr[f + 1]):
                rise = level[step + f + 1] - level[step + f]
                lines.append(f"{name:<{width}} > {threshold[step]:<5.6g} {rise:+.4f}")
                name = ""
        return "\n".join(lines)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `of_arrays` reads back."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], feature_names: tuple[str, ...]) -> StumpSum:
        """Stumps from `arrays()`; a ValueError tells what does not fit."""
        check_learnt(_ARRAYS, arrays, n_features=len(feature_names))
        return cls(**{name: arrays[name] for name in _ARRAYS}, feature_names=feature_names)


def _step_tree(
    feature: int, threshold: NDArray[np.float32], level: Values, undefined: float, n_features: int
) -> Forest:
    """A step function as a balanced tree; undefined values go left everywhere, to a leaf beside the first."""
    nodes: list[tuple[float, bool, float]] = []
    children: list[list[int]] = []
    value: list[float] = []

    def place(parent: int, side: int, child: int) -> None:
        if parent >= 0:
            children[parent][side] = child

    def leaf(parent: int, side: int, of_leaf: float) -> None:
        place(parent, side, ~len(value))
        value.append(of_leaf)

    ranges = [(0, len(threshold), -1, 0)]
    while ranges:
        first, last, parent, side = ranges.pop()
        if first == last and (first > 0 or undefined == level[0]):
            leaf(parent, side, level[first])
            continue
        number, middle = len(nodes), (first + last) // 2
        place(parent, side, number)
        children.append([0, 0])
        if first == last:  # below the first threshold, or undefined
            nodes.append((threshold[0], False, 0.0))
            leaf(number, 0, level[0])
            leaf(number, 1, undefined)
            continue
        nodes.append((threshold[middle], True, abs(level[middle + 1] - level[middle])))
        ranges += [(middle + 1, last, number, 1), (first, middle, number, 0)]
    limits, nan_left, gain = zip(*nodes, strict=True)
    left, right = zip(*children, strict=True)
    return Forest(
        feature=np.full(len(nodes), feature, np.int32),
        threshold=np.array(limits, np.float32),
        nan_left=np.array(nan_left),
        left=np.array(left, np.int32),
        right=np.array(right, np.int32),
        gain=np.array(gain, np.float32),
        node_ptr=np.array([0, len(nodes)]),
        value=np.array(value),
        leaf_ptr=np.array([0, len(value)]),
        n_features=n_features,
    )


class GrowingStumpSum:
    """The scores of the same documents by ever more stumps, to the last bit as `StumpSum.score` gives them.

    >>> growing = GrowingStumpSum(np.array([[0.3, 1.0], [0.9, 3.0]], np.float32))
    >>> growing.add(0, 0.5, 1.0, False).tolist(), growing.add(1, 2.0, -0.25, False).tolist()
    ([0.0, 1.0], [0.0, 0.75])
    """

    def __init__(self, X: Features) -> None:
        self._X = X
        self._stumps: dict[int, list[tuple[np.float32, float, bool]]] = {}
        self._steps_below: dict[int, NDArray[np.uint32]] = {}
        self._levels: dict[int, Values] = {}

    def add(self, feature: int, threshold: float, weight: float, undefined: bool) -> Scores:
        """One more stump; returns the scores with it."""
        column, place = self._X[:, feature], np.float32(threshold)
        stumps = self._stumps.setdefault(feature, [])
        if not stumps:
            self._steps_below[feature] = (~np.isnan(column)).astype(np.uint32)
        if all(place != earlier for earlier, _, _ in stumps):
            self._steps_below[feature] += column > place
        stumps.append((place, weight, undefined))
        thresholds, weights, marks = (np.array(part) for part in zip(*stumps, strict=True))
        _, levels, of_undefined = _step_function(thresholds, weights, marks)
        self._levels[feature] = np.concatenate(([of_undefined], levels))
        return self._scores()

    def _scores(self) -> Scores:
        used, out = sorted(self._levels), np.empty(len(self._X))
        table = np.zeros((len(used), max(map(len, self._levels.values()))))
        for row, feature in zip(table, used, strict=True):
            row[: len(self._levels[feature])] = self._levels[feature]
        below = np.stack([self._steps_below[feature] for feature in used])
        over_chunks(_look_up, len(out), below, table, out, smallest=4096)
        return out


def _step_function(
    threshold: NDArray[np.float32], weight: Values, undefined: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], Values, float]:
    """Of the stumps of one feature: where it steps, its levels, and what an undefined value adds."""
    places, which = np.unique(threshold, return_inverse=True)
    levels = np.cumsum([0.0, *np.bincount(which, weight, len(places))])
    return places, levels, weight[undefined].sum()
