"""Rounds of learning, watched: how the measure goes, which was best, when to stop, what Ctrl-C leaves."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator

import numpy as np


class Rounds:
    """The rounds of one training.

    The best round is the first with the highest value of `valid`; without one, of `train`; without either,
    the latest.

    Parameters
    ----------
    title : what the progress bar says.
    total : the most rounds there may be.
    early_stopping : stop after so many rounds without a better one; None never stops.
    verbose : show a progress bar.

    >>> rounds = Rounds("demo", 9, early_stopping=2)
    >>> with rounds.watch():
    ...     [rounds.go_on(valid=value) for value in (0.3, 0.5, 0.4, 0.5)]
    [True, True, True, False]
    >>> rounds.best, rounds.evals
    (2, {'valid': [0.3, 0.5, 0.4, 0.5]})
    """

    def __init__(
        self, title: str, total: int, *, early_stopping: int | None = None, verbose: bool = False
    ) -> None:
        self.evals: dict[str, list[float]] = {}
        self.count, self.best = 0, 0
        self.interrupted = False
        self._best_value = -np.inf
        self._title, self._total = title, total
        self._early_stopping, self._verbose = early_stopping, verbose
        self._show: Callable[[dict[str, float]], None] | None = None

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Show the bar while learning; Ctrl-C ends the training with the best round instead of losing it."""
        with self._progress():
            try:
                yield
            except KeyboardInterrupt:
                if self.best == 0:  # nothing was learnt that could be kept
                    raise
                self.interrupted = True
                warnings.warn(f"interrupted: keeping round {self.best} of {self.count}", stacklevel=4)

    def go_on(self, **now: float) -> bool:
        """Note the measure after one more round; whether another may be worth it."""
        self.count += 1
        for part, value in now.items():
            self.evals.setdefault(part, []).append(value)
        if self._show is not None:
            self._show(now)
        judged = now.get("valid", now.get("train"))
        if judged is None or judged > self._best_value:
            self.best, self._best_value = self.count, -np.inf if judged is None else judged
        return not self._early_stopping or self.count - self.best < self._early_stopping

    @contextlib.contextmanager
    def _progress(self) -> Iterator[None]:
        if not self._verbose:
            yield
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn(self._title), BarColumn(), TextColumn("{task.description}")
        with Progress(*columns, TimeRemainingColumn()) as bar:
            task = bar.add_task("", total=self._total)

            def show(now: dict[str, float]) -> None:
                judged = "".join(f", {part} {value:.4f}" for part, value in now.items())
                bar.update(task, completed=self.count, description=f"{self.count} rounds{judged}")

            self._show = show
            yield
