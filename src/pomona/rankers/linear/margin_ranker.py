"""What linear rankers with a margin share: the weight C of their loss, given or chosen on held-out queries.

    min_w  ½‖w‖² + C · loss(w)

The smaller C, the flatter the model. By default a grid of values is tried, from the smallest on, each solved
from what the last one left; kept is the one that ranks the validation queries best, the smallest of equals.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.rankers.evaluator import mean_of
from pomona.rankers.linear.linear_ranker import LinearRanker, weighted_sums

_GRID = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""Of C, in units of a typical one."""


class Problem(Protocol):
    """What is to be minimized, and how far that has come."""

    @property
    def typical_c(self) -> float:
        """A C that suits most data; the grid lies around it."""

    @property
    def coef(self) -> Values:
        """The weights of the last solution, or the best so far."""

    @property
    def converged(self) -> bool:
        """Whether the last solution is one."""

    def solve(self, C: float) -> None:
        """Minimize for this C."""


@dataclass(kw_only=True, eq=False, repr=False)
class MarginRanker(LinearRanker):
    """A linear ranker that minimizes ½‖w‖² + C · loss(w).

    Parameters
    ----------
    C : the weight of the loss: a number, or `validate` for the value of a grid that ranks the validation
        queries best (without validation queries, a value that suits most data).
    max_iterations : the most iterations for each C.
    tolerance : how near to the optimum to stop.
    """

    C: float | str = "validate"
    max_iterations: int = 1000
    tolerance: float = 1e-4

    @abstractmethod
    def _problem(self, train: Dataset, weights: Values | None) -> Problem:
        """What is to be minimized on these queries; `weights` has one a document."""

    def _learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        if not self.max_iterations >= 1:
            raise InputError(f"max_iterations must be at least 1, found {self.max_iterations!r}")
        if not self.tolerance > 0:
            raise InputError(f"tolerance must be above 0, found {self.tolerance!r}")
        problem = self._problem(train, weights)
        self.evals_: dict[str, list[float]] = {}
        self.interrupted_ = False
        best, converged = -np.inf, False
        try:
            for C in self._tried(problem.typical_c, valid):
                problem.solve(C)
                now = self._judged(problem.coef, train, valid)
                for part, value in {"C": C, **now}.items():
                    self.evals_.setdefault(part, []).append(value)
                if valid is None or now["valid"] > best:
                    best, converged = now.get("valid", best), problem.converged
                    self.coef_, self.C_ = problem.coef, C
                if not problem.converged:  # a larger C would be harder still
                    break
        except KeyboardInterrupt:
            if not self.evals_:
                if not problem.coef.any():  # nothing was learnt that could be kept
                    raise
                self.coef_, self.C_ = problem.coef, C
            self.interrupted_ = True
            warnings.warn(f"interrupted: keeping the best weights so far, C = {self.C_:g}", stacklevel=4)
        if not (converged or self.interrupted_):
            warnings.warn(
                f"{type(self).__name__} did not reach its tolerance for C = {self.C_:g}: "
                "raise max_iterations, lower C, or normalize the data",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _tried(self, typical: float, valid: Dataset | None) -> list[float]:
        """The values of C to be tried; a number may be text, as a command line has it."""
        if self.C == "validate":
            return [typical] if valid is None else [typical * step for step in _GRID]
        try:
            C = float(self.C)
        except (TypeError, ValueError):
            C = np.nan
        if not 0 < C < np.inf:
            raise InputError(f"found C={self.C!r}, expected a number above 0, or 'validate'")
        return [C]

    def _judged(self, coef: Values, train: Dataset, valid: Dataset | None) -> dict[str, float]:
        if valid is None:
            return {}
        parts = {"train": train, "valid": valid}
        return {
            part: mean_of(data, weighted_sums(data.X, coef), self._measure) for part, data in parts.items()
        }

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = super()._state()
        return {**facts, "C": self.C_, "evals": self.evals_}, arrays

    def _set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._set_state(facts, arrays)
        self.C_ = float(facts["C"])
        self.evals_ = {part: [float(v) for v in values] for part, values in facts["evals"].items()}
        self.interrupted_ = False
