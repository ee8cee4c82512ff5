"""Ending a training at a given time as Ctrl-C would: what was learnt until then is kept."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

from pomona.errors import PomonaError

TOO_LONG = "took longer than"


@contextlib.contextmanager
def until(deadline: float | None) -> Iterator[None]:
    """Interrupt the body at a time of `time.time()`; where that leaves nothing, PomonaError.

    Where there are no such alarms (on Windows, and in threads), the body goes on to its end.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if deadline is None or not is_main or not hasattr(signal, "setitimer"):
        yield
        return
    seconds = max(deadline - time.time(), 1e-3)  # 0 would be no alarm
    rang = False

    def interrupt(*_: Any) -> None:
        nonlocal rang
        rang = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        if rang:
            raise PomonaError(f"{TOO_LONG} {seconds:.2g} s") from None
        raise
    finally:
        signal.signal(signal.SIGALRM, before)
