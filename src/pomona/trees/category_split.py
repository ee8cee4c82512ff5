"""Splits on categories as numbers: 0 where a document's category is in the set of a node, 1 where it is not.

With such a column for each of its nodes on categories a forest is one of thresholds alone, so that whatever
walks, codes or explains trees need not know of sets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona._types import Offsets

if TYPE_CHECKING:
    from pomona.trees.forest import Forest

MOST_CATEGORY = 1 << 24
"""Up to here float32 holds every whole number."""


@kernel
def _append(X, feature, word_ptr, words, out):
    """out (n_docs, n_features + n_splits): the features, then 0 or 1 for each split.

    feature (n_splits,) · word_ptr (n_splits + 1,) · words: bits of the categories that go left. A fraction is
    cut off, as LightGBM does, and what is below 0, undefined or beyond the bits goes right.
    """
    n_features = X.shape[1]
    for i in range(X.shape[0]):
        for f in range(n_features):
            out[i, f] = X[i, f]
        for s in range(feature.size):
            x, n_words = X[i, feature[s]], word_ptr[s + 1] - word_ptr[s]
            out[i, n_features + s] = 1
            if -1 < x < 32 * n_words:
                code = np.int64(x)
                word = words[word_ptr[s] + (code >> 5)]
                out[i, n_features + s] = np.uint32(1) - (word >> np.uint32(code & 31) & np.uint32(1))


@dataclass(frozen=True)
class CategorySplits:
    """The splits of a forest on categories, in the order of its nodes."""

    n_features: int
    feature: NDArray[np.int64]  # (n_splits,)
    word_ptr: Offsets  # (n_splits + 1,)
    words: NDArray[np.uint32]  # bits, as LightGBM's `cat_threshold`

    @classmethod
    def of(cls, forest: Forest) -> CategorySplits:
        """Those of a forest that has some."""
        nodes = nodes_on_categories(forest)
        sets = [np.empty(0, np.uint32), *(bits_of(members_of(forest, node)) for node in nodes.tolist())]
        word_ptr = np.cumsum([len(words) for words in sets])
        return cls(forest.n_features, forest.feature[nodes].astype(np.int64), word_ptr, np.concatenate(sets))

    def appended(self, X: NDArray[Any]) -> NDArray[Any]:
        """X with a column of 0 and 1 for each split."""
        out = np.empty((len(X), self.n_features + len(self.feature)), X.dtype)
        _append(X, self.feature, self.word_ptr, self.words, out)
        out.flags.writeable = False
        return out

    def owners(self, columns: NDArray[np.integer]) -> NDArray[np.int64]:
        """The features that these columns of `appended` come from."""
        owners: NDArray[np.int64] = np.concatenate([np.arange(self.n_features), self.feature])
        of_columns: NDArray[np.int64] = owners[columns]
        return of_columns


def nodes_on_categories(forest: Forest) -> NDArray[np.int64]:
    """The nodes of a forest that ask for a category."""
    if forest.member_ptr is None:
        return np.empty(0, np.int64)
    return np.flatnonzero(np.diff(forest.member_ptr))


def members_of(forest: Forest, node: int) -> NDArray[np.int64]:
    """The categories that a node sends left, none if it has a threshold."""
    if forest.member_ptr is None or forest.member is None:
        return np.empty(0, np.int64)
    return forest.member[forest.member_ptr[node] : forest.member_ptr[node + 1]]


def bits_of(members: NDArray[np.integer]) -> NDArray[np.uint32]:
    """Categories as bits.

    >>> bits_of(np.array([0, 3, 33])).tolist()
    [9, 2]
    """
    words = np.zeros(int(members.max(initial=0)) // 32 + 1, np.uint32)
    np.bitwise_or.at(words, members // 32, np.uint32(1) << (members % 32).astype(np.uint32))
    return words


def members_of_bits(words: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The inverse of `bits_of`.

    >>> members_of_bits(np.array([9, 2], np.uint32)).tolist()
    [0, 3, 33]
    """
    return np.flatnonzero(np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little"))


def with_thresholds(forest: Forest) -> Forest:
    """The forest over the columns of `CategorySplits.appended` that asks the same by thresholds."""
    nodes = nodes_on_categories(forest)
    feature, threshold, nan_left = forest.feature.copy(), forest.threshold.copy(), forest.nan_left.copy()
    feature[nodes] = forest.n_features + np.arange(len(nodes))
    threshold[nodes], nan_left[nodes] = 0.5, False
    changed: dict[str, Any] = {"feature": feature, "threshold": threshold, "nan_left": nan_left}
    if forest.double_threshold is not None:
        changed["double_threshold"] = forest.double_threshold.copy()
        changed["double_threshold"][nodes] = 0.5
    if forest.zero_missing is not None:
        changed["zero_missing"] = forest.zero_missing.copy()
        changed["zero_missing"][nodes] = False
    width = forest.n_features + len(nodes)
    return replace(forest, **changed, n_features=width, member_ptr=None, member=None)
