"""Where compiled kernels are kept between processes, and which sources each of them depends on."""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

from pomona._cache import cache_part, forget, is_private


@cache
def kernel_directory(file: Path) -> str:
    """Where compiled kernels of a file are kept: named by a digest, so that none can ever be stale.

    Numba invalidates a cached kernel when its own file changes, but not when a kernel that it calls, in
    another file, does. So the digest is of the file and of all files with kernels that it imports, directly
    or through one another; others can change without a kernel being compiled again.
    """
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(_files_behind(file)):
        digest.update(path.name.encode() + b"\0" + _source(path))
    directory = _kernel_home() / f"{file.stem}-{digest.hexdigest()}"
    directory.mkdir(exist_ok=True)
    os.utime(directory)
    return str(directory)


@cache
def _kernel_home() -> Path:
    """The directory of all kernels; where it cannot be used, one that lasts as long as this process.

    Loading a compiled kernel runs what its file says, so a directory that others can write to is not used.
    """
    home = cache_part("kernels")
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_private(home):
            _forget_old(home)
            with tempfile.TemporaryFile(dir=home):  # a full or read-only disk says so here
                return home
        reason = "others can write to it"
    except OSError as error:
        reason = error.strerror or str(error)
    warnings.warn(f"{home} cannot be used ({reason}): every process compiles its own kernels", stacklevel=2)
    temporary = tempfile.mkdtemp(prefix="pomona-kernels-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return Path(temporary)


def _files_behind(file: Path) -> set[Path]:
    """A file with kernels, and those whose kernels (or constants) its own can use."""
    package = Path(__file__).parent
    found, waiting = {package / name for name in ("_compiler.py", "_jit.py", "_quickly.py")} | {file}, [file]
    while waiting:
        for module in _IMPORT.findall(_source(waiting.pop())):
            path = package.joinpath(*module.decode().split(".")).with_suffix(".py")
            if path not in found and path.is_file() and _KERNEL.search(_source(path)):
                found.add(path)
                waiting.append(path)
    return found


_IMPORT = re.compile(rb"^from pomona\.([\w.]+) import", re.MULTILINE)
_KERNEL = re.compile(rb"^ *@(kernel|intrinsic)\b", re.MULTILINE)


@cache
def _source(path: Path) -> bytes:
    return path.read_bytes()


def is_first_run(kernels: str) -> bool:
    """Whether kernels of a file (its path below the package) have yet to be compiled on this machine."""
    return not any(Path(kernel_directory(Path(__file__).parent / kernels)).rglob("*.nbi"))


def _forget_old(home: Path, days: float = 30) -> None:
    """Remove the kernels of sources that were last used long ago."""
    for old in home.iterdir():
        if time.time() - old.stat().st_mtime > days * 86400:
            forget("kernels", inside=old.name)
