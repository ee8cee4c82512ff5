"""Where Pomona keeps what it can make again: compiled kernels, parsed copies of text files, a script.

The cache directory can be anybody's, as `POMONA_CACHE` may name a folder of other work. So each part of the
cache is a folder that only Pomona makes, and a file in it is removed only if its place, its name and its
first bytes are Pomona's. Symbolic links are neither followed nor removed.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import platformdirs

SCRIPT_MARK = b"/* kept by Pomona */\n"
"""The first bytes of the script of reports."""
_HEX = "[0-9a-f]"
_OWN_FILES: dict[str, dict[str, bytes]] = {
    "parsed": {
        rf"{_HEX}{{32}}\.(?:pomona|mapped|{_HEX}{{8}}\.came)": b"POMONA\x00",
        rf"\.{_HEX}{{32}}\.[\w.]+\.{_HEX}{{16}}\.part": b"POMONA\x00",
    },
    "kernels": {
        rf"\w+-{_HEX}{{16}}/\w+_{_HEX}{{40}}/[^/]+\.nb[ic](?:\.tmp\.[^/]+)?": b"\x80",  # numba's pickles
        rf"\w+-{_HEX}{{16}}/[^/]+\.lock": b"",
    },
    "vega": {r"vega-[\w.+-]+\.js": SCRIPT_MARK},
}
"""Of each part, the places of its files (a pattern) and their first bytes; without any, the file is empty."""


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


def cache_part(name: str) -> Path:
    """The folder of a part of the cache: `kernels`, `parsed` or `vega`."""
    return cache_directory() / f"pomona-{name}"


def own_files(name: str, *, days: float = 0, inside: str = "") -> Iterator[Path]:
    """The files of a part of the cache that Pomona made.

    days : only those that nobody read for so long.
    inside : only those in this folder of the part.
    """
    part = cache_part(name)
    if part.is_symlink() or (part / inside).is_symlink():
        return
    before = time.time() - days * 86400 if days else math.inf
    for folder, _, names in os.walk(part / inside):  # which follows no links
        for file_name in names:
            file = Path(folder, file_name)
            if _is_own(file, file.relative_to(part).as_posix(), _OWN_FILES[name], before):
                yield file


def _is_own(file: Path, place: str, kinds: dict[str, bytes], before: float) -> bool:
    starts = [start for pattern, start in kinds.items() if re.fullmatch(pattern, place)]
    try:
        status = file.lstat()
        # Asked first, as to look into the file is to read it.
        if not starts or not stat.S_ISREG(status.st_mode) or status.st_atime >= before:
            return False
        with file.open("rb") as stream:
            return any(stream.read(max(len(start), 1)) == start for start in starts)
    except OSError:
        return False


def forget(name: str, *, days: float = 0, inside: str = "") -> None:
    """Remove what `own_files` gives, and the folders of the part that are then empty."""
    for file in list(own_files(name, days=days, inside=inside)):
        with contextlib.suppress(OSError):
            file.unlink()
            for folder in list(file.relative_to(cache_part(name)).parents)[:-1]:
                (cache_part(name) / folder).rmdir()  # fails, and ends the loop, where it is not empty
