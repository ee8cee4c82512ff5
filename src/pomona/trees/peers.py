"""Those who grow the same trees, each from documents of its own: what is known only of all goes through here.

Sums of integers do not depend on their order, so whoever takes part, and however documents are shared out,
everybody comes to the same numbers, takes the same decisions, and grows the same tree, bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Peers:
    """All machines of a training, seen from one of them; this class knows nobody else."""

    rank: int = 0
    """Which of them this is, from 0."""
    size: int = 1
    """How many they are."""

    def add(self, sums: NDArray[np.int64]) -> None:
        """Replace integers, a C-contiguous array of the same shape everywhere, by their sums over all."""

    def gather(self, values: NDArray[Any]) -> NDArray[Any]:
        """(size, …) numbers of 64 bits of everybody, of the same shape everywhere."""
        everybody = np.zeros((self.size, *values.shape), values.dtype)
        everybody[self.rank] = values
        self.add(everybody.view(np.int64))  # of each number all but one are zero, so its bits stay
        return everybody

    def joined(self, values: NDArray[Any]) -> NDArray[Any]:
        """Numbers of 64 bits of everybody, one after the other, in the order of ranks."""
        lengths = self.gather(np.array([len(values)]))[:, 0]
        begin = int(lengths[: self.rank].sum())
        return self.placed(values, np.arange(begin, begin + len(values)), int(lengths.sum()))

    def placed(self, values: NDArray[Any], places: NDArray[np.int64], count: int) -> NDArray[Any]:
        """(count, …) numbers of 64 bits of everybody, each at a place of its own."""
        everybody = np.zeros((count, *values.shape[1:]), values.dtype)
        everybody[places] = values
        self.add(everybody.view(np.int64))
        return everybody


ALONE = Peers()
"""A single machine."""
