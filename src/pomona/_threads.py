"""How many threads there are to be, for those who do not need the compiler, which takes 0.2 s to load."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pomona._control_group import control_groups

_counts: dict[object, int] = {}  # asked for by `threads`, the latest last


def n_threads() -> int:
    """How many threads kernels use: `POMONA_THREADS`, or all cores open to this process and its container."""
    if counts := list(_counts.values()):  # a copy: another thread may change them meanwhile
        return counts[-1]
    asked = os.environ.get("POMONA_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return math.ceil(min(cores, _quota()))


@cache
def _quota() -> float:
    """Of how many cores this process may use the time: more threads than that would only stop each other."""
    least = math.inf
    for folder in control_groups("", Path("/sys/fs/cgroup")):
        with contextlib.suppress(OSError, ValueError):  # "max" when there is no limit
            quota, period = map(int, (folder / "cpu.max").read_text().split())
            least = min(least, quota / period)
    for folder in control_groups("cpu", Path("/sys/fs/cgroup/cpu")):
        with contextlib.suppress(OSError, ValueError):
            quota, period = (int((folder / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
            least = min(least, quota / period if quota > 0 else math.inf)  # -1 when there is no limit
    return max(1.0, least)


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Run the body with `count` threads. Where bodies of several threads overlap, the latest counts."""
    key = object()
    _counts[key] = count
    try:
        yield
    finally:
        del _counts[key]
