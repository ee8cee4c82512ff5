"""How many threads there are to be, for those who do not need the compiler, which takes 0.2 s to load."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_counts: dict[object, int] = {}  # asked for by `threads`, the latest last


def n_threads() -> int:
    """How many threads kernels use: `POMONA_THREADS`, or every core this process may run on."""
    if counts := list(_counts.values()):  # a copy: another thread may change them meanwhile
        return counts[-1]
    asked = os.environ.get("POMONA_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Run the body with `count` threads. Where bodies of several threads overlap, the latest counts."""
    key = object()
    _counts[key] = count
    try:
        yield
    finally:
        del _counts[key]
