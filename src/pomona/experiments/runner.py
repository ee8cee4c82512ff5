"""Runs in processes of their own on this machine, side by side but not more than there are cores.

A run past its time limit, or one that takes its process down (memory, a crash), ends as failed and the others
go on. A run whose process died is tried once more, since the system may have killed the wrong one.

Processes × threads = cores: kernels, BLAS and polars of a process get the same share.
"""

from __future__ import annotations

import gc
import queue
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pomona._jit import n_threads
from pomona._machine import available_memory
from pomona._pool import Pool, Worker, thread_counts
from pomona.experiments.execute import RunResult, Task, execute, rehearse, versions
from pomona.experiments.run import RunSpec

MOST_TRIES = 2
PREPARATION_SECONDS = 120.0
"""On top of the time limit, to read the data and compile kernels before the clock starts.

A ranker that is not ready by then in its rehearsal is not tried again: no ranker can cost more than this, the
limit, and the limit of each of its runs.
"""

_BYTES_OF_WORKER = 400 << 20


@dataclass(frozen=True)
class RunEvent:
    """A run was given to a process, or, with its result, has ended."""

    run: RunSpec
    result: RunResult | None = None


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


class LocalRunner(Pool):
    """Executes tasks in processes on this machine; a context that ends them."""

    def __init__(self, n_jobs: int, threads: int, time_limit: float | None = None) -> None:
        # Asking for the versions loads what every run needs, before the first run comes.
        super().__init__(n_jobs, thread_counts(threads), versions)
        self.time_limit = time_limit

    def run(self, tasks: Sequence[Task], *, is_rehearsal: bool = False) -> Iterator[RunEvent]:
        """Do the tasks, in any order; ends when all have ended. A rehearsal only tries the rankers out."""
        events: queue.SimpleQueue[RunEvent] = queue.SimpleQueue()

        def execute_in(worker: Worker, task: Task, n_tries: int = MOST_TRIES) -> None:
            events.put(RunEvent(task.run))
            result = self._result(worker, task, is_rehearsal)
            if result.error == "died" and n_tries > 1:
                execute_in(worker, task, n_tries - 1)
            else:
                events.put(RunEvent(task.run, result))

        for task in tasks:
            self.submit(execute_in, task)
        n_left = len(tasks)
        while n_left:
            event = events.get()
            n_left -= event.result is not None
            yield event

    def _result(self, worker: Worker, task: Task, is_rehearsal: bool) -> RunResult:
        limit = self.time_limit
        longer = None if limit is None else limit + PREPARATION_SECONDS
        late = f"was not ready to run after {longer or 0:g} s"
        try:
            rehearsed: RunResult = worker.call(_prepare, task, time_limit=longer)
            late = f"took longer than the time limit of {limit or 0:g} s"
            return rehearsed if is_rehearsal else worker.call(execute, task, time_limit=limit)
        except TimeoutError:
            return RunResult(task.run.id, "failed", late, "time", {"time_limit": limit})
        except Exception as error:  # the process died, or none could be started
            return RunResult(task.run.id, "failed", str(error), "died")


def _prepare(task: Task) -> RunResult:
    # What lives now lives on (modules, then kernels): looking through it, before every run, would take 0.1 s.
    gc.freeze()
    result = rehearse(task)
    gc.collect()
    gc.freeze()
    return result
