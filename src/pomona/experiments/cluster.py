"""Runs on a Dask cluster: the only file that imports Dask (extra `dask`).

Every thread of the cluster's workers does one run at a time, in a process of its own as on a single machine,
so that time limits and crashes cost a run and not a worker. The runs of a worker that is lost are done by
others. The workers need Pomona and the data under the same paths, and nothing else: outcomes come back as
bytes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Self

from pomona.errors import InputError, MissingExtraError
from pomona.experiments.run import Outcome, Task
from pomona.experiments.runner import Event, Pool

PATIENCE_SECONDS = 10
"""How long a scheduler may take to answer."""

_own = threading.local()


class Cluster:
    """A connection to a scheduler; does tasks as `Pool` does."""

    def __init__(self, address: str, time_limit: float | None = None) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise MissingExtraError("distributed", "dask") from None
        try:
            self._client = Client(address, timeout=PATIENCE_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"no Dask scheduler answers at {address}: {error}") from None
        self.time_limit = time_limit

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def run(self, tasks: Iterable[Task]) -> Iterator[Event]:
        """Do the tasks, in any order; ends when all have ended."""
        from distributed import as_completed

        runs, futures = {}, []
        for task in tasks:
            future = self._client.submit(_do, task, self.time_limit, pure=False)
            runs[future.key] = task.run
            futures.append(future)
            yield Event(task.run)
        for future in as_completed(futures, loop=self._client.loop):
            run = runs[future.key]
            if future.status == "finished":
                yield Event(run, future.result())
            else:
                error = future.exception()
                yield Event(
                    run, Outcome(run.id, "failed", f"the cluster gave up: {error}", type(error).__name__)
                )
            future.release()


def _do(task: Task, time_limit: float | None) -> Outcome:
    """On a worker of the cluster: do the task in a process that this thread keeps."""
    if not hasattr(_own, "pool"):
        _own.pool = Pool(1, 1, time_limit)
    _own.pool.time_limit = time_limit
    *_, last = _own.pool.run([task])
    assert last.outcome is not None
    outcome: Outcome = last.outcome
    return outcome
