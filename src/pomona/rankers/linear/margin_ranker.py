"""What linear rankers with a margin share: the weight C of their loss, given or chosen on held-out queries.

    min_w  ½‖w‖² + C · loss(w)

The smaller C, the flatter the model. By default a grid of values is tried, from the smallest on, each solved
from what the last one left; kept is the one that ranks the validation queries best, the smallest of equals.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Protocol

from pomona._sklearn import ConvergenceWarning
from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.rankers.linear.linear_ranker import LinearRanker
from pomona.rankers.parameter import PositiveFloat, PositiveInt
from pomona.rankers.training_log import TrainingLog

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


class MarginRanker(LinearRanker):
    """A linear ranker that minimizes ½‖w‖² + C · loss(w).

    Parameters
    ----------
    C : the weight of the loss: a number, or `validate` for the value of a grid that ranks the validation
        queries best (without validation queries, a value that suits most data).
    max_iterations : the most iterations for each C.
    tolerance : how near to the optimum to stop.
    verbose : show a progress bar.

    Attributes
    ----------
    C_ : the C that was kept; an iteration of `evals_` is a value that was tried.
    converged_ : whether its solution is within the tolerance.
    """

    learnt_attributes: ClassVar[Mapping[str, Any]] = {"C_": float, "converged_": bool}

    C: PositiveFloat | Literal["validate"] = "validate"
    max_iterations: PositiveInt = 1000
    tolerance: PositiveFloat = 1e-4
    verbose: bool = False

    @abstractmethod
    def make_problem(self, train: Dataset, weights: Values | None) -> Problem:
        """What is to be minimized on these queries; `weights` has one a document."""

    def learn_weights(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        self._solve(train, valid, weights, lambda: None)

    def _solve(
        self, train: Dataset, valid: Dataset | None, weights: Values | None, finish: Callable[[], None]
    ) -> None:
        """Learn weights, of which `finish` makes the model."""
        problem = self.make_problem(train, weights)
        tried, judge = self._tried(problem.typical_c, valid), self.curve_judge(valid, train)
        log = self.start_training(len(tried), unit="value")
        log.finish_by(finish)
        with log.watch():
            for C in tried:
                try:
                    problem.solve(C)
                except KeyboardInterrupt:
                    if log.iteration == 0 and problem.coef.any():  # better than nothing
                        self._keep(log, problem, C, judge)
                    raise
                self._keep(log, problem, C, judge)
                if not problem.converged:  # a larger C would be harder still
                    break
        finish()
        if not (self.converged_ or log.interrupted):
            warnings.warn(
                f"{type(self).__name__} did not reach its tolerance for C = {self.C_:g}: "
                "raise max_iterations, lower C, or normalize the data",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _keep(
        self, log: TrainingLog, problem: Problem, C: float, judge: Callable[[Values], dict[str, float]]
    ) -> None:
        self.C_: float
        self.converged_: bool
        values = {"C": C, **judge(problem.coef)}
        self.keep_if_best(log, problem.coef, values, C=C, converged=problem.converged)

    def _tried(self, typical: float, valid: Dataset | None) -> list[float]:
        """The values of C to be tried."""
        if self.C == "validate":
            return [typical] if valid is None else [typical * step for step in _GRID]
        return [self.C]
