"""Which objectives have a form on a GPU."""

from __future__ import annotations

from typing import Any

from pomona.objectives.base import Objective
from pomona.objectives.cuda.lambdas import CudaLambdas
from pomona.objectives.cuda.regression import CudaRegression
from pomona.objectives.lambdas import LambdaObjective
from pomona.objectives.regression import RegressionObjective


def cuda_form(objective: Objective) -> Any:
    """What computes the same derivatives on a GPU, or None: they are then computed by the CPU, and sent."""
    if type(objective) is RegressionObjective:
        return CudaRegression(objective._target, objective._weights)
    if type(objective) is LambdaObjective and objective.has_closed_form:
        return CudaLambdas(objective)
    return None
