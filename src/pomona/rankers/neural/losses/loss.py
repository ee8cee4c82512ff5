"""What a loss is, and how one with a derivative gives its gradient."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import torch
from torch import Tensor


class Loss(Protocol):
    """The loss of one padded batch."""

    def __call__(
        self, scores: Tensor, generator: torch.Generator | None = None
    ) -> tuple[Tensor | None, Tensor]:
        """(n_queries,) losses and (n_queries, longest) gradient of (n_queries, longest) scores.

        Scores and gradient of the padding have no meaning.
        """


class SmoothLoss(ABC):
    """A loss whose gradient is its derivative."""

    def __call__(self, scores: Tensor, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Losses and gradient."""
        with torch.enable_grad():
            s = scores.detach().requires_grad_()
            losses = self.losses(s, generator)
            (gradient,) = torch.autograd.grad(losses.sum(), s)
        return losses.detach(), gradient

    @abstractmethod
    def losses(self, scores: Tensor, generator: torch.Generator | None) -> Tensor:
        """(n_queries,) losses of (n_queries, longest) scores."""
