"""The trees grown so far, from which a training that lost a worker goes on as if nothing had happened.

A tree of the record is not grown again, only given out: everything else of its round is computed as before,
so scores, draws and learning curves come to the same bits as in a training that was never broken off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features
from pomona.trees.grower import Grower, GrownTree
from pomona.trees.peers import Peers
from pomona.trees.walk import leaves_of

RecordedTree = tuple[GrownTree, dict[str, Any]]
"""A tree, without the leaves of rows, and the state of the random numbers after it."""

_NO_ROWS = np.empty(0, np.int32)


@dataclass
class TreeRecord:
    """Trees in the order in which they were grown."""

    trees: list[RecordedTree] = field(default_factory=list)
    n_given: int = 0
    """How many this training has been given, or has grown itself."""
    interrupted: bool = False
    """Whether somebody asked this training to end: it does before the next tree."""
    tell: Callable[[RecordedTree], None] | None = None
    """Who is told of every new tree."""


class RecordedGrower(Grower):
    """Gives out the trees of a record, then grows and records further ones."""

    def __init__(self, grower: Grower, X: Features, record: TreeRecord, peers: Peers) -> None:
        self._grower, self._X, self._record, self._peers = grower, X, record, peers

    def grow(
        self,
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        rows: NDArray[np.int32] | None,
        rng: np.random.Generator,
    ) -> GrownTree:
        record = self._record
        if self._peers.gather(np.array([int(record.interrupted)])).any():
            raise KeyboardInterrupt
        record.n_given += 1
        if record.n_given <= len(record.trees):
            tree, state = record.trees[record.n_given - 1]
            rng.bit_generator.state = state
            path = (tree.feature, tree.threshold, tree.nan_left, tree.left, tree.right)
            return replace(tree, leaf_of_row=leaves_of(self._X, *path))
        tree = self._grower.grow(gradient, hessian, rows, rng)
        record.trees.append((replace(tree, leaf_of_row=_NO_ROWS), dict(rng.bit_generator.state)))
        if record.tell is not None:
            record.tell(record.trees[-1])
        return tree

    def _divide_leaves(self, workspace: Any) -> int:
        raise NotImplementedError  # `grow` asks the other grower
