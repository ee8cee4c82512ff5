"""Runs on a Dask cluster (extra `dask`).

Every thread of the cluster's workers does one run at a time, in a process of its own as on a single machine,
so that time limits and crashes cost a run and not a worker. The runs of a worker that is lost are done by
others. The workers need Pomona and the data under the same paths, and nothing else: results come back as
bytes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, Self

from pomona.errors import InputError, MissingExtraError
from pomona.experiments.execute import RunResult, Task
from pomona.experiments.runner import LocalRunner, RunEvent

PATIENCE_SECONDS = 10
"""How long a scheduler may take to answer."""

_thread = threading.local()


def connected(address: str) -> Any:
    """A client of the scheduler at an address."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("distributed", "dask") from None
    try:
        return Client(address, timeout=PATIENCE_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from None


class ClusterRunner:
    """Executes tasks as `LocalRunner` does, on the workers of a scheduler."""

    def __init__(self, address: str, time_limit: float | None = None) -> None:
        self._client = connected(address)
        self.time_limit = time_limit

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def run(self, tasks: Sequence[Task], *, is_rehearsal: bool = False) -> Iterator[RunEvent]:
        """Do the tasks, in any order; ends when all have ended."""
        from distributed import as_completed

        runs = {}
        for task in tasks:
            future = self._client.submit(_do, task, self.time_limit, is_rehearsal, pure=False)
            runs[future] = task.run
            yield RunEvent(task.run)
        for future in as_completed(list(runs), loop=self._client.loop):
            run = runs.pop(future)
            if future.status == "finished":
                yield RunEvent(run, future.result())
            else:
                error = future.exception()
                reason = f"the cluster gave up: {error}"
                yield RunEvent(run, RunResult(run.id, "failed", reason, type(error).__name__))
            future.release()


def _do(task: Task, time_limit: float | None, is_rehearsal: bool) -> RunResult:
    """On a worker of the cluster: do the task in a process that this thread keeps."""
    if not hasattr(_thread, "runner"):
        _thread.runner = LocalRunner(1, 1)
    _thread.runner.time_limit = time_limit
    *_, last = _thread.runner.run([task], is_rehearsal=is_rehearsal)
    result: RunResult = last.result
    return result
