"""Being told of every iteration of a training: to log it, to stop it, or to save what is learnt so far.

A callback is anything that can be called with a `TrainingStep`; one that returns True stops the training. It
is called when an iteration is done and its model could be kept, by every ranker that learns step by step, and
changes nothing of the model:

    ranker.fit(train, valid=valid, callbacks=[pm.PrintProgress(10), pm.Checkpoint("model.pomona", every=50)])
    ranker.fit(train, valid=valid, callbacks=[lambda step: step.values["valid"] > 0.8])
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona.rankers.base import Ranker


@dataclass(frozen=True)
class TrainingStep:
    """One iteration of a training, as a callback sees it.

    Attributes
    ----------
    ranker : the name of its class. unit : what an iteration is called: tree, round, epoch …
    iteration : its number, from 1. total : the most there may be.
    values : what was recorded of it, by part: `train`, `valid`, the names of other sets, `valid ap` …
    best_iteration : the best so far. is_best : whether it is this one.
    seconds : since the training began.
    model : makes the fitted ranker that a training which ends now keeps; it can be saved and used.
    """

    ranker: str
    unit: str
    iteration: int
    total: int
    values: Mapping[str, float]
    best_iteration: int
    is_best: bool
    seconds: float
    model: Callable[[], Ranker]


Callback = Callable[[TrainingStep], bool | None]
"""What is told of every iteration; the training ends if it returns True."""


class StopTrainingError(Exception):
    """A callback has ended the training: the log of the training catches it."""


@dataclass
class PrintProgress:
    """Print a line about every so many iterations, to stderr if not told otherwise.

    >>> step = TrainingStep("MART", "tree", 20, 100, {"valid": 0.5}, 20, True, 1.5, None)
    >>> PrintProgress(10, file=sys.stdout)(step)
    MART: tree 20 of 100, valid 0.5000, best 20 (1.5 s)
    """

    every: int = 10
    file: TextIO | None = None

    def __post_init__(self) -> None:
        _check_every(self.every)

    def __call__(self, step: TrainingStep) -> None:
        if step.iteration % self.every == 0 or step.iteration == step.total:
            values = "".join(f", {part} {value:.4f}" for part, value in step.values.items())
            line = f"{step.ranker}: {step.unit} {step.iteration} of {step.total}{values}"
            told = f"{line}, best {step.best_iteration} ({step.seconds:.1f} s)"
            print(told, file=self.file or sys.stderr, flush=True)


@dataclass
class StopAfter:
    """Stop the training when it has taken so many seconds: the best iteration so far is kept."""

    seconds: float

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise InputError(f"found seconds {self.seconds!r}, expected a number above 0")

    def __call__(self, step: TrainingStep) -> bool:
        return step.seconds >= self.seconds


@dataclass
class Checkpoint:
    """Save the best model so far after every so many iterations, whole or not at all: see `load_model`."""

    path: str | Path
    every: int = 50

    def __post_init__(self) -> None:
        _check_every(self.every)

    def __call__(self, step: TrainingStep) -> None:
        if step.iteration % self.every == 0 or step.iteration == step.total:
            step.model().save(self.path)


class Callbacks:
    """The callbacks of one training, and since when it runs."""

    def __init__(self, callbacks: Any = ()) -> None:
        self._called = [callbacks] if callable(callbacks) else list(callbacks or ())
        for one in self._called:
            if not callable(one):
                raise InputError(
                    f"found a callback of type {type(one).__name__}, expected what can be called"
                )
        self._started = time.monotonic()

    def __bool__(self) -> bool:
        return bool(self._called)

    @property
    def seconds(self) -> float:
        """Since the training began."""
        return time.monotonic() - self._started

    def tell(self, step: TrainingStep) -> None:
        """Tell all of them; if one or more say so, the training ends."""
        answers = [one(step) for one in self._called]
        if any(answer is True for answer in answers):
            raise StopTrainingError


def _check_every(every: int) -> None:
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise InputError(f"found every={every!r}, expected a whole number of at least 1")
