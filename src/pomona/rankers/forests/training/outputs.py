"""The scores of documents while they are boosted, and the derivatives: in memory, or on a GPU.

On a GPU nothing of the documents travels from round to round: an objective whose derivatives can be computed
there (`objectives.cuda`) writes them where the trees are grown, and a tree's values are added where they lie.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona._team import by_team
from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.objectives.base import Objective
from pomona.rankers.forests.training.grown import leaves_in
from pomona.trees.grower import Grower, GrownTree

_DOCS = 1 << 13  # worth a task


@kernel
def _add_values(first, last, value, leaf_of_row, out):
    for i in range(first, last):
        out[i] += value[leaf_of_row[i]]


class HeldOut:
    """Outputs (n_outputs, n_docs) of validation documents.

    is_revised : whether a tree may be added more than once: then its leaves are kept.
    """

    def __init__(self, values: Values, data: Dataset, *, is_revised: bool) -> None:
        self.values, self._data, self._is_revised = values, data, is_revised
        self._leaves: dict[int, NDArray[np.integer]] = {}

    def add(self, output: int, tree: GrownTree, value: Values) -> None:
        """Add the values of a tree's leaves."""
        leaves = self._leaves.get(id(tree))
        if leaves is None:
            leaves = leaves_in(self._data, tree)
            if self._is_revised:
                self._leaves[id(tree)] = leaves.astype(np.min_scalar_type(len(value)))
        self.values[output] += value[leaves]


class Outputs:
    """Outputs (n_outputs, n_docs), in memory."""

    def __init__(self, values: Values, objective: Objective) -> None:
        self._values, self._objective = values, objective
        self.gradient: Any = np.empty(values.shape, np.float32)
        self.hessian: Any = np.empty(values.shape, np.float32)

    @staticmethod
    def of(values: Values, objective: Objective, grower: Grower) -> Outputs:
        """Where the grower wants them, and the objective can have them."""
        if getattr(grower, "on_gpu", False) and objective.n_outputs == 1:
            from pomona.objectives.cuda.form import cuda_form

            if (on_gpu := cuda_form(objective)) is not None:
                return CudaOutputs(values, on_gpu, grower)
        return Outputs(values, objective)

    def differentiate(self) -> None:
        """Fill in `gradient` and `hessian`, (n_outputs, n_docs)."""
        if self._objective.n_outputs == 1:
            self._objective.gradients(self._values[0], self.gradient[0], self.hessian[0])
        else:
            self._objective.gradients(self._values, self.gradient, self.hessian)

    def is_flat(self) -> bool:
        """Whether all gradients are 0."""
        return not self.gradient.any()

    def add(self, output: int, tree: GrownTree, value: Values) -> None:
        """Add the values of a tree's leaves; on a GPU, of the tree just grown."""
        out = self._values[output]
        by_team(_add_values, len(out), value, tree.leaf_of_row, out, smallest=_DOCS)

    def in_memory(self) -> Values:
        """The outputs as they are now."""
        return self._values


class CudaOutputs(Outputs):
    """The one output of every document, on a GPU."""

    def __init__(self, values: Values, objective: Any, grower: Any) -> None:
        from pomona._cuda import cuda

        self._scores: Any = cuda.to_device(values[0])
        self._objective, self._grower = objective, grower
        self.gradient = [cuda.device_array(values.shape[1], np.float32)]
        self.hessian = [cuda.device_array(values.shape[1], np.float32)]

    def differentiate(self) -> None:
        self._objective.gradients(self._scores, self.gradient[0], self.hessian[0])

    def is_flat(self) -> bool:
        return not self.gradient[0].copy_to_host().any()

    def add(self, output: int, tree: GrownTree, value: Values) -> None:
        self._grower.add(value, self._scores)

    def in_memory(self) -> Values:
        values: Values = self._scores.copy_to_host()[None]
        return values
