"""What a reader is: it knows a format by its content, and gives what scores as its trainer does.

A reader gets a text, or what JSON (or UBJSON, its binary form) holds. A file may come from anybody: whatever
does not fit is refused, sizes are those of what the file holds, and nothing in it is run.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona.errors import InputError
from pomona.trees.forest import Forest, rounded_down
from pomona.trees.formats.layers import Layers
from pomona.trees.formats.weighted_sum import WeightedSum

MOST_FEATURES = 1_000_000
"""A small file must not ask for a large matrix."""


@dataclass(frozen=True)
class ReadModel:
    """What a file holds.

    Attributes
    ----------
    model : scores rows of features.
    feature_names : None where the file has none.
    is_open : whether the file only tells which features it uses, not how many there are.
    by_name : whether it tells their names only, not their places.
    divisor, scale, shift : the score is model / divisor · scale + shift.
    note : what cannot be the same here, in one line.
    categories : by feature, the names of the categories that the model knows by numbers, if the file tells.
    """

    model: Forest | WeightedSum | Layers
    feature_names: tuple[str, ...] | None = None
    is_open: bool = False
    by_name: bool = False
    divisor: float = 1.0
    scale: float = 1.0
    shift: float = 0.0
    note: str = ""
    categories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        after = self.divisor, self.scale, self.shift
        if not (all(map(math.isfinite, after)) and self.divisor):
            raise InputError(f"scores are divided, scaled and shifted by {after}, expected finite numbers")


def check_count(told: int | None, found: int) -> None:
    """Refuse a file that has lost trees, or has more than it tells."""
    if told is not None and told != found:
        raise InputError(f"the model tells of {told} trees, and holds {found}")


class Reader(ABC):
    """Reads the models of one trainer."""

    name: ClassVar[str]

    @abstractmethod
    def recognizes(self, content: Any) -> bool:
        """Whether this is such a model: a text, or what JSON holds."""

    @abstractmethod
    def read(self, content: Any) -> ReadModel:
        """The model; an InputError, or any error of looking up and converting, tells what is wrong."""


def refuse_categories(where: str) -> None:
    """Refuse a split on categories."""
    raise InputError(
        f"{where} splits on categories, which Pomona does not know: encode them as numbers, and train again"
    )


def refuse_outputs(*n_outputs: int) -> None:
    """Refuse a model with several scores a document, by whichever count."""
    if max(n_outputs) > 1:
        raise InputError(f"the model gives {max(n_outputs)} scores a document, and a ranker gives one")


def checked_width(used: ArrayLike, stated: int = 0) -> int:
    """How many features there are: as stated (if above 0), or up to the last that is used."""
    asked = int(np.max(used, initial=-1)) + 1
    if 0 < stated < asked:
        raise InputError(f"the model tells of {stated} features, and asks for feature no. {asked}")
    width = max(asked, stated, 1)
    if width > MOST_FEATURES:
        raise InputError(f"the model asks for {width} features, at most {MOST_FEATURES} are read")
    return width


def unless_default(names: Sequence[Any], *patterns: str, width: int | None = None) -> tuple[str, ...] | None:
    """The names, or None where nobody gave any: a pattern and a number from 0, or Pomona's own.

    width : how many features there are, if known; another number of names is refused.

    >>> unless_default(["f0", "f1"], "f", "Column_"), unless_default(["bm25", "f1"], "f")
    (None, ('bm25', 'f1'))
    """
    given = tuple(map(str, names))
    if given and width is not None and len(given) != width:
        raise InputError(f"found {len(given)} feature names for {width} features")
    defaults = [(pattern, 0) for pattern in patterns] + [("f", 1), ("feature_", 1)]  # the last are our own
    for pattern, first in defaults:
        if given == tuple(f"{pattern}{number}" for number in range(first, first + len(given))):
            return None
    if len(set(given)) < len(given):
        raise InputError("a name of a feature stands twice")
    return given or None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of which is known how many training documents fell into it, or what they weigh."""

    value: float
    count: float = math.nan
    weight: float = math.nan


@dataclass
class Nodes:
    """Trees as lists of nodes and leaves alike, each with a number in its tree; the root is 0.

    A split sends x <= `threshold` to `left`; a leaf has -1 for its children.
    """

    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    nan_left: list[bool] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    count: list[float] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def add_tree(self, root: Any, read_node: Callable[[Any], float | Leaf | tuple[Any, ...]]) -> None:
        """Add a nested tree. However deep it is, nothing here calls itself.

        `read_node(node)` gives a leaf, its value, or (feature, threshold, nan_left, gain, left, right) of a
        split.
        """
        start = len(self.left)
        places: list[tuple[Any, list[int] | None, int]] = [(root, None, 0)]
        while places:
            node, parents, parent = places.pop()
            number = len(self.left) - start
            if parents is not None:
                parents[start + parent] = number
            answer = read_node(node)
            self.left.append(-1)
            self.right.append(-1)
            leaf = Leaf(answer) if isinstance(answer, float) else answer
            if isinstance(leaf, Leaf):
                feature, threshold, nan_left, gain = 0, 0.0, False, 0.0
            else:
                feature, threshold, nan_left, gain, left, right = leaf
                leaf = Leaf(0.0)
                places += [(right, self.right, number), (left, self.left, number)]
            self.feature.append(feature)
            self.threshold.append(threshold)
            self.nan_left.append(nan_left)
            self.gain.append(gain)
            self.value.append(leaf.value)
            self.count.append(leaf.count)
            self.weight.append(leaf.weight)
        self.sizes.append(len(self.left) - start)

    def forest(self, n_features: int, **more: Any) -> Forest:
        """The trees as a forest."""
        columns = self.left, self.right, self.feature, self.threshold, self.nan_left, self.gain, self.value
        more |= {"leaf_count": self.count, "leaf_weight": self.weight}
        return forest_of(self.sizes, *columns, n_features=n_features, **more)


def forest_of(
    sizes: Iterable[int],
    left: ArrayLike,
    right: ArrayLike,
    feature: ArrayLike,
    threshold: ArrayLike,
    nan_left: ArrayLike,
    gain: ArrayLike,
    value: ArrayLike,
    *,
    n_features: int,
    base: float = 0.0,
    single: bool = False,
    double: bool = False,
    zero_missing: NDArray[np.bool_] | None = None,
    leaf_count: ArrayLike | None = None,
    leaf_weight: ArrayLike | None = None,
) -> Forest:
    """A forest of trees whose nodes and leaves lie in one list each, from `sizes` of them a tree.

    A threshold of NaN sends every defined value right. double : whether float64 features are told apart.
    """
    tree_ptr = np.concatenate([[0], np.cumsum(np.asarray(list(sizes), np.int64))]).astype(np.int64)
    children = np.stack([_integers(left, "child"), _integers(right, "child")], axis=1)
    features, limits = _integers(feature, "feature"), np.asarray(threshold, np.float64)
    nan, values = np.asarray(nan_left, np.bool_).copy(), np.asarray(value, np.float64)
    gains = np.nan_to_num(np.asarray(gain, np.float64).clip(-1e30, 1e30))
    n = len(children)
    if any(len(column) != n for column in (features, limits, nan, gains, values)) or tree_ptr[-1] != n:
        raise InputError("the lists of a tree differ in length")
    if (np.diff(tree_ptr) < 1).any():
        raise InputError("a tree has no node")
    size = np.repeat(np.diff(tree_ptr), np.diff(tree_ptr))
    is_leaf: NDArray[np.bool_] = np.asarray((children < 0).all(axis=1))
    if ((children < 0).any(axis=1) != is_leaf).any() or (children >= size[:, None]).any():
        raise InputError("a child lies outside its tree")
    never_left = np.isnan(limits) & ~is_leaf
    children[never_left], nan[never_left] = children[never_left][:, ::-1], ~nan[never_left]
    limits[never_left] = np.inf
    nodes, tree = _by_level(children, is_leaf, tree_ptr)
    number = np.empty(n, np.int64)  # of inner nodes, and apart from them of leaves, in their tree
    parts = {}
    for kind, chosen in (("node", ~is_leaf[nodes]), ("leaf", is_leaf[nodes])):
        which, counts = nodes[chosen], np.bincount(tree[chosen], minlength=len(tree_ptr) - 1)
        ptr = np.concatenate([[0], np.cumsum(counts)])
        number[which] = np.arange(len(which)) - np.repeat(ptr[:-1], counts)
        parts[kind] = which, ptr
    (inner, node_ptr), (leaves, leaf_ptr) = parts["node"], parts["leaf"]
    start = np.repeat(tree_ptr[:-1], np.diff(tree_ptr))

    def numbered(side: int) -> NDArray[np.int32]:
        child = start[inner] + children[inner, side]
        signed: NDArray[np.int32] = np.where(is_leaf[child], ~number[child], number[child]).astype(np.int32)
        return signed

    return Forest(
        feature=features[inner].clip(-1, MOST_FEATURES).astype(np.int32),
        threshold=rounded_down(limits[inner]),
        nan_left=nan[inner],
        left=numbered(0),
        right=numbered(1),
        gain=gains[inner],
        node_ptr=node_ptr,
        value=values[leaves],
        leaf_ptr=leaf_ptr,
        n_features=n_features,
        base=base,
        single=single,
        double_threshold=limits[inner] if double else None,
        zero_missing=None if zero_missing is None else zero_missing[inner],
        leaf_count=if_known(leaf_count, np.int64, leaves),
        leaf_weight=if_known(leaf_weight, np.float64, leaves),
    )


def if_known(column: ArrayLike | None, dtype: Any, leaves: Any = slice(None)) -> NDArray[Any] | None:
    """What a file tells of the leaves; None where it says nothing, or 0 of all, or what cannot be."""
    known = np.empty(0) if column is None else np.asarray(column, np.float64)[leaves]
    is_possible = known.any() and bool(((known >= 0) & (known < 2**62)).all())
    return known.astype(dtype) if is_possible else None


def _integers(column: ArrayLike, what: str) -> NDArray[np.int64]:
    array = np.asarray(column)
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"found a {what} that is no whole number")
    return array.astype(np.int64)


def _by_level(
    children: NDArray[np.int64], is_leaf: NDArray[np.bool_], tree_ptr: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All nodes that roots lead to, by tree and level, and their trees; a node met twice is refused."""
    nodes, tree = tree_ptr[:-1], np.arange(len(tree_ptr) - 1)
    levels, trees, met = [], [], 0
    while len(nodes):
        met += len(nodes)
        if met > len(children):
            raise InputError("a node of a tree is the child of two")
        levels.append(nodes)
        trees.append(tree)
        splits = ~is_leaf[nodes]
        tree = np.repeat(tree[splits], 2)
        nodes = tree_ptr[tree] + children[nodes[splits]].ravel()
    empty = np.empty(0, np.int64)
    all_nodes, of_tree = np.concatenate([empty, *levels]), np.concatenate([empty, *trees])
    if len(np.unique(all_nodes)) < len(all_nodes):
        raise InputError("a node of a tree is the child of two")
    order = np.argsort(of_tree, kind="stable")
    return all_nodes[order], of_tree[order]
