"""The forest: one flat ensemble of trees, whatever grew it.

All inner nodes lie end to end in one set of arrays and all leaves in another; a document's score is `base`
plus the value of its leaf in every tree, added in float64 in the order of the trees.

Trees of other trainers may ask for more, to give their scores to the last bit: thresholds in float64, zeros
that count as undefined, sums that are rounded to float32 after every tree. And a node may ask for categories
in place of a threshold (`category_split.py`). A forest that asks for none of it pays for none of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._lazy import cached_property
from pomona._types import Offsets, Scores, Values
from pomona.errors import InputError, UnknownNameError
from pomona.trees import score as bits
from pomona.trees.category_split import MOST_CATEGORY, CategorySplits, with_thresholds
from pomona.trees.coded import CodedForest
from pomona.trees.linked import FEW, LinkedForest
from pomona.trees.permuted import PermutedScorer
from pomona.trees.walk import leaves_of

_NODE_ARRAYS = {
    "feature": np.int32,
    "threshold": np.float32,
    "nan_left": np.bool_,
    "left": np.int32,
    "right": np.int32,
    "gain": np.float32,
}
_ARRAYS = {**_NODE_ARRAYS, "node_ptr": np.int64, "value": np.float64, "leaf_ptr": np.int64}
_OPTIONAL = {"double_threshold": np.float64, "zero_missing": np.bool_}
_CATEGORIES = {"member_ptr": np.int64, "member": np.int64}
_STATISTICS = {"leaf_count": np.int64, "leaf_weight": np.float64}
_ALL = _ARRAYS | _OPTIONAL | _CATEGORIES | _STATISTICS

_BATCH = 1 << 22  # values of documents with a column for each split on categories, at a time


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """Trees over `n_features` features, as flat read-only arrays, copies of those that were given.

    A child ≥ 0 is an inner node and a child < 0 the leaf `~child`, both counted within the tree; a child's
    number is greater than its parent's. A tree without inner nodes has one leaf.

    >>> stump = Forest(
    ...     feature=[0], threshold=[1.5], nan_left=[True], left=[~0], right=[~1], gain=[1.0],
    ...     node_ptr=[0, 1], value=[-1.0, 2.0], leaf_ptr=[0, 2], n_features=1,
    ... )
    >>> stump.score([[1.5], [1.6], [float("nan")]]).tolist()
    [-1.0, 2.0, -1.0]
    """

    feature: NDArray[np.int32]  # (n_nodes,)
    threshold: NDArray[np.float32]  # (n_nodes,) x <= threshold goes left
    nan_left: NDArray[np.bool_]  # (n_nodes,) where NaN goes
    left: NDArray[np.int32]  # (n_nodes,)
    right: NDArray[np.int32]  # (n_nodes,)
    gain: NDArray[np.float32]  # (n_nodes,) of the split
    node_ptr: Offsets  # (n_trees + 1,)
    value: Values  # (n_leaves,) learning rate included
    leaf_ptr: Offsets  # (n_trees + 1,)
    n_features: int
    base: float = 0.0  # added to every score
    double_threshold: Values | None = None  # (n_nodes,) for float64 features; `threshold` rounds it down
    zero_missing: NDArray[np.bool_] | None = None  # (n_nodes,) whether |x| <= `ZERO` goes where NaN goes
    single: bool = False  # whether sums are float32
    leaf_count: NDArray[np.int64] | None = None  # (n_leaves,) training documents, if known
    leaf_weight: Values | None = None  # (n_leaves,) their second derivatives summed, if known
    member_ptr: Offsets | None = None  # (n_nodes + 1,) a node that has members asks for a category:
    member: NDArray[np.int64] | None = None  # these, whole numbers, go left, and all else goes right

    def __post_init__(self) -> None:
        for name, dtype in _ALL.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _owned(name, getattr(self, name), dtype))
        if not isinstance(self.n_features, int | np.integer) or self.n_features < 0:
            raise InputError(f"not a forest: found {self.n_features!r} features")
        problem = _problem(self)
        if problem:
            raise InputError(f"not a forest: {problem}")

    @classmethod
    def empty(cls, n_features: int, base: float = 0.0) -> Forest:
        """The forest without trees: every score is `base`."""
        arrays: dict[str, NDArray[Any]] = {
            name: np.zeros(int(name.endswith("_ptr")), dtype) for name, dtype in _ARRAYS.items()
        }
        return cls.of_arrays(arrays, n_features, base)

    @classmethod
    def join(cls, forests: Sequence[Forest], n_features: int, base: float = 0.0) -> Forest:
        """The trees of all forests, one after the other; their own bases are left out."""
        for forest in forests:
            if forest.n_features != n_features:
                raise InputError(f"found a forest over {forest.n_features} features, expected {n_features}")
        parts = [cls.empty(n_features), *forests]
        arrays: dict[str, NDArray[Any]] = {}
        optional = (*_OPTIONAL, *_CATEGORIES)
        asked = [name for name in optional if any(getattr(part, name) is not None for part in parts)]
        with_trees = [part for part in parts if part.n_trees]  # of which all must know it
        asked += [n for n in _STATISTICS if with_trees and all(getattr(p, n) is not None for p in with_trees)]
        for name in (*_ARRAYS, *asked):
            held = [part._array(name) for part in parts]
            if name.endswith("_ptr"):
                arrays[name] = np.cumsum(np.concatenate([[0], *(np.diff(offsets) for offsets in held)]))
            else:
                arrays[name] = np.concatenate(held)
        single = bool(forests) and all(forest.single for forest in forests)
        return cls.of_arrays(arrays, n_features, base, single=single)

    def _array(self, name: str) -> NDArray[Any]:
        """An array by its name; an optional one as if it were there."""
        if getattr(self, name) is None:
            if name in _STATISTICS:
                return np.empty(0, _STATISTICS[name])
            if name in _CATEGORIES:
                return np.zeros(len(self.feature) + 1 if name == "member_ptr" else 0, np.int64)
            return self.threshold.astype(np.float64) if name == "double_threshold" else self.feature < 0
        array: NDArray[Any] = getattr(self, name)
        return array

    @classmethod
    def of_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], n_features: int, base: float, *, single: bool = False
    ) -> Forest:
        """The forest whose `arrays()` these are."""
        missing = set(_ARRAYS) - set(arrays)
        if missing:
            raise InputError(f"not a forest: there is no array {', '.join(sorted(missing))}")
        known = {name: dtype for name, dtype in _ALL.items() if name in arrays}
        for name, dtype in known.items():
            if arrays[name].dtype != dtype:
                raise InputError(f"not a forest: {name} is of type {arrays[name].dtype}")
        return cls(**{name: arrays[name] for name in known}, n_features=n_features, base=base, single=single)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The trees as named arrays, to be stored."""
        held = {name: getattr(self, name) for name in _ALL}
        return {name: array for name, array in held.items() if array is not None}

    @property
    def n_trees(self) -> int:
        """How many trees."""
        return len(self.node_ptr) - 1

    def score(self, X: ArrayLike) -> Scores:
        """The score of every document; X (n_docs, n_features) may hold NaN and infinity, read as float32.

        Only a forest with a `double_threshold` reads float64 features as they are.
        """
        rows = self._documents(X)
        if len(rows) <= FEW and self.member_ptr is None:
            return self._linked.score(rows)
        return bits.score(self._coded_for(rows), rows, self.base, single=self.single)

    def staged_scores(self, X: ArrayLike, every: int = 1) -> Iterator[Scores]:
        """The scores after `every` trees, after twice as many, …, and after all.

        Documents are coded once and each tree is walked once; a byte per document and feature is kept.
        """
        if every < 1:
            raise InputError(f"found every={every}, expected at least 1")
        rows = self._documents(X)
        return bits.staged_scores(self._coded_for(rows), rows, self.base, every, single=self.single)

    def value_scorer(self, X: ArrayLike) -> Callable[[Values], Scores]:
        """What scores these documents with other values in the leaves, in the order of `value`."""
        return bits.value_scorer(self._coded, self._documents(X), self.base)

    def permuted_scorer(self, X: ArrayLike) -> PermutedScorer:
        """What scores these documents with one feature after another permuted."""
        return PermutedScorer(self._coded, self._documents(X), self.base)

    def leaf_of(self, X: ArrayLike) -> NDArray[np.int32]:
        """The leaf, counted within its tree, of every document in every tree: (n_docs, n_trees)."""
        rows = self._documents(X)
        if self.member_ptr is not None:
            leaves = [self.by_thresholds.leaf_of(batch) for batch in self.batches(rows)]
            return np.concatenate([np.empty((0, self.n_trees), np.int32), *leaves])
        threshold = self.threshold if rows.dtype == np.float32 else self._array("double_threshold")
        zero_missing = self._array("zero_missing")
        out = np.empty((len(rows), self.n_trees), np.int32)
        for tree, (begin, end) in enumerate(itertools.pairwise(self.node_ptr)):
            at = slice(begin, end)
            splits = self.feature[at], threshold[at], self.nan_left[at]
            out[:, tree] = leaves_of(rows, *splits, self.left[at], self.right[at], zero_missing[at])
        return out

    def head(self, n_trees: int) -> Forest:
        """The first `n_trees` trees (all, if there are fewer)."""
        if n_trees < 0:
            raise InputError(f"found n_trees={n_trees}, expected at least 0")
        node_ptr, leaf_ptr = self.node_ptr[: n_trees + 1], self.leaf_ptr[: n_trees + 1]
        of_nodes = [name for name in (*_NODE_ARRAYS, *_OPTIONAL) if getattr(self, name) is not None]
        nodes = {name: getattr(self, name)[: node_ptr[-1]] for name in of_nodes}
        of_leaves = [name for name in ("value", *_STATISTICS) if getattr(self, name) is not None]
        leaves = {name: getattr(self, name)[: leaf_ptr[-1]] for name in of_leaves}
        if self.member_ptr is not None and self.member is not None:
            nodes["member_ptr"] = self.member_ptr[: node_ptr[-1] + 1]
            nodes["member"] = self.member[: nodes["member_ptr"][-1]]
        return replace(self, **nodes, **leaves, node_ptr=node_ptr, leaf_ptr=leaf_ptr)

    def extended(self, other: Forest) -> Forest:
        """These trees, then those of `other`: scores are the sums of both."""
        return Forest.join([self, other], self.n_features, self.base + other.base)

    def scaled(self, factor: float) -> Forest:
        """The forest whose every leaf, and base, is `factor` times as large."""
        return replace(self, value=self.value * factor, base=self.base * factor)

    def importance(self, kind: str = "gain") -> Values:
        """What each feature contributes: the sum of its splits' `gain`, or how many it has (`split`)."""
        weights = {"gain": self.gain.astype(np.float64), "split": np.ones(len(self.feature))}
        if kind not in weights:
            raise UnknownNameError("importance", kind, weights)
        return np.bincount(self.feature, weights[kind], self.n_features).astype(np.float64)

    def sums_below(self, of_leaves: NDArray[Any]) -> NDArray[Any]:
        """For every inner node the sum over the leaves below it, of `leaf_count`, say."""
        left, right, leaves = self.left.tolist(), self.right.tolist(), of_leaves.tolist()
        sums = [0] * len(left)
        for tree in range(self.n_trees):
            begin, end = self.node_ptr[tree : tree + 2].tolist()
            leaf = int(self.leaf_ptr[tree])
            for node in range(end - 1, begin - 1, -1):  # children come after their parents
                children = left[node], right[node]
                sums[node] = sum(leaves[leaf + ~c] if c < 0 else sums[begin + c] for c in children)
        return np.array(sums, of_leaves.dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Forest):
            return NotImplemented
        mine, its = (
            {name: array for name, array in forest.arrays().items() if name not in _STATISTICS}
            for forest in (self, other)
        )
        return (
            (self.n_features, self.base, self.single) == (other.n_features, other.base, other.single)
            and mine.keys() == its.keys()
            and all(np.array_equal(array, its[name]) for name, array in mine.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        leaves = np.diff(self.leaf_ptr)
        size = f", up to {leaves.max()} leaves" if self.n_trees else ""
        return f"<Forest: {self.n_trees} trees{size}, {self.n_features} features>"

    def __reduce__(self) -> tuple[Any, ...]:
        # The coded form is made again where it is needed: it is as large as the forest.
        return Forest, tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def _linked(self) -> LinkedForest:
        return LinkedForest.of(self)

    @cached_property
    def category_splits(self) -> CategorySplits | None:
        """The splits on categories, if there are any."""
        return None if self.member_ptr is None else CategorySplits.of(self)

    @cached_property
    def by_thresholds(self) -> Forest:
        """The forest that asks for thresholds alone, of columns that `category_splits` appends."""
        return self if self.member_ptr is None else with_thresholds(self)

    @cached_property
    def _coded(self) -> CodedForest:
        return replace(CodedForest.of(self.by_thresholds), splits=self.category_splits)

    @cached_property
    def _coded_double(self) -> CodedForest:
        plain = self.by_thresholds
        coded = CodedForest.of(plain, plain._array("double_threshold"))
        return replace(coded, splits=self.category_splits)

    def batches(self, rows: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Documents, all or some after the other, with the columns that `by_thresholds` asks for."""
        splits = self.category_splits
        n = len(rows) if splits is None else max(1, _BATCH // self.by_thresholds.n_features)
        for first in range(0, len(rows), max(n, 1)):
            batch = rows[first : first + n]
            yield batch if splits is None else splits.appended(batch)

    def _coded_for(self, rows: NDArray[Any]) -> CodedForest:
        return self._coded if rows.dtype == np.float32 else self._coded_double

    def _documents(self, X: ArrayLike) -> NDArray[Any]:
        """X as the kernels read it; read-only, because a writable array would compile them once more."""
        is_double = self.double_threshold is not None and getattr(X, "dtype", None) == np.float64
        dtype = np.float64 if is_double else np.float32
        if type(X) is np.ndarray and X.dtype == dtype and X.flags.c_contiguous and X.flags.aligned:
            rows = X
        else:
            try:
                # What is too large for float32 lies above every threshold, as infinity does.
                with np.errstate(over="ignore"):
                    rows = np.require(X, dtype, ["C", "A"])
            except (TypeError, ValueError) as error:
                raise InputError(f"features cannot be read as numbers: {error}") from None
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise InputError(f"found features of shape {rows.shape}, expected (n_docs, {self.n_features})")
        view = rows.view()
        view.flags.writeable = False
        return view


def rounded_down(thresholds: ArrayLike) -> NDArray[np.float32]:
    """The largest float32 that is not above: it divides float32 values as the threshold itself does.

    >>> rounded_down([0.1, 0.5, 1e300]).tolist()
    [0.09999999403953552, 0.5, 3.4028234663852886e+38]
    """
    exact = np.asarray(thresholds, np.float64)
    with np.errstate(over="ignore", under="ignore"):
        nearest = exact.astype(np.float32)
        return np.where(nearest > exact, np.nextafter(nearest, np.float32(-np.inf)), nearest)


def _owned(name: str, given: ArrayLike, dtype: Any) -> NDArray[Any]:
    """A read-only copy, which nobody changes after it was checked: kernels look up in it unseen.

    Numbers that are to be whole, and are not, or too large, are refused.
    """
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "biuf":
            raise TypeError(array.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            copy = np.array(array, dtype, order="C")
        is_same = array.dtype == dtype or copy.dtype.kind == "f" or np.array_equal(copy, array)
    except (TypeError, ValueError, OverflowError):
        is_same = False
    if not is_same:
        raise InputError(f"not a forest: {name} holds something that is not of type {np.dtype(dtype)}")
    copy.flags.writeable = False
    return copy.view()


def _problem(forest: Forest) -> str | None:
    """What is wrong with the arrays, or None: a forest may come from a file, and kernels check nothing."""
    n_nodes, n_leaves = len(forest.feature), len(forest.value)
    arrays = forest.arrays()
    if any(array.ndim != 1 for array in arrays.values()):
        return "an array has more than one dimension"
    of_nodes = [arrays[name] for name in (*_NODE_ARRAYS, *_OPTIONAL) if name in arrays]
    statistics = [arrays[name] for name in _STATISTICS if name in arrays]
    if any(len(array) != n_leaves or not ((array >= 0) & (array < np.inf)).all() for array in statistics):
        return "the counts and weights of leaves are not one a leaf, finite and not below 0"
    if any(len(array) != n_nodes for array in of_nodes):
        return "arrays of nodes differ in length"
    for ptr, total, smallest in ((forest.node_ptr, n_nodes, 0), (forest.leaf_ptr, n_leaves, 1)):
        if not len(ptr) or ptr[0] != 0 or ptr[-1] != total or (np.diff(ptr) < smallest).any():
            return f"offsets do not divide {total} items into trees"
    if (problem := _problem_of_categories(forest)) is not None:
        return problem
    inner, leaves = np.diff(forest.node_ptr), np.diff(forest.leaf_ptr)
    if len(inner) != len(leaves) or (leaves != inner + 1).any():
        return "a tree of n inner nodes needs n + 1 leaves"
    if n_nodes and not 0 <= forest.feature.min() <= forest.feature.max() < forest.n_features:
        return f"a feature lies outside 0..{forest.n_features - 1}"
    if any(np.isnan(array).any() for array in of_nodes if array.dtype.kind == "f"):
        return "a threshold is NaN"
    if not np.array_equal(rounded_down(forest._array("double_threshold")), forest.threshold):
        return "thresholds are not those of float64, rounded down"
    if not (np.isfinite(forest.value).all() and np.isfinite(forest.base)):
        return "the value of a leaf is not finite"
    # Every node but the root, and every leaf, must be the child of exactly one earlier node.
    tree = np.repeat(np.arange(forest.n_trees), inner)
    number = np.arange(n_nodes) - forest.node_ptr[tree]
    n_parents_of_node, n_parents_of_leaf = np.zeros(n_nodes + 1, np.int64), np.zeros(n_leaves + 1, np.int64)
    for child in (forest.left, forest.right):
        is_leaf = child < 0
        if (np.where(is_leaf, ~child, child) >= np.where(is_leaf, leaves[tree], inner[tree])).any():
            return "a child lies outside its tree"
        if (~is_leaf & (child <= number)).any():
            return "a child comes before its parent"
        n_parents_of_node += np.bincount(
            np.where(is_leaf, n_nodes, forest.node_ptr[tree] + child), minlength=n_nodes + 1
        )
        n_parents_of_leaf += np.bincount(
            np.where(is_leaf, forest.leaf_ptr[tree] + ~child, n_leaves), minlength=n_leaves + 1
        )
    n_parents_of_node[forest.node_ptr[:-1][inner > 0]] += 1
    n_parents_of_leaf[forest.leaf_ptr[:-1][inner == 0]] += 1
    if (n_parents_of_node[:-1] != 1).any() or (n_parents_of_leaf[:-1] != 1).any():
        return "a node or leaf is not the child of exactly one node"
    return None


def _problem_of_categories(forest: Forest) -> str | None:
    if forest.member_ptr is None and forest.member is None:
        return None
    ptr, member = forest._array("member_ptr"), forest._array("member")
    is_rising = len(ptr) > 0 and ptr[0] == 0 and ptr[-1] == len(member) and (np.diff(ptr) >= 0).all()
    if len(ptr) != len(forest.feature) + 1 or not is_rising:
        return "categories do not belong to the nodes"
    if len(member) and not 0 <= member.min() <= member.max() < MOST_CATEGORY:
        return f"a category lies outside 0..{MOST_CATEGORY - 1}"
    return None
