"""One batch of queries, ready to be trained on: scores in, the gradient of what is minimized out."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pomona._types import Labels, Offsets, Scores, Values
from pomona.objectives.base import Objective
from pomona.objectives.query_objective import QueryObjective
from pomona.rankers.neural.training.batches import Batch


class ObjectiveFactory(Protocol):
    """Makes what is to be minimized on some queries."""

    def objective(
        self,
        labels: Labels,
        query_ptr: Offsets,
        weights: Values,
        seed: int,
        relative: Values | None = None,
    ) -> Objective:
        """The objective of queries with these weights, and documents with these beside their queries'."""


class TrainingBatch:
    """The documents of one batch, and the gradient at their scores.

    Parameters
    ----------
    labels : of the batch's documents.
    weights : of its queries.
    relative : of its documents, beside the others of their queries; 1 when None.

    Attributes
    ----------
    begin, end : its rows among the laid out documents.
    n_queries : how many queries it has.
    lengths : of its lists, where they are padded; None otherwise.
    """

    def __init__(
        self,
        batch: Batch,
        labels: Labels,
        weights: Values,
        factory: ObjectiveFactory,
        seed: int,
        relative: Values | None = None,
    ) -> None:
        self.begin, self.end, self.n_queries = batch.begin, batch.end, len(batch.queries)
        self.lengths, self._places = None if batch.places is None else batch.lengths, batch.places
        # The mean over the queries of a batch, so that the size of a step does not depend on their number.
        more = {} if relative is None else {"relative": relative}
        self._objective = factory.objective(labels, batch.query_ptr, weights / len(weights), seed, **more)

    def gradient(self, scores: Scores) -> tuple[float | None, NDArray[np.float32]]:
        """(the loss, if there is one, its gradient) at the scores of these rows; 0 where a row is padding."""
        if self._places is None:
            return self._gradient(scores)
        loss, gradient = self._gradient(scores[self._places])
        padded = np.zeros(len(scores), np.float32)
        padded[self._places] = gradient
        return loss, padded

    def _gradient(self, scores: Scores) -> tuple[float | None, NDArray[np.float32]]:
        gradient, hessian = np.empty((2, len(scores)), np.float32)
        if isinstance(self._objective, QueryObjective):
            return float(self._objective.losses(scores, gradient, hessian).sum()), gradient
        self._objective.gradients(scores, gradient, hessian)
        return None, gradient
