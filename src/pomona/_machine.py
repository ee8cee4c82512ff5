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

_SAMPLING_SECONDS = 0.005


def available_memory() -> int:
    """How many bytes can be used before the machine, or the container, runs out of memory."""
    room = int(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError):  # "max" when there is no limit
        room = min(room, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return room


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
