"""Where Pomona keeps what it can make again: compiled kernels and parsed copies of text files."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_directory() -> Path:
    """`POMONA_CACHE`, or the place the operating system gives to caches."""
    return Path(os.environ.get("POMONA_CACHE") or platformdirs.user_cache_dir("pomona", appauthor=False))
