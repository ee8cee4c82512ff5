"""Processes that call functions for this one; each can be killed during a call, and none outlives this one.

A worker is a fresh interpreter that makes one call after another, so that modules, kernels and data are
loaded once. A thread of this process waits for each.

Libraries were considered and do not do. In `concurrent.futures.ProcessPoolExecutor` and loky, a worker that
dies breaks the whole pool (`BrokenProcessPool`, `TerminatedWorkerError`), and no call can be ended. Pebble
can end a call; but it, too, stands on `multiprocessing`, whose spawned processes import the main file of the
program again (so that a script needs a guard), and go on with their call when their starter is killed.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self


class WorkerDiedError(Exception):
    """The process ended during a call; the text says how. An exception in the function ends it, too."""


class CallTimeoutError(Exception):
    """A call took longer than it was allowed to, and its process was killed."""


class Worker:
    """A process that makes calls: started at once, and again when there is a call after it died.

    Parameters
    ----------
    initializer : called first in the process, while this one goes on.
    environment : variables that the process has besides those of this one.
    """

    def __init__(self, initializer: Callable[[], object], environment: Mapping[str, str]) -> None:
        self._first_message, self._environment = _message(initializer), {**os.environ, **environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_closed = False
        self._start()

    @property
    def pid(self) -> int | None:
        """The number of the process; None where there is none now."""
        return None if self._process is None else self._process.pid

    def call(self, function: Callable[..., Any], *arguments: Any, time_limit: float | None = None) -> Any:
        """What the function, which must be found under its name in a module, returns in the process."""
        message = _message(function, *arguments)
        process = self._start()
        is_late = threading.Event()

        def end_call() -> None:
            is_late.set()
            _kill_group(process.pid)

        timer = threading.Timer(min(time_limit or 0, threading.TIMEOUT_MAX), end_call)
        if time_limit is not None:
            timer.start()
        try:
            _send(process, message)
            assert process.stdout is not None
            return pickle.load(process.stdout)
        except Exception:  # its end, or what a dying process left in the pipe
            how = self._end(patience=5)
            raise CallTimeoutError if is_late.is_set() else WorkerDiedError(how) from None
        finally:
            timer.cancel()

    def close(self) -> None:
        """Kill the process for good."""
        self._is_closed = True
        self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        program = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        with self._lock:
            if self._is_closed:
                raise WorkerDiedError("its pool was closed")
            if self._process is None:
                self._errors = tempfile.TemporaryFile()  # noqa: SIM115
                self._process = subprocess.Popen(
                    [sys.executable, "-c", program],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    env=self._environment,
                    start_new_session=True,  # Ctrl-C is for this process alone
                )
                with contextlib.suppress(OSError):  # it has died: the first call tells
                    _send(self._process, self._first_message)
            return self._process

    def _end(self, patience: float = 0) -> str:
        """Leave nothing of the process behind; how it ended, if by itself within so many seconds."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return "its pool was closed"
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience)
            _kill_group(process.pid)  # what it started itself may live on
            code = process.wait()
            self._errors.seek(0)
            last_line = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
            for file in (process.stdin, process.stdout, self._errors):
                with contextlib.suppress(OSError):  # a call that nobody will read may be left in the pipe
                    assert file is not None
                    file.close()
        if code == -signal.SIGKILL:
            return "its process was killed, most likely because memory ran out"
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
        return f"its process ended {how}{f': {last_line}' if last_line else ''}"


class Pool:
    """Several workers, and a thread for each; a context that ends them all."""

    def __init__(
        self, n_workers: int, initializer: Callable[[], object], environment: Mapping[str, str]
    ) -> None:
        self.workers = [Worker(initializer, environment) for _ in range(n_workers)]
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self.workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(n_workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.close()
        self._threads.shutdown(cancel_futures=True)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have `function(worker, *arguments)` done in a thread, once a worker is idle."""

        def with_worker() -> Any:
            worker = self._idle.get()
            try:
                return function(worker, *arguments)
            finally:
                self._idle.put(worker)

        return self._threads.submit(with_worker)


def serve() -> None:
    """Be a worker: make the calls that come on standard input, until it ends."""
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what a function prints must not stand between the answers
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        try:
            while True:
                inbox.put(pickle.load(calls))
        finally:  # whoever started this process is gone, perhaps in the middle of a call
            _kill_group(os.getpid())

    threading.Thread(target=read, daemon=True).start()
    initializer, _ = pickle.loads(inbox.get())
    initializer()
    while True:
        function, arguments = pickle.loads(inbox.get())
        pickle.dump(function(*arguments), answers)
        answers.flush()


def _message(function: Callable[..., Any], *arguments: Any) -> bytes:
    """A call as it is sent: pickled twice, so that the thread that reads it imports nothing for it."""
    return pickle.dumps(pickle.dumps((function, arguments)))


def _send(process: subprocess.Popen[bytes], message: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(message)
    process.stdin.flush()


def _kill_group(pid: int) -> None:
    """Kill a worker, which leads a group of its own, and all processes that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it is dead already
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)
