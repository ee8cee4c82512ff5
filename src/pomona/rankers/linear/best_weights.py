"""The best weights so far: what a search over smoothness, penalties or epochs leaves behind.

Candidates come along *paths* (one for each penalty, say) and are judged by the measure on the validation
queries; the first of the best is kept. Without validation data nothing is judged and the last one is kept,
as in boosting. Ctrl-C ends the search with what it has found instead of losing it.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.measures.base import Measure
from pomona.rankers.evaluator import RankingEvaluator
from pomona.rankers.linear.linear_ranker import weighted_sums


@dataclass
class BestWeights:
    """Weights on trial, and the best of them.

    Attributes
    ----------
    coef : the best weights, None before the first.
    settings : what they were found with.
    evals : the measure on the training and the validation queries along the path that they lie on.
    interrupted : whether the search was ended by Ctrl-C.
    """

    measure: Measure
    train: Dataset
    valid: Dataset | None
    coef: Values | None = None
    settings: dict[str, float] = field(default_factory=dict)
    evals: dict[str, list[float]] = field(default_factory=dict)
    interrupted: bool = False

    def __post_init__(self) -> None:
        self._best = -np.inf
        self._path: dict[str, list[float]] = {}
        self._judged = {}
        if self.valid is not None:
            parts = {"train": self.train, "valid": self.valid}
            self._judged = {
                part: (data.X, RankingEvaluator(data, self.measure)) for part, data in parts.items()
            }

    def start_path(self) -> None:
        """The next candidates lie on a path of their own."""
        self._path = {}

    def offer(self, coef: Values, **settings: float) -> None:
        """Judge weights, and keep them if they are better than all before."""
        value = self._best
        for part, (X, evaluator) in self._judged.items():
            value = evaluator.mean(weighted_sums(X, coef))
            self._path.setdefault(part, []).append(value)
        if self.valid is None or value > self._best:
            self._best, self.coef, self.settings, self.evals = value, coef.copy(), settings, self._path

    @contextlib.contextmanager
    def until_interrupted(self) -> Iterator[None]:
        """Ctrl-C in the body ends it, if there is something to keep."""
        try:
            yield
        except KeyboardInterrupt:
            if self.coef is None:
                raise
            self.interrupted = True
            warnings.warn("interrupted: keeping the best weights so far", stacklevel=3)

    def found(self) -> Values:
        """The best weights; a warning says so when they are all 0."""
        if self.coef is None:
            raise ValueError("no weights were offered")
        if not self.coef.any():
            warnings.warn(
                "no feature was given a weight, so all documents score alike: do any differ inside a query?",
                stacklevel=2,
            )
        return self.coef
