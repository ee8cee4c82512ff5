"""What an objective is: prepared once for a set of labels, then asked for gradients every round."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._splitmix import GOLDEN, mix
from pomona._types import Codes, Offsets, Values
from pomona.errors import InputError

LEAST_HESSIAN = 1e-12
"""Of a document in logit boosting: a rare class makes p (1 − p) so small that a leaf's sum could vanish."""


class Whole(Protocol):
    """All documents, where an objective has those of one machine of a cluster: some whole queries."""

    @property
    def query_numbers(self) -> Offsets:
        """Where its queries stand among all, ascending."""

    @property
    def doc_numbers(self) -> Offsets:
        """Where its documents stand among all, ascending."""

    @property
    def n_docs(self) -> int:
        """How many documents there are in all."""

    def add(self, sums: NDArray[np.int64]) -> None:
        """Replace integers by their sums over all machines."""


class Objective(ABC):
    """A loss to be minimized, seen through its derivatives by the scores."""

    n_outputs: int = 1
    """How many scores a document has; with more than one, arrays are (n_outputs, n_docs)."""

    tie_order: Codes | None = None
    """Of an objective that ranks: the rows of each query, counted from its first, as equal scores stand."""

    def start(self) -> float:
        """The score that every document starts from; 0 where only differences of scores matter."""
        return 0.0

    def join(self, whole: Whole) -> None:
        """Become a part of an objective of all documents: what depends on those elsewhere is set right.

        An objective whose gradients depend on a query alone, and that draws nothing at random, need do
        nothing here; one that does not say so is refused.
        """
        raise InputError(
            f"{type(self).__name__} does not know how to be trained on a cluster: leave client out"
        )

    @abstractmethod
    def gradients(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> None:
        """Write the first and second derivative of the loss by every score."""


def labels_of(labels: ArrayLike) -> Values:
    """Labels, one finite number a document."""
    array = np.array(labels, np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InputError("labels must be finite numbers, one a document")
    return array


def classes_of(labels: ArrayLike, weights: ArrayLike | None = None) -> tuple[Values, Codes]:
    """(the distinct labels that occur, ascending; each document's index among them).

    The labels of documents of weight 0 are no classes; such documents have the index of any.

    >>> classes_of([3, 0, 3])
    (array([0., 3.]), array([1, 0, 1], dtype=int32))
    >>> classes_of([3, 0, 3, 7], weights=[1, 1, 1, 0])
    (array([0., 3.]), array([1, 0, 1, 1], dtype=int32))
    """
    given = labels_of(labels)
    levels = np.unique(given[weights_of(weights, len(given), "documents") > 0])
    codes = np.searchsorted(levels, given).clip(max=len(levels) - 1)
    if len(levels) < 2:
        raise InputError("classes cannot be learnt from documents that all have the same label")
    return levels, codes.astype(np.int32)


def weights_of(weights: ArrayLike | None, count: int, what: str) -> Values:
    """One finite weight of at least 0 for each query or document; 1 when none are given.

    >>> weights_of(None, 2, "queries")
    array([1., 1.])
    """
    if weights is None:
        return np.ones(count)
    array = np.array(weights, np.float64)
    if array.shape != (count,):
        raise InputError(f"found {array.size} weights for {count} {what}")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise InputError(f"weights of {what} must be finite and not below 0")
    return array


def offsets_of(query_ptr: ArrayLike, n_docs: int) -> Offsets:
    """Query offsets that fit the documents, as an array that kernels accept."""
    offsets = np.array(query_ptr, np.int64)
    if offsets.ndim != 1 or len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != n_docs:
        raise InputError(f"query offsets must run from 0 to the number of documents, {n_docs}")
    if (np.diff(offsets) < 0).any():
        raise InputError("query offsets must not fall")
    return offsets


def draws_seed(seed: int, scores: Values, whole: Whole | None = None) -> np.uint64:
    """The seed of what is drawn at random for these scores, and those on other machines, if any.

    It depends on nothing else: who asks twice, as a trace does, is told the same, and a training that goes on
    from a model draws as if it had never stopped.

    >>> [int(draws_seed(seed, np.array([0.5, 2.0]))) for seed in (1, 2)]
    [16350706990806445181, 16805016337361970826]
    """
    total = scores.view(np.int64).sum(keepdims=True)  # in any order
    if whole is not None:
        whole.add(total)
    words = np.array([seed % 2**64, total.view(np.uint64)[0]], np.uint64)
    return np.uint64(mix(words + GOLDEN).sum())


def scores_of(scores: NDArray[Any], n_docs: int) -> Values:
    """Scores as kernels want them (they are compiled for writable arrays), copied only if need be."""
    if scores.shape != (n_docs,):
        raise InputError(f"found {scores.size} scores for {n_docs} documents")
    return np.require(scores, np.float64, ["C", "W"])


def weighted_sum(weights: Values, rows: Values) -> Values:
    """Σ_k w_k r_k of rows (K, n): a product of matrices adds in an order that depends on a column's place."""
    total: Values = np.add.reduce(weights[:, None] * rows, axis=0)
    return total
