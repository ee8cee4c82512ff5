"""Where Pomona keeps what it can make again: compiled kernels and parsed copies of text files."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_directory() -> Path:
    """`POMONA_CACHE`, or the place the operating system gives to caches."""
    if asked := os.environ.get("POMONA_CACHE"):
        return Path(asked)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "pomona"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "pomona" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pomona"
