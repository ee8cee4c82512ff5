"""Processes that call functions for this one; each can be killed during a call, and none outlives this one.

A worker is a fresh interpreter that makes one call after another, so that modules, kernels and data are
loaded once. A thread of this process waits for each.

Libraries were considered and do not do. In `concurrent.futures.ProcessPoolExecutor` and loky, a worker that
dies breaks the whole pool (`BrokenProcessPool`, `TerminatedWorkerError`), and no call can be ended. Pebble
can end a call; but it, too, stands on `multiprocessing`, whose spawned processes import the main file of the
program again (so that a script needs a guard), and go on with their call when their starter is killed.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
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

_THREAD_COUNTS = (
    "POMONA_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "POLARS_MAX_THREADS",
)


def thread_counts(threads: int) -> dict[str, str]:
    """The variables that give every library of a process so many threads."""
    return dict.fromkeys(_THREAD_COUNTS, str(threads))


class Worker:
    """A process that makes calls, started by the first of them, and by the next after it died.

    `environment` has the variables that the process is given besides those of this one.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.environment = environment
        self._is_closed = False
        self._lock, self._calling = threading.Lock(), threading.Lock()

    def call(self, function: Callable[..., Any], *arguments: Any, time_limit: float | None = None) -> Any:
        """What a function that can be pickled returns in the process.

        Past the time limit, in seconds, the process is killed: TimeoutError. If it dies by itself, or the
        function raises an exception: ChildProcessError, which says how.
        """
        # Pickled twice: the thread that reads it there must not import what the call needs.
        message = pickle.dumps(pickle.dumps((function, arguments)))
        with self._calling:
            return self._called(message, time_limit)

    def _called(self, message: bytes, time_limit: float | None) -> Any:
        process, is_late = self._start(), threading.Event()

        def end_call() -> None:
            is_late.set()
            _kill_group(process.pid)

        timer = threading.Timer(min(time_limit or 0, threading.TIMEOUT_MAX), end_call)
        if time_limit is not None:
            timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(message)
            process.stdin.flush()
            return pickle.load(process.stdout)
        except Exception:  # its end, or what a dying process left in the pipe
            how = self._end(patience=5)
            raise TimeoutError if is_late.is_set() else ChildProcessError(how) from None
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
                raise ChildProcessError("its pool was closed")
            if self.process is None:
                self._errors = tempfile.TemporaryFile()  # noqa: SIM115
                self.process = subprocess.Popen(
                    [sys.executable, "-c", program],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    env={**os.environ, **self.environment},
                    start_new_session=True,  # Ctrl-C is for this process alone
                )
            return self.process

    def _end(self, patience: float = 0) -> str:
        """Leave nothing of the process behind; how it ended, if by itself within so many seconds."""
        with self._lock:
            process, self.process = self.process, None
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


_early: list[Worker] = []


def start_early(n_workers: int, environment: Mapping[str, str], module: str) -> None:
    """Start workers of the next pool of this environment, and let them load a module meanwhile."""

    def load(worker: Worker) -> None:
        with contextlib.suppress(ChildProcessError):  # the pool will see
            worker.call(_load, module)

    for _ in range(n_workers):
        worker = Worker(environment)
        _early.append(worker)
        atexit.register(worker.close)
        threading.Thread(target=load, args=(worker,), daemon=True).start()


def _load(module: str) -> None:
    importlib.import_module(module)


def _worker(environment: Mapping[str, str]) -> Worker:
    """A worker of this environment, the sooner started the better."""
    for worker in _early:
        if worker.environment == environment:
            _early.remove(worker)
            return worker
    return Worker(environment)


class Pool:
    """Several workers, and a thread for each; a context that ends them all.

    `initializer` is called in every process at once, so that it is ready when there is something to do.
    """

    def __init__(
        self, n_workers: int, environment: Mapping[str, str], initializer: Callable[[], Any]
    ) -> None:
        self.workers = [_worker(environment) for _ in range(n_workers)]
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(n_workers)
        for worker in self.workers:
            self._idle.put(worker)
            self.submit(Worker.call, initializer)

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
    gc.set_threshold(100_000, 20, 100)  # most objects are those of modules, which live on
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
    while True:
        function, arguments = pickle.loads(inbox.get())
        pickle.dump(function(*arguments), answers)
        answers.flush()


def _kill_group(pid: int) -> None:
    """Kill a worker, which leads a group of its own, and all processes that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it is dead already
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)
