"""One batch of queries, ready to be trained on: scores in, the gradient of what is minimized out."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from pomona._types import Labels, Offsets, Values
from pomona.objectives.base import Objective
from pomona.objectives.query_objective import QueryObjective
from pomona.rankers.neural.losses.loss import Loss
from pomona.rankers.neural.training.batches import Batch
from pomona.rankers.neural.training.padding import Padding


class ObjectiveFactory(Protocol):
    """Makes what is to be minimized on some queries."""

    def objective(self, labels: Labels, query_ptr: Offsets, weights: Values, seed: int) -> Objective:
        """On a CPU."""

    def loss(self, labels: Labels, query_ptr: Offsets, padding: Padding) -> Loss | None:
        """On a GPU, all queries of weight 1; None if only the objective will do."""


class TrainingBatch:
    """The documents of one batch, and the gradient at their scores.

    Parameters
    ----------
    labels : of the batch's documents.
    weights : of its queries.
    """

    def __init__(
        self,
        batch: Batch,
        labels: Labels,
        weights: Values,
        factory: ObjectiveFactory,
        device: torch.device,
        seed: int,
    ) -> None:
        self.begin, self.end, self.n_queries = batch.begin, batch.end, len(batch.queries)
        # The mean over the queries of a batch, so that the size of a step does not depend on their number.
        shares = weights / len(weights)
        self._loss: Loss | None = None
        self._objective: Objective | None = None
        if device.type != "cpu":
            self._padding = Padding(batch.query_ptr, device)
            self._loss = factory.loss(labels, batch.query_ptr, self._padding)
            self._shares = torch.as_tensor(shares, dtype=torch.float32, device=device)
        if self._loss is None:
            self._objective = factory.objective(labels, batch.query_ptr, shares, seed)

    def gradient(self, scores: Tensor, generator: torch.Generator) -> tuple[Tensor | None, Tensor]:
        """(the loss, if there is one, its gradient) at these scores."""
        if self._loss is not None:
            losses, gradient = self._loss(self._padding.pad(scores), generator)
            loss = None if losses is None else losses.float() @ self._shares
            return loss, self._padding.flat(gradient.float() * self._shares[:, None])
        given = scores.to("cpu", torch.float64).numpy()
        written, hessian = np.empty((2, len(given)), np.float32)
        loss = None
        if isinstance(self._objective, QueryObjective):
            loss = torch.tensor(self._objective.losses(given, written, hessian).sum(), dtype=torch.float32)
        elif self._objective is not None:
            self._objective.gradients(given, written, hessian)
        return loss, torch.tensor(written, device=scores.device)
