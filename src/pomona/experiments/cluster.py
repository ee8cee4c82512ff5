"""Runs on a Dask cluster (extra `dask`).

Every thread of the cluster's workers does one run at a time, in a process of its own as on a single machine,
so that time limits and crashes cost a run and not a worker. The runs of a worker that is lost are done by
others. The workers need Pomona and the data under the same paths, and nothing else: results come back as
bytes.
"""

from __future__ import annotations

import queue
import secrets
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
        began = f"pomona-{secrets.token_hex(8)}"  # the topic by which workers tell which run they begin
        events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._client.subscribe_topic(began, lambda event: events.put(event[1]))
        given = (self.time_limit, is_rehearsal, began)
        futures = {task.run.id: self._client.submit(_do, task, *given, pure=False) for task in tasks}
        runs = {task.run.id: task.run for task in tasks}
        for run, future in futures.items():
            future.add_done_callback(lambda future, run=run: events.put((run, future)))
        waiting = set(runs)
        try:
            while futures:
                event = events.get()
                is_end = isinstance(event, tuple)
                run = event[0] if is_end else event
                if run in waiting:  # also of one whose end is known before its beginning
                    waiting.remove(run)
                    yield RunEvent(runs[run])
                if is_end:
                    future = futures.pop(run)
                    yield RunEvent(runs[run], _result(run, future))
                    future.release()
        finally:
            self._client.unsubscribe_topic(began)
            self._client.cancel(list(futures.values()))  # of an interruption


def _result(run: str, future: Any) -> RunResult:
    """What a run left, or why the cluster has nothing of it."""
    if future.status == "finished":
        result: RunResult = future.result()
        return result
    error = future.exception()
    return RunResult(run, "failed", f"the cluster gave up: {error}", type(error).__name__)


def _do(task: Task, time_limit: float | None, is_rehearsal: bool, began: str) -> RunResult:
    """On a worker of the cluster: do the task in a process that this thread keeps."""
    from distributed import get_worker

    get_worker().log_event(began, task.run.id)
    if not hasattr(_thread, "runner"):
        _thread.runner = LocalRunner(1, 1)
    _thread.runner.time_limit = time_limit
    *_, last = _thread.runner.run([task], is_rehearsal=is_rehearsal)
    result: RunResult = last.result
    return result
