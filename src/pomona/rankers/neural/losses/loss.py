"""What a loss is."""

from __future__ import annotations

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
