"""What a format is: a forest as the text that another engine reads.

A new format is one file beside this one, with a class that has a `name` and a `write`; an engine that also
holds weighted sums or networks has `write_sum` and `write_layers`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from pomona._types import Values
from pomona.errors import InputError
from pomona.trees.category_split import members_of
from pomona.trees.forest import Forest
from pomona.trees.formats.layers import Layers
from pomona.trees.formats.weighted_sum import WeightedSum

FLOAT32_NOTE = "scores are float32 there: to some seven digits, and ties may arise"
FLOAT64_NOTE = "sums are float64 there, and float32 in this model: to seven digits"

_MOST_NODES = 1 << 20

T = TypeVar("T")
Model = Forest | WeightedSum | Layers


@dataclass(frozen=True)
class ExportOptions:
    """What may be asked of a format.

    Parameters
    ----------
    engine_version : the version of the engine, as `3.5` or `9.1.2`; None for the newest that is known.
    nonnegative : shift all scores by a constant, so that none is below 0.
    model_name : what the engine shall call the model.
    store : the feature store of Solr that it belongs to.
    raw : for the plugins of Elasticsearch and OpenSearch, the model as XGBoost itself saves it.
    """

    engine_version: str | None = None
    nonnegative: bool = False
    model_name: str = "pomona"
    store: str | None = None
    raw: bool = False

    def __post_init__(self) -> None:
        for name in ("engine_version", "model_name", "store"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name == "model_name"):
                shown = "a text, as '3.5'" if name == "engine_version" else "a text"
                raise InputError(f"{name} must be {shown}, found {value!r}")
        for name in ("nonnegative", "raw"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be true or false, found {getattr(self, name)!r}")

    def version(self, newest: tuple[int, ...]) -> tuple[int, ...]:
        """The engine's version in numbers.

        >>> ExportOptions(engine_version="2.19.2").version((3, 8)), ExportOptions().version((3, 8))
        ((2, 19, 2), (3, 8))
        """
        if self.engine_version is None:
            return newest
        numbers = re.fullmatch(r"v?(\d+(?:\.\d+)*)(?:[-+].*)?", self.engine_version.strip())
        if numbers is None:
            raise InputError(f"found version {self.engine_version!r}, expected numbers, as 3.5")
        return tuple(int(part) for part in numbers[1].split("."))


class Format(ABC):
    """A way to write models; most hold forests only."""

    name: ClassVar[str]
    reads_undefined: ClassVar[bool] = True
    """Whether the engine sends NaN where the forest does; others take what a document lacks as 0."""
    holds_zero_missing: ClassVar[bool] = False
    """Whether a split may take zeros for undefined."""

    holds_categories: ClassVar[bool] = False
    """Whether a split may ask for categories."""

    def __init__(self, options: ExportOptions | None = None) -> None:
        self.options = ExportOptions() if options is None else options
        self.categories: Mapping[int, tuple[str, ...]] = {}
        """By feature, the names of the categories that a forest knows by numbers."""

    def content(self, model: Model, feature_names: Sequence[str]) -> str | bytes:
        """Any model, if the engine can hold it."""
        if isinstance(model, Forest):
            if model.zero_missing is not None and not self.holds_zero_missing:
                raise InputError(
                    f"some splits take zeros for undefined, which {self.name} cannot: "
                    "train without zero_as_missing"
                )
            if model.member_ptr is not None and not self.holds_categories:
                raise InputError(
                    f"some splits ask for categories, which {self.name} cannot hold: export to lightgbm or "
                    "c, or encode categories, by CategoryMean, say, and train again"
                )
            return self.write(model, feature_names)
        if isinstance(model, WeightedSum):
            return self.write_sum(model, feature_names)
        return self.write_layers(model, feature_names)

    @abstractmethod
    def write(self, forest: Forest, feature_names: Sequence[str]) -> str | bytes:
        """A forest."""

    def write_sum(self, model: WeightedSum, feature_names: Sequence[str]) -> str | bytes:
        """A weighted sum of features."""
        raise InputError(f"{self.name} holds forests, not weighted sums of features")

    def write_layers(self, model: Layers, feature_names: Sequence[str]) -> str | bytes:
        """A neural network, or a sum of logarithms of features, which is one of one layer."""
        if len(model.weights) == 1 and model.scale is not None and model.scale.log:
            raise InputError(
                f"{self.name} takes no logarithm of features: train with normalize='global-standard'"
            )
        raise InputError(f"{self.name} holds no neural networks")

    def name_notes(self, feature_names: Sequence[str]) -> list[str]:
        """What becomes of names that the engine cannot hold, a line each."""
        return []

    def notes(self, model: Model) -> list[str]:
        """What cannot be the same in the engine, a line each."""
        if self.reads_undefined:
            return []
        return [f"{self.name} knows no undefined values; what a document lacks is 0 there"]


class Split(NamedTuple):
    """An inner node, as `Forest` has it."""

    feature: int
    threshold: float
    nan_left: bool
    left: int
    right: int
    zero_missing: bool
    depth: int
    members: tuple[int, ...] = ()
    """The categories that go left, where there is no threshold."""


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
    zeros = forest.feature < 0 if forest.zero_missing is None else forest.zero_missing
    columns = (forest.feature, forest.threshold, forest.nan_left, forest.left, forest.right, zeros)
    for tree in range(forest.n_trees):
        nodes, leaves = ranges_of(forest, tree)
        depth = depths(forest, tree)
        members = [tuple(members_of(forest, node).tolist()) for node in range(nodes.start, nodes.stop)]
        splits = [
            Split(*fields)
            for fields in zip(*(column[nodes].tolist() for column in columns), depth, members, strict=True)
        ]
        made = {~number: leaf(number, value) for number, value in enumerate(forest.value[leaves].tolist())}
        for number in range(len(splits) - 1, -1, -1):  # children come after their parents
            split = splits[number]
            made[number] = inner(number, split, made.pop(split.left), made.pop(split.right))
        yield made[0 if splits else ~0]


def depths(forest: Forest, tree: int) -> list[int]:
    """How many splits lie above each inner node of a tree."""
    nodes, _ = ranges_of(forest, tree)
    depth = [0] * (nodes.stop - nodes.start)
    for parent, children in enumerate(
        zip(forest.left[nodes].tolist(), forest.right[nodes].tolist(), strict=True)
    ):
        for child in children:
            if child >= 0:
                depth[child] = depth[parent] + 1  # children come after their parents
    return depth


def check_names(names: Sequence[str]) -> None:
    """Refuse names of features that an engine which goes by them could not tell apart."""
    if len(set(names)) < len(names) or not all(names):
        raise InputError("two features have one name, or one has none: give --feature-map")


def single_precision(forest: Forest) -> Forest:
    """The forest for engines whose features are float32, which its float32 thresholds divide exactly."""
    return replace(forest, double_threshold=None)


def as_float32(values: Values) -> list[float]:
    """Numbers rounded to float32, to be written so that they read back exactly, as float32 or float64."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if not np.isfinite(single).all():
        raise InputError("a leaf or weight is too large for float32, in which the engine computes")
    return [float(one) for one in single]


def ranges_of(forest: Forest, tree: int) -> tuple[slice, slice]:
    """Where a tree's inner nodes and its leaves lie in the forest's arrays."""
    return slice(*forest.node_ptr[tree : tree + 2]), slice(*forest.leaf_ptr[tree : tree + 2])


def folded_in(model: Model, scale: float, shift: float) -> Model:
    """The model whose scores are scaled and shifted: written into its leaves, weights or last layer."""
    if (scale, shift) == (1, 0):
        return model
    if isinstance(model, Forest):
        scaled = model.scaled(scale)
        return replace(scaled, base=scaled.base + shift, single=False)
    if isinstance(model, WeightedSum):
        return replace(model, weight=model.weight * scale, start=model.start * scale + shift, scaled=None)
    raise InputError("the scores of a network cannot be scaled and shifted")


def least_score(model: Model) -> float:
    """What no score lies below: the smallest leaf of every tree; networks and sums have no such bound."""
    if not isinstance(model, Forest):
        raise InputError("only the scores of a forest have a least value: leave nonnegative out")
    if not model.n_trees:
        return model.base
    return float(model.base + np.minimum.reduceat(model.value, model.leaf_ptr[:-1]).sum())


def nonnegative(model: Model) -> Model:
    """The model, shifted by a constant so that no score is below 0."""
    least = least_score(model)
    return model if least >= 0 else folded_in(model, 1.0, -least * (1 + 1e-6))


def without_infinite_limits(forest: Forest) -> Forest:
    """The forest for engines that read no infinite threshold; it decides the same, of infinite values too.

    A split of known from undefined values, x <= inf, becomes two at 0, so that its left side stands twice:
    x <= 0 ? left : (x <= 0 or undefined ? right : left). One that sends everything left is left out.
    """
    if not (forest.threshold == np.inf).any():
        return forest
    trees = [_without_infinite_limits(forest, tree) for tree in range(forest.n_trees)]
    return replace(Forest.join(trees, forest.n_features, forest.base), single=forest.single)


def _without_infinite_limits(forest: Forest, tree: int) -> Forest:
    nodes, leaves = ranges_of(forest, tree)
    columns = forest.feature, forest.threshold, forest.nan_left, forest.gain, forest.left, forest.right
    feature, threshold, nan_left, gain, left, right = (column[nodes].tolist() for column in columns)
    of_leaves = forest.value[leaves].tolist()
    splits: list[tuple[int, float, bool, float]] = []
    children: list[list[int]] = []
    value: list[float] = []
    # What stands where; the second of two splits that stand for one goes by a number beyond all nodes.
    places = [(0 if feature else ~0, -1, 0)]
    while places:
        old, parent, side = places.pop()
        while 0 <= old < len(feature) and threshold[old] == np.inf and nan_left[old]:
            old = left[old]
        if parent >= 0:
            children[parent][side] = ~len(value) if old < 0 else len(splits)
        if old < 0:
            value.append(of_leaves[~old])
            continue
        number, is_second = len(splits), old >= len(feature)
        if number >= _MOST_NODES:
            raise InputError(
                f"a tree that often parts known values from undefined ones has more than {_MOST_NODES} "
                "splits where no threshold can be infinite"
            )
        old -= len(feature) * is_second
        if threshold[old] == np.inf:
            splits.append((feature[old], 0.0, is_second, 0.0 if is_second else gain[old]))
            sides = (right[old], left[old]) if is_second else (left[old], old + len(feature))
        else:
            splits.append((feature[old], threshold[old], nan_left[old], gain[old]))
            sides = left[old], right[old]
        children.append([0, 0])
        places += [(sides[1], number, 1), (sides[0], number, 0)]
    made = [list(column) for column in zip(*splits, strict=True)] or [[], [], [], []]
    ways = [list(column) for column in zip(*children, strict=True)] or [[], []]
    return Forest(
        feature=np.array(made[0], np.int32),
        threshold=np.array(made[1], np.float32),
        nan_left=np.array(made[2], np.bool_),
        left=np.array(ways[0], np.int32),
        right=np.array(ways[1], np.int32),
        gain=np.array(made[3], np.float32),
        node_ptr=np.array([0, len(splits)]),
        value=np.array(value),
        leaf_ptr=np.array([0, len(value)]),
        n_features=forest.n_features,
    )


def java_float(number: float) -> str:
    """A number, infinite ones too, as Java reads it."""
    return repr(number) if np.isfinite(number) else "Infinity" if number > 0 else "-Infinity"


def without_base(forest: Forest) -> Forest:
    """The forest for engines that know no base: it becomes a first tree, of one leaf."""
    if not forest.base and forest.n_trees:
        return forest
    offsets, value = np.array([[0, 0], [0, 1]]), np.array([forest.base])
    first = slice(*forest.leaf_ptr[:2])  # whose documents reach the constant too
    known: dict[str, Any] = {
        name: array[first].sum()[None]
        for name in ("leaf_count", "leaf_weight")
        if (array := getattr(forest, name)) is not None
    }
    constant = replace(
        Forest.empty(forest.n_features), node_ptr=offsets[0], leaf_ptr=offsets[1], value=value, **known
    )
    joined = Forest.join([constant, forest], forest.n_features)
    return replace(joined, single=forest.single)
