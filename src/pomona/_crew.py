"""Threads that wait for work of a few milliseconds: whoever calls begins by itself, the others join in.

The executors of the standard library keep a future for every thread that is asked, with a lock and a
condition each, in Python: with 16 threads that took 0.4 ms a call, of which training a forest makes hundreds.
Here a call is one object that all threads share.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any


class Call:
    """Work that several threads do together, each from beginning to end, until it is closed."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work: Callable[[], Any] | None = work
        self._lock, self._over = Lock(), Lock()
        self._n_inside = 0
        self._over.acquire()
        self.error: BaseException | None = None
        """What a thread that joined in has raised."""

    def join_in(self) -> None:
        """Do the work too, unless it is closed."""
        with self._lock:
            work = self._work
            if work is None:
                return
            self._n_inside += 1
        try:
            work()
        except BaseException as error:
            self.error = error if self.error is None else self.error
        with self._lock:
            self._n_inside -= 1
            if self._work is None and self._n_inside == 0:
                self._over.release()

    def close(self) -> None:
        """Let nobody join in any more, and wait for those who have."""
        with self._lock:
            self._work, is_over = None, self._n_inside == 0
        if not is_over:
            self._over.acquire()


class Crew:
    """So many threads; they end with the process, or by `end`."""

    def __init__(self, count: int) -> None:
        self.count, self._calls = 0, SimpleQueue[Call | None]()
        self.enlarge(count)

    def enlarge(self, count: int) -> None:
        """Have so many threads, if there are fewer."""
        while self.count < count:
            Thread(target=self._serve, name=f"pomona_{self.count}", daemon=True).start()
            self.count += 1

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None:
            call.join_in()
            del call  # what it works on may be large

    def ask(self, call: Call, times: int) -> None:
        """Have so many threads join in, as soon as they have time."""
        for _ in range(times):
            self._calls.put(call)

    def end(self) -> None:
        """Send the threads home after what they have to do."""
        for _ in range(self.count):
            self._calls.put(None)
