"""What losses over whole queries share: labels, offsets, a weight for each query, and one kernel over all.

The kernel of an objective writes the loss of every query and its derivatives by the scores of its
documents; a query's loss and derivatives are multiplied by its weight.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._jit import over_chunks
from pomona._types import Values
from pomona.objectives.base import Objective, labels_of, offsets_of, scores_of, weights_of


class QueryObjective(Objective):
    """A loss that adds up over queries.

    Parameters
    ----------
    labels, query_ptr : documents grouped by query.
    weights : one a query, multiplies its loss.
    """

    _smallest: ClassVar[int] = 64
    """The fewest queries that are worth a thread."""

    def __init__(self, labels: ArrayLike, query_ptr: ArrayLike, weights: ArrayLike | None = None) -> None:
        self._labels = labels_of(labels)
        self._query_ptr = offsets_of(query_ptr, len(self._labels))
        self._weights = weights_of(weights, len(self._query_ptr) - 1, "queries")

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
        scores = scores_of(scores, len(self._labels))
        kernel, arguments = self._kernel()
        gradient = np.empty(len(scores), np.float32) if out_gradient is None else out_gradient
        hessian = np.empty(len(scores), np.float32) if out_hessian is None else out_hessian
        losses = np.empty(len(self._weights))
        over_chunks(
            kernel,
            len(losses),
            scores,
            self._query_ptr,
            self._weights,
            *arguments,
            gradient,
            hessian,
            losses,
            smallest=self._smallest,
        )
        return losses
