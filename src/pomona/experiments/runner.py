"""Runs in processes of their own on this machine, side by side but not more than there are cores.

A worker is a fresh interpreter that does one run after the other, so that kernels and data are loaded once.
It can be killed: a run past its time limit, or one that takes its process down (memory, a crash), ends as
failed and the others go on. A run whose worker died is tried once more, since the system may have killed the
wrong one. When the process that started them ends, however it ends, the workers end too.

Processes × threads = cores: kernels, BLAS and polars of a worker get the same share.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from pomona._jit import n_threads
from pomona.data.compression import available_memory
from pomona.experiments.run import Outcome, Run, Task, execute, peak_memory, start_peak_memory

MOST_TRIES = 2
PREPARATION_SECONDS = 300.0
"""On top of the time limit, to read the data and compile kernels before the clock starts."""

_THREAD_COUNTS = (
    "POMONA_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "POLARS_MAX_THREADS",
)
_BYTES_OF_WORKER = 400 << 20


@dataclass(frozen=True)
class Event:
    """A run was given to a worker, or, with its outcome, has ended."""

    run: Run
    outcome: Outcome | None = None


def share_cores(n_jobs: int | None, n_runs: int, largest_bytes: int) -> tuple[int, int]:
    """How many processes, and how many threads each; as many processes as cores, runs and memory allow.

    `largest_bytes` is the size of the largest training set; a process is taken to need three times that.
    """
    cores = n_threads()
    if n_jobs is None:
        fitting = available_memory() // (_BYTES_OF_WORKER + 3 * largest_bytes)
        n_jobs = min(cores, n_runs, fitting)
    n_jobs = max(1, n_jobs)
    return n_jobs, max(1, cores // n_jobs)


_Messages: TypeAlias = "queue.Queue[tuple[_Worker, Any, bool]]"


class Pool:
    """Worker processes; a context that ends them."""

    def __init__(self, n_jobs: int, threads: int, time_limit: float | None = None) -> None:
        self.n_jobs, self.threads, self.time_limit = n_jobs, threads, time_limit
        self._workers: list[_Worker] = []
        self._messages: _Messages = queue.Queue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()

    def run(self, tasks: Iterable[Task]) -> Iterator[Event]:
        """Do the tasks, in any order; ends when all have ended."""
        waiting = deque(tasks)
        tries: Counter[str] = Counter()
        news: list[Event] = []
        while True:
            # A worker gets its next task before the caller looks at what it did.
            while waiting and (worker := self._idle_worker()):
                task = waiting.popleft()
                tries[task.run.id] += 1
                worker.give(task, self.time_limit)
                news.append(Event(task.run))
            yield from news
            if not any(worker.task for worker in self._workers):
                return
            news = []
            worker, outcome, is_over = self._next_message()
            ended, worker.task = worker.task, None
            if ended is not None:
                if outcome is None and (worker.is_late or tries[ended.run.id] == MOST_TRIES):
                    outcome = worker.failure_of(ended.run, self.time_limit)
                if outcome is None:
                    waiting.append(ended)
                else:
                    news.append(Event(ended.run, outcome))
            if is_over:
                self._workers.remove(worker)
                worker.end()

    def _idle_worker(self) -> _Worker | None:
        for worker in self._workers:
            if worker.task is None:
                return worker
        if len(self._workers) == self.n_jobs:
            return None
        self._workers.append(_Worker(self._messages, self.threads))
        return self._workers[-1]

    def _next_message(self) -> tuple[_Worker, Outcome | None, bool]:
        """The next outcome (None of a worker that died), and whether it is the worker's last word."""
        while True:
            with contextlib.suppress(queue.Empty):
                worker, message, is_over = self._messages.get(timeout=0.1)
                if message != "begun":
                    return worker, message, is_over
                worker.restart_clock(self.time_limit)
            for worker in self._workers:
                worker.kill_if_late()


class _Worker:
    """A process that waits for tasks on its standard input and answers on its standard output."""

    def __init__(self, messages: _Messages, threads: int) -> None:
        self.task: Task | None = None
        self.is_late = False
        self._deadline = float("inf")
        self._messages = messages
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        # Its own session, so that Ctrl-C reaches only the process that can say what it means.
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **dict.fromkeys(_THREAD_COUNTS, str(threads))},
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def give(self, task: Task, time_limit: float | None) -> None:
        """Send a task."""
        self.task, self.is_late = task, False
        self.restart_clock(time_limit, PREPARATION_SECONDS)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has died: the listener tells
            pickle.dump(task, self._process.stdin)
            self._process.stdin.flush()

    def restart_clock(self, time_limit: float | None, more: float = 0.0) -> None:
        """From now on the task has this long."""
        self._deadline = float("inf") if time_limit is None else time.monotonic() + time_limit + more

    def kill_if_late(self) -> None:
        """End a run that is past its limit."""
        if self.task is not None and not self.is_late and time.monotonic() > self._deadline:
            self.is_late = True
            self._process.kill()

    def end(self) -> None:
        """Kill the process, if it lives, and leave nothing open."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for file in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):  # a task that nobody will read may be left in the pipe
                assert file is not None
                file.close()

    def failure_of(self, run: Run, time_limit: float | None) -> Outcome:
        """The outcome of a run that ended with the process."""
        if self.is_late:
            return Outcome(run.id, "failed", f"took longer than the time limit of {time_limit:g} s", "time")
        return Outcome(run.id, "failed", self._epitaph(), "died")

    def _epitaph(self) -> str:
        code = self._process.wait()
        if code == -signal.SIGKILL:
            return "its process was killed, most likely because memory ran out"
        self._errors.seek(0)
        last = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
        return f"its process ended {how}{f': {last}' if last else ''}"

    def _listen(self) -> None:
        """Hand on what the process answers; None when it has ended."""
        assert self._process.stdout is not None
        try:
            while True:
                message, is_last = pickle.load(self._process.stdout)
                self._messages.put((self, message, is_last))
                if is_last:
                    return
        except Exception:  # its end, or what a dying process left in the pipe
            self._messages.put((self, None, True))


def serve() -> None:
    """Be a worker: do the tasks that come on standard input until it ends."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a ranker prints must not stand between the answers
    inbox: queue.Queue[Task] = queue.Queue()

    def answer(message: Any, is_last: bool = False) -> None:
        pickle.dump((message, is_last), answers)
        answers.flush()

    def listen() -> None:
        try:
            while True:
                inbox.put(pickle.load(tasks))
        finally:  # who started this process is gone, perhaps in the middle of a task, or done with it
            os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    # Where the peak of memory cannot start anew, only the first run of a process knows its own.
    serves_one = not start_peak_memory() and peak_memory() is not None
    while True:
        outcome = execute(inbox.get(), begun=lambda: answer("begun"))
        answer(outcome, serves_one)
        if serves_one:
            return
        del outcome
        # What lives now lives on (modules, kernels): looking through it before every run would take 0.1 s.
        gc.collect()
        gc.freeze()
