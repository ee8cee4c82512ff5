"""Least squares on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from pomona._cuda import N_THREADS, SIMULATED, cuda, kernel, on_device
from pomona._types import Values

_N_BLOCKS = 1 if SIMULATED else 1024


@kernel(launched=True)
def _residuals(scores, target, weight, out_gradient, out_hessian):
    step = cuda.gridDim.x * cuda.blockDim.x
    for i in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, scores.size, step):
        out_gradient[i] = np.float32(weight[i] * (scores[i] - target[i]))
        out_hessian[i] = np.float32(weight[i])


class CudaRegression:
    """`RegressionObjective` on a GPU: targets and weights of all documents."""

    def __init__(self, target: Values, weight: Values) -> None:
        with on_device():
            self._tables = cuda.to_device(target), cuda.to_device(weight)

    def gradients(self, scores: Any, out_gradient: Any, out_hessian: Any) -> None:
        """w (s − t) and w, all on the GPU."""
        with on_device():
            _residuals[_N_BLOCKS, N_THREADS](scores, *self._tables, out_gradient, out_hessian)
