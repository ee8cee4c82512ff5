"""Large arrays that are made on the way: in memory where there is room, else in a file mapped into it.

The file has no name, so that it is gone when the array is, whatever ends the process. It lies in the cache,
as `/tmp` is memory on many machines.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._cache import cache_part
from pomona._machine import in_units, memory_room
from pomona.errors import InputError

_SMALL = 1 << 24


def fits_memory(n_bytes: int) -> bool:
    """Whether an array of so many bytes leaves as much room again to whoever works on it."""
    return n_bytes <= _SMALL or 2 * n_bytes <= memory_room()


def large_zeros(shape: int | tuple[int, ...], dtype: Any, among: int = 0) -> NDArray[Any]:
    """An array of zeros, wherever there is room for it.

    among : the bytes of several arrays of which this is one: memory counts only once it is written to.
    """
    sizes = shape if isinstance(shape, tuple) else (shape,)
    n_bytes = math.prod(sizes) * np.dtype(dtype).itemsize
    if fits_memory(max(n_bytes, among)):
        return np.zeros(sizes, dtype)
    directory = cache_part("parsed")
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as file:
            if hasattr(os, "posix_fallocate"):  # a full disk says so here, not when written to
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            else:
                file.truncate(n_bytes)
            mapped = mmap.mmap(file.fileno(), n_bytes)
    except OSError as error:
        raise InputError(
            f"{in_units(n_bytes)} fit neither into memory nor into a file in {directory} "
            f"({error.strerror or error}): free some, or set POMONA_CACHE"
        ) from None
    return np.frombuffer(mapped, dtype).reshape(sizes)
