"""The documents of a batch as a rectangle, queries × longest query, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pomona._types import Offsets


class Padding:
    """Where each document of a batch stands in the rectangle.

    Attributes
    ----------
    mask : (n_queries, longest) whether there is a document.
    lengths : (n_queries, 1) documents of each query.
    """

    def __init__(self, query_ptr: Offsets, device: torch.device) -> None:
        lengths = np.diff(query_ptr)
        self.n_queries, self.longest, self.device = len(lengths), int(lengths.max()), device
        starts = np.arange(len(lengths)) * self.longest - query_ptr[:-1]
        place = np.repeat(starts, lengths) + np.arange(query_ptr[-1])
        self._place = torch.as_tensor(place, device=device)
        self.lengths = torch.as_tensor(lengths[:, None], device=device)
        self.mask = torch.arange(self.longest, device=device) < self.lengths

    def pad(self, flat: Tensor | NDArray[Any], fill: float = 0.0) -> Tensor:
        """(n_docs,) → (n_queries, longest)."""
        values = torch.as_tensor(flat, device=self.device)
        padded = values.new_full((self.n_queries * self.longest,), fill)
        return padded.index_copy_(0, self._place, values).view(self.n_queries, self.longest)

    def flat(self, padded: Tensor) -> Tensor:
        """(n_queries, longest) → (n_docs,)."""
        return padded.reshape(-1)[self._place]
