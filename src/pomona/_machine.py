"""The machine and this process' memory, as psutil, and on Linux the kernel itself, know them."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import platform
import re
import threading
from pathlib import Path
from typing import Self

import psutil

from pomona._control_group import control_groups
from pomona.errors import InputError

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

_SAMPLING_SECONDS = 0.005
_SHARE = 0.8  # of the memory available: the rest is for others, and for what estimates leave out
_CONTROL_GROUPS = (
    ("", "/sys/fs/cgroup", "memory.max", "memory.current"),
    ("memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)
"""Versions 2 and 1: the controller's name, where groups are mounted, the files of limit and use."""


def available_memory() -> int:
    """How many bytes can be used before the machine, the container or the shell's limit is reached."""
    room = int(psutil.virtual_memory().available)
    for controller, mount, limit, used in _CONTROL_GROUPS:
        for folder in control_groups(controller, Path(mount)):
            with contextlib.suppress(OSError, ValueError):  # "max" when there is no limit
                free = int((folder / limit).read_text()) - int((folder / used).read_text())
                cached = re.findall(r"^(?:in)?active_file (\d+)", (folder / "memory.stat").read_text(), re.M)
                room = min(room, free + sum(map(int, cached)))  # files in memory give way
    if resource is not None:
        limit_of_addresses = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit_of_addresses != resource.RLIM_INFINITY:
            room = min(room, limit_of_addresses - int(psutil.Process().memory_info().vms))
    return max(room, 0)


def memory_room() -> int:
    """How many more bytes the readers may take: the one budget that all of them keep.

    `POMONA_MEMORY` (`2GiB`, `500MB`, or a number of bytes) is the most that this process may hold, files that
    are mapped not counted. Without it the readers leave a fifth of what is available to others.
    """
    stated = os.environ.get("POMONA_MEMORY", "").strip()
    room = int(available_memory() * _SHARE)
    if stated:
        memory = psutil.Process().memory_info()
        held = int(memory.rss) - int(getattr(memory, "shared", 0))
        room = min(room, _bytes_of(stated) - held)
    return max(room, 0)


def require_memory(
    n_bytes: int, file: object = None, what: str = "reading it", room: int | None = None
) -> None:
    """Refuse, before it is allocated, what the budget (or the `room` that was left of it) does not allow."""
    room = memory_room() if room is None else room
    if n_bytes > room:
        raise InputError(
            f"{what} takes about {in_units(n_bytes)} of memory, and {in_units(room)} may be used: "
            "free some, or set POMONA_MEMORY",
            file,
        )


def in_units(n_bytes: int) -> str:
    """A number of bytes for people.

    >>> in_units(5 << 20), in_units(3 << 29)
    ('5 MiB', '1.5 GiB')
    """
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 1 << 30 else f"{-(-n_bytes // 2**20)} MiB"


def _bytes_of(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?)b?|b)?", text, re.IGNORECASE)
    if match is None:
        raise InputError(f"POMONA_MEMORY is {text!r}, expected a size such as 2GiB or 500MB")
    base = 1024 if match[3] else 1000
    return int(float(match[1]) * (base ** (" kmgt".index(match[2].lower())) if match[2] else 1))


def machine() -> str:
    """The machine in words: system, processor, number of cores."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        if line := re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text()):
            model = line[1]
    return f"{platform.system()}, {model}, {os.cpu_count()} cores"


class PeakMemory:
    """A context that measures the most memory, in bytes, that this process holds within it.

    Linux keeps the peak itself and can start it anew. Elsewhere the memory is looked at every few
    milliseconds, which may miss a short peak.

    Attributes
    ----------
    process : the peak of the whole process: interpreter, libraries, data and all.
    added : what it held at its peak beyond what it held at the beginning.
    """

    process = added = 0

    def __enter__(self) -> Self:
        gc.collect()
        with contextlib.suppress(AttributeError, OSError):  # freed memory goes back, if glibc allocates
            ctypes.CDLL(None).malloc_trim(0)
        self._is_over = threading.Event()
        self._sampler: threading.Thread | None = None
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._start = self.process = _held()
        if self._sampler is not None:
            self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._sampler is None:
            status = Path("/proc/self/status").read_text()
            self.process = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024
        else:
            self._is_over.set()
            self._sampler.join()
        self.added = self.process - self._start

    def _sample(self) -> None:
        is_over = False
        while not is_over:
            is_over = self._is_over.wait(_SAMPLING_SECONDS)
            self.process = max(self.process, _held())


def _held() -> int:
    return int(psutil.Process().memory_info().rss)
