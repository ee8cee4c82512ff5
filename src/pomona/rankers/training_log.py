"""The record of one training: its learning curves, its best iteration, when to stop, and what Ctrl-C leaves.

Every ranker that learns step by step goes through this class (`Ranker.start_training`), whatever its steps
are: trees, rounds, epochs, or the values of a penalty that are tried one after the other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pomona._types import Scores
from pomona.data.dataset import Dataset
from pomona.objectives.base import Objective
from pomona.rankers.callback import Callbacks, StopTrainingError, TrainingStep
from pomona.rankers.trace import Trace

if TYPE_CHECKING:
    from pomona.rankers.base import Ranker

_ROUNDING = 1e-12  # of a mean over queries, which depends on their order; no iteration is better by it


class TrainingLog:
    """What happened in a training, iteration by iteration.

    The best iteration is the first with the highest value of the part that decides, `valid` by default; where
    that part is not recorded, the latest. Iterations may lie on several *paths* (one for each of several
    learning rates, say): the best one is the best of all paths, its number is that on its own path, and the
    curves are those of that path.

    Parameters
    ----------
    title : what the progress bar says first.
    total : the most iterations there may be on a path.
    unit : what an iteration is called.
    done : iterations that an earlier training has done, where this one goes on from it.
    deciding : the parts that tell which iteration is best; the first of them that is recorded decides.
    early_stopping : stop after so many iterations without a better one; None never stops.
    verbose : show a progress bar.
    trace : records documents, where the ranker tells of them by `follow`.
    callbacks : are told of every iteration; `model` makes the fitted ranker that they may ask for.

    Attributes
    ----------
    evals : the recorded values by part, one an iteration.
    iteration : how many iterations there were on the current path, those `done` before included.
    best_iteration : the best of all; `done` before any.
    best_value : its value of the part that decided.
    interrupted : whether Ctrl-C ended the training.
    ended : whether Ctrl-C or a callback did.

    >>> log = TrainingLog("demo", 9, early_stopping=2)
    >>> with log.watch():
    ...     for value in (0.3, 0.5, 0.4, 0.5, 0.9):
    ...         is_best = log.record(valid=value)
    ...         if log.should_stop:
    ...             break
    >>> log.best_iteration, log.evals
    (2, {'valid': [0.3, 0.5, 0.4, 0.5]})
    """

    def __init__(
        self,
        title: str = "",
        total: int = 0,
        *,
        unit: str = "iteration",
        done: int = 0,
        deciding: Sequence[str] = ("valid",),
        early_stopping: int | None = None,
        verbose: bool = False,
        trace: Trace | None = None,
        callbacks: Callbacks | None = None,
        model: Callable[[], Ranker] | None = None,
    ) -> None:
        self.evals: dict[str, list[float]] = {}
        self.iteration = self.best_iteration = self._done = done
        self.best_value, self.interrupted, self.ended = -np.inf, False, False
        self._title, self._total, self.unit = title, total, unit
        self._deciding, self._early_stopping, self._verbose = deciding, early_stopping, verbose
        self._curves, self._path, self._highest, self._latest_rise = self.evals, "", -np.inf, done
        self._show: Callable[[str], None] | None = None
        self._trace, self._callbacks, self._model = trace, callbacks, model
        self._untold: dict[str, float] | None = None
        self.finish: Callable[[], None] = lambda: None

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Show the bar in the body; Ctrl-C there ends it, unless nothing was learnt that could be kept."""
        with self._progress():
            try:
                yield
                self.tell()
            except StopTrainingError:
                self.ended = True
            except KeyboardInterrupt:
                if self.best_iteration == self._done:
                    raise
                self.interrupted = self.ended = True

    def start_path(self, name: str = "") -> None:
        """The next iterations lie on a path of their own, which the bar calls by this name."""
        self.iteration, self._curves, self._path = self._done, {}, name
        self._highest, self._latest_rise = -np.inf, self._done

    def follow(
        self, train: Dataset, scores: Callable[[], Scores], objective: Callable[[], Objective | None]
    ) -> None:
        """Let the trace, if there is one, see the training documents now and after every iteration.

        `scores` tells those of all documents as they are when it is called; `objective` makes what tells the
        forces. Called when a path begins; without a trace nothing is computed.
        """
        if self._trace is not None:
            self._trace.follow(self.iteration, train, scores, objective())

    def finish_by(self, finish: Callable[[], None]) -> None:
        """Say what leaves the attributes of the best iteration so far, where not every iteration does.

        It is called for callbacks that ask for a model, and undone for the training to go on.
        """
        self.finish = finish

    def record(self, *, decides: float | None = None, **values: float) -> bool:
        """Note the values of one more iteration, by part; whether it is the best so far.

        decides : the number by which it is the best, instead of the part that would decide.
        """
        self.tell()
        self.iteration += 1
        self._untold = values
        for part, now in values.items():
            self._curves.setdefault(part, []).append(float(now))
        if self._show is not None:
            judged = "".join(f", {part} {now:.4f}" for part, now in values.items())
            units = self.unit if self.iteration == 1 else f"{self.unit}s"
            self._show(f"{self._path}{self.iteration} {units}{judged}")
        value = next((values[part] for part in self._deciding if part in values), None)
        value = value if decides is None else decides
        if value is None or value > self._highest + _ROUNDING:
            self._highest, self._latest_rise = -np.inf if value is None else value, self.iteration
        is_best = value is None or value > self.best_value + _ROUNDING
        if is_best:
            self.best_iteration, self.evals = self.iteration, self._curves
            self.best_value = self._highest
        if self._trace is not None:
            if is_best:
                self._trace.keep()
            is_last = self.iteration == self._total or self._is_patient_no_more
            if self.iteration % self._trace.every == 0 or is_last:
                self._trace.see(self.iteration)
        return is_best

    def tell(self) -> None:
        """Tell callbacks of the latest iteration, once; where one of them says so, the training ends here.

        Called when what the iteration learnt is kept, or at the latest when the next one is recorded.
        """
        values, self._untold = self._untold, None
        if values is None or not self._callbacks or self._model is None:
            return
        self._callbacks.tell(
            TrainingStep(
                self._title,
                self.unit,
                self.iteration,
                self._total,
                values,
                self.best_iteration,
                self.best_iteration == self.iteration and self.evals is self._curves,
                self._callbacks.seconds,
                self._model,
            )
        )

    @property
    def should_stop(self) -> bool:
        """Whether the path has not risen for as long as `early_stopping` says; callbacks are told before."""
        self.tell()
        return self._is_patient_no_more

    @property
    def _is_patient_no_more(self) -> bool:
        return self.iteration - self._latest_rise >= (self._early_stopping or np.inf)

    @property
    def kept(self) -> str:
        """What an interrupted training keeps, in words."""
        return f"{self.unit} {self.best_iteration} of {self.iteration}"

    @contextlib.contextmanager
    def _progress(self) -> Iterator[None]:
        if not self._verbose:
            yield
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = TextColumn(self._title), BarColumn(), TextColumn("{task.description}")
        with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
            task = bar.add_task("", total=self._total)
            self._show = lambda text: bar.update(task, completed=self.iteration, description=text)
            try:
                yield
            finally:
                self._show = None
                bar.columns = *columns, TimeElapsedColumn()  # it may have ended before its time
