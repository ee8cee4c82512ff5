"""What a format is: a forest as the text that another engine reads.

A new format is one file beside this one, with a class that has a `name` and a `write`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np

from pomona.trees.forest import Forest

T = TypeVar("T")


class Format(ABC):
    """A way to write forests."""

    name: ClassVar[str]
    reads_undefined: ClassVar[bool] = True
    """Whether the engine sends NaN where the forest does; others take what a document lacks as 0."""

    @abstractmethod
    def write(self, forest: Forest, feature_names: Sequence[str]) -> str:
        """The forest as text."""


class Split(NamedTuple):
    """An inner node, as `Forest` has it."""

    feature: int
    threshold: float
    nan_left: bool
    left: int
    right: int


def folded(
    forest: Forest, leaf: Callable[[int, float], T], inner: Callable[[int, Split, T, T], T]
) -> Iterator[T]:
    """For every tree, what becomes of its root if leaves and inner nodes are replaced from the bottom up.

    leaf(number, value) · inner(number, split, left, right), its children being replaced already. However deep
    a tree is, nothing here calls itself.

    >>> stump = Forest([2], [0.5], [True], [~0], [~1], [1.0], [0, 1], [-1.0, 2.0], [0, 2], n_features=3)
    >>> def question(number, split, left, right):
    ...     return f"x{split.feature} <= {split.threshold} ? {left} : {right}"
    >>> list(folded(stump, lambda number, value: value, question))
    ['x2 <= 0.5 ? -1.0 : 2.0']
    """
    columns = (forest.feature, forest.threshold, forest.nan_left, forest.left, forest.right)
    for tree in range(forest.n_trees):
        nodes, leaves = ranges_of(forest, tree)
        splits = [
            Split(*fields) for fields in zip(*(column[nodes].tolist() for column in columns), strict=True)
        ]
        made = {~number: leaf(number, value) for number, value in enumerate(forest.value[leaves].tolist())}
        for number in range(len(splits) - 1, -1, -1):  # children come after their parents
            split = splits[number]
            made[number] = inner(number, split, made.pop(split.left), made.pop(split.right))
        yield made[0 if splits else ~0]


def ranges_of(forest: Forest, tree: int) -> tuple[slice, slice]:
    """Where a tree's inner nodes and its leaves lie in the forest's arrays."""
    return slice(*forest.node_ptr[tree : tree + 2]), slice(*forest.leaf_ptr[tree : tree + 2])


def finite(forest: Forest) -> Forest:
    """The forest for engines that cannot read infinity; the largest number does for all finite values."""
    most = np.finfo(np.float32).max
    return replace(forest, threshold=forest.threshold.clip(-most, most))


def without_base(forest: Forest) -> Forest:
    """The forest for engines that know no base: it becomes a first tree, of one leaf."""
    if not forest.base and forest.n_trees:
        return forest
    offsets, value = np.array([[0, 0], [0, 1]]), np.array([forest.base])
    constant = replace(Forest.empty(forest.n_features), node_ptr=offsets[0], leaf_ptr=offsets[1], value=value)
    return Forest.join([constant, forest], forest.n_features)
