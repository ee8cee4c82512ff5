"""Where Pomona keeps what it can make again: compiled kernels and parsed copies of text files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import platformdirs


def cache_directory() -> Path:
    """`POMONA_CACHE`, or the place the operating system gives to caches."""
    return Path(os.environ.get("POMONA_CACHE") or platformdirs.user_cache_dir("pomona", appauthor=False))


def is_private(directory: Path) -> bool:
    """Whether nobody else (but the administrator) could have put a file there.

    Every directory on the way must belong to this user or to root, and others must not be able to write to
    it; in one like /tmp, where only owners can rename and delete, what lies below is still safe.
    """
    if not hasattr(os, "getuid"):
        return True
    real = directory.resolve()
    for place in (real, *real.parents):
        status = place.stat()
        is_open = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        is_sticky = place != real and status.st_mode & stat.S_ISVTX
        if status.st_uid not in (os.getuid(), 0) or (is_open and not is_sticky):
            return False
    return True
