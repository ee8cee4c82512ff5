"""What losses over whole queries share: labels, offsets, weights, and one kernel over all queries.

The kernel of an objective writes the loss of every query and its derivatives by the scores of its
documents; a query's loss and derivatives are multiplied by its weight w̄. Documents may have weights r
relative to it: a pair then counts r_i r_j, a term r_i, and a document of r = 0 is left out of its query.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._jit import over_chunks
from pomona._types import Offsets, Values
from pomona.objectives.base import Objective, labels_of, offsets_of, scores_of, weights_of

NO_WEIGHTS = np.empty(0)
"""Given to kernels where all documents have a relative weight of 1."""


class QueryObjective(Objective):
    """A loss that adds up over queries.

    Parameters
    ----------
    labels, query_ptr : documents grouped by query.
    weights : one a query, multiplies its loss.
    relative : one a document, what it weighs beside that; None for 1.
    """

    _smallest: ClassVar[int] = 64
    """The fewest queries that are worth a thread."""
    _sees_all: ClassVar[bool] = False
    """Whether documents of r = 0 keep their place in their queries."""

    def __init__(
        self,
        labels: ArrayLike,
        query_ptr: ArrayLike,
        weights: ArrayLike | None = None,
        relative: ArrayLike | None = None,
    ) -> None:
        self._labels = labels_of(labels)
        self._n_docs = len(self._labels)
        self._query_ptr = offsets_of(query_ptr, self._n_docs)
        self._weights = weights_of(weights, len(self._query_ptr) - 1, "queries")
        self._relative = NO_WEIGHTS
        self._rows: Offsets | None = None
        if relative is not None:
            self._relative = weights_of(relative, self._n_docs, "documents")
            if not (self._sees_all or self._relative.all()):
                self._leave_out(np.flatnonzero(self._relative))

    def _leave_out(self, rows: Offsets) -> None:
        """Learn from these documents alone."""
        self._rows, self._labels, self._relative = rows, self._labels[rows], self._relative[rows]
        self._query_ptr = np.searchsorted(rows, self._query_ptr)

    @abstractmethod
    def _kernel(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """The kernel and its arguments.

        It is called with (first, last, scores, query_ptr, weights, *arguments, out_gradient, out_hessian,
        out_loss).
        """

    def gradients(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> None:
        """The derivatives of the loss by every score."""
        self.losses(scores, out_gradient, out_hessian)

    def losses(
        self,
        scores: Values,
        out_gradient: NDArray[np.float32] | None = None,
        out_hessian: NDArray[np.float32] | None = None,
    ) -> Values:
        """The loss of every query; the derivatives are written on the way."""
        scores = scores_of(scores, self._n_docs)
        gradient = np.empty(len(scores), np.float32) if out_gradient is None else out_gradient
        hessian = np.empty(len(scores), np.float32) if out_hessian is None else out_hessian
        if self._rows is None:
            return self._losses(scores, gradient, hessian)
        some = np.empty((2, len(self._rows)), np.float32)
        losses = self._losses(scores[self._rows], *some)
        gradient[:], hessian[:] = 0.0, 0.0
        gradient[self._rows], hessian[self._rows] = some
        return losses

    def _losses(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> Values:
        """As `losses`, of the documents that are not left out."""
        kernel, arguments = self._kernel()
        losses = np.empty(len(self._weights))
        over_chunks(
            kernel,
            len(losses),
            scores,
            self._query_ptr,
            self._weights,
            *arguments,
            out_gradient,
            out_hessian,
            losses,
            smallest=self._smallest,
        )
        return losses


class DrawingObjective(QueryObjective):
    """A loss over chances of being drawn, which are in proportion to r exp(score).

    So a document of weight 2 is as two of weight 1 that share a score, and log r is added to its score.
    """

    def _losses(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> Values:
        if self._relative.size:
            scores = scores + np.log(self._relative)
        return super()._losses(scores, out_gradient, out_hessian)
