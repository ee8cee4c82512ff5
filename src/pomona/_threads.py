"""How many threads there are to be, for those who do not need the compiler, which takes 0.2 s to load."""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

import numpy as np

from pomona._control_group import control_groups
from pomona.errors import InputError

_MOST = 4096

_counts: dict[object, int] = {}  # asked for by `threads`, the latest last


def n_threads() -> int:
    """How many threads kernels use: `POMONA_THREADS`, or all cores open to this process and its container."""
    if counts := list(_counts.values()):  # a copy: another thread may change them meanwhile
        return counts[-1]
    if asked := os.environ.get("POMONA_THREADS"):  # set to nothing is not set
        if not re.fullmatch("[0-9]{1,9}", asked) or not 1 <= int(asked) <= _MOST:
            raise InputError(f"POMONA_THREADS must be a whole number from 1 to {_MOST}, found {asked!r}")
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


def threads(count: int) -> AbstractContextManager[None]:
    """Run the body with `count` threads. Where bodies of several threads overlap, the latest counts."""
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or not 1 <= count <= _MOST:
        raise InputError(f"the number of threads must be a whole number from 1 to {_MOST}, found {count!r}")
    return _with_threads(int(count))


@contextlib.contextmanager
def _with_threads(count: int) -> Iterator[None]:
    key = object()
    _counts[key] = count
    try:
        yield
    finally:
        del _counts[key]
