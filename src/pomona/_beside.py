"""Compiling beside: kernels that will be needed soon are compiled by a second process.

Numba compiles one kernel at a time in a process. So whoever knows early which kernels it will need says so by
`compile_beside`, or, by `call_beside`, what calls them, and goes on; when it needs one, that is in the cache,
or in the making. While it waits for that, and while workers of a comparison wait for each other, they compile
what else was asked for.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import logging
import os
import queue
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pomona._jit import announced, compile_if_idle, config, n_threads
from pomona._pool import Worker

COMPILING = "compiling kernels for this machine, once: some 10 seconds …"

_PATIENCE = 10  # seconds after which a process that has nothing to do is ended

_Request = tuple[Callable[..., None], tuple[Any, ...]]
_requests: tuple[int, queue.SimpleQueue[_Request]] | None = None
_lock = threading.Lock()


def _forget() -> None:
    """In a forked child, which has neither the second process nor who was just asking it."""
    global _requests, _lock
    _requests, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def compile_beside(compiled: Callable[..., Any], *argument_types: Any) -> None:
    """Have a kernel compiled for arguments of these types, unless some version of it is in the cache.

    That kernels are being compiled is said once, by the logger `pomona`. A process that may use one core only
    has no other beside it, nor has one where files cannot be locked (Windows).
    """
    if getattr(compiled, "overloads", True) or is_kept(compiled):  # or compiling is switched off
        return
    _announce()
    announced.append((compiled, argument_types))
    call_beside(_compile, compiled.__module__, compiled.__name__, argument_types)


def call_beside(function: Callable[..., None], *arguments: Any) -> None:
    """Have a function, which can be pickled, called by the second process, if there is one, to compile."""
    has_python = sys.executable and not getattr(sys, "frozen", False)
    if n_threads() > 1 and has_python and sys.platform != "win32" and not config.DISABLE_JIT:
        with _lock:
            _inbox().put((function, arguments))


def is_kept(compiled: Any) -> bool:
    """Whether some version of a kernel is in the cache."""
    return any(Path(compiled.stats.cache_path).glob(f"*.{compiled.__name__}-*.nbi"))


@cache
def _announce() -> None:
    logging.getLogger("pomona").warning(COMPILING)


def _inbox() -> queue.SimpleQueue[_Request]:
    """What the second process is to do; a forked child has none yet."""
    global _requests
    if _requests is None or _requests[0] != os.getpid():
        _requests = os.getpid(), queue.SimpleQueue()
        threading.Thread(target=_serve, args=(_requests[1],), daemon=True).start()
    return _requests[1]


def _serve(requests: queue.SimpleQueue[_Request]) -> None:
    """Hand requests to a process until none has come for a while."""
    global _requests
    worker = Worker({"POMONA_THREADS": "1"})
    atexit.register(worker.close)
    with contextlib.suppress(ChildProcessError):  # whoever needs the kernel then sees why it cannot be made
        while True:
            try:
                request = requests.get(timeout=_PATIENCE)
            except queue.Empty:
                with _lock:
                    if requests.empty():
                        _requests = None
                        break
                continue
            worker.call(request[0], *request[1])
    worker.close()
    atexit.unregister(worker.close)


def _compile(module: str, name: str, argument_types: tuple[Any, ...]) -> None:
    compile_if_idle(getattr(importlib.import_module(module), name), argument_types)
