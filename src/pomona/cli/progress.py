"""What is seen of a comparison while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from pomona.experiments.run import RunSpec
    from pomona.experiments.runner import RunEvent


_QUERIES = {"valid": "validation", "test": "test"}


class Progress:
    """What is seen while a comparison runs: the runs under way, the last that ended, and the best so far."""

    def __init__(self, main: str, *, preface: str = "", is_quiet: bool = False, n_shown: int = 12) -> None:
        from rich.console import Console

        self.main, self.preface, self.is_quiet, self.n_shown = main, preface, is_quiet, n_shown
        self.console = Console(stderr=True)
        self.n_runs = self.n_done = self.n_failed = 0
        self.started, self.has_begun = time.monotonic(), threading.Event()
        self._running: dict[str, tuple[RunSpec, float]] = {}
        self._ended: list[tuple[str, str, float, str]] = []
        self._means: dict[str, dict[str, list[float]]] = {}  # by part and ranker

    def start(self, runs: Sequence[RunSpec], finished: Mapping[str, Any]) -> None:
        """Take note of what there is, and of what an earlier process did."""
        from pomona._beside import COMPILING
        from pomona._kernel_files import is_first_run

        wanted = {run.id: run for run in runs}
        self.n_runs = len(wanted)
        for run in wanted.values():
            if row := finished.get(run.id):
                self._count(run, row["state"], row["record"])
        n_finished = self.n_done + self.n_failed
        if n_finished:
            self._say(f"{n_finished} of {self.n_runs} runs were finished before")
        if n_finished < self.n_runs and is_first_run("trees/grower.py"):
            self._say(COMPILING)
        self.has_begun.set()

    def see(self, event: RunEvent) -> None:
        """A run began or ended."""
        run, result = event.run, event.result
        if self.preface:  # now everything has been checked
            self._say(self.preface)
            self.preface = ""
        if result is None:
            self._running[run.id] = run, time.monotonic()
            return
        seconds = time.monotonic() - self._running.pop(run.id)[1]
        self._count(run, result.state, result.record)
        shown = result.reason or self._told(*self._value(result.record))
        self._ended.append((str(run), result.state, seconds, shown))
        if not self.console.is_terminal:
            count = f"[{self.n_done + self.n_failed}/{self.n_runs}]"
            self._say(f"{count} {run}: {result.state}, {shown}, {seconds:.1f} s")

    def _say(self, text: str) -> None:
        if not self.is_quiet:
            typer.echo(text, err=True)

    def _count(self, run: RunSpec, state: str, record: Mapping[str, Any]) -> None:
        from pomona.experiments.spec import BOUNDS

        self.n_done += state == "done"
        self.n_failed += state == "failed"
        if state == "done" and run.kind not in BOUNDS:
            part, value = self._value(record)
            self._means.setdefault(part, {}).setdefault(run.ranker, []).append(value)

    def _value(self, record: Mapping[str, Any]) -> tuple[str, float]:
        """The main measure of a run: on validation queries, or, where there are none, on test queries."""
        part = "valid" if "valid" in record["means"] else "test"
        return part, record["means"][part][self.main]

    def _told(self, part: str, value: float) -> str:
        return f"{_QUERIES[part]} {self.main} {value:.4f}"

    @property
    def best(self) -> str:
        """The ranker with the highest mean over its finished runs; test queries choose only if they must."""
        part = "valid" if "valid" in self._means else "test"
        means = {ranker: sum(values) / len(values) for ranker, values in self._means.get(part, {}).items()}
        leader = max(means, key=lambda ranker: means[ranker], default=None)
        return "" if leader is None else f"; best so far: {leader}, {self._told(part, means[leader])}"

    def __rich__(self) -> Table | str:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        if not self.n_runs:
            return "reading and checking the data …"
        now = time.monotonic()
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        caption = f"{self.n_done} of {self.n_runs} done{failed}, {now - self.started:.0f} s{self.best}"
        table = Table("run", "state", box=box.SIMPLE_HEAD, caption=caption, caption_justify="left")
        table.add_column("elapsed", justify="right")
        table.add_column("")
        room = max(0, self.n_shown - len(self._running))
        styles = {"done": "green", "failed": "red"}
        for name, state, seconds, result in self._ended[-room:] if room else []:
            table.add_row(Text(name), Text(state, styles[state]), f"{seconds:.1f} s", Text(result))
        for run, since in list(self._running.values()):
            table.add_row(Text(str(run)), Text("running", "yellow"), f"{now - since:.1f} s", "")
        return table
