"""Where a report is written: only files that we made are ever replaced, and only by a whole report.

A directory with a report has a mark, `.pomona-report.json`, with the names of its files. A report is first
written into a folder beside them, and takes their places when it is complete: whatever goes wrong before (a
full disk, Ctrl-C, kill -9) leaves the old one. Files of the old report that the new one does not have are
removed. What the mark does not name is somebody else's, and so is every link.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from pomona._arrays import refuse_unwritable, whole_file
from pomona.errors import InputError

MARK = ".pomona-report.json"
_FOREIGN = "is not of Pomona's making, and a report would replace it: use another directory"
_EARLIER = "is of a report of an earlier version: move report.html, tables and figures away first"
_STORES = ("store.sqlite", "trials/store.sqlite")
_PARTS = ("report.html", "tables", "figures")
_STAGING = re.compile(r"\.pomona-report-(\d+)-[0-9a-f]{8}")
_FORGOTTEN_SECONDS = 86_400
"""After which a folder of a report that was never finished goes, where processes cannot be asked for."""


def refuse_foreign(directory: str | Path, *, is_shared: bool = False) -> None:
    """Refuse a directory for a report that is not empty, not ours, or not writable; nothing is made.

    is_shared : it is the report of a comparison (or search) for its own directory, in which other files may
        lie: only what the report would replace may not.
    """
    folder = Path(directory)
    refuse_unwritable(folder)
    if not folder.is_dir():
        return
    owned = _owned(folder)
    strangers = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    if owned is None and strangers and not is_shared:
        raise InputError(
            f"holds other files ({_some(strangers)}) and no report of Pomona's: give a new directory",
            folder,
        )
    if not is_shared and any((folder / name).is_file() for name in _STORES):
        raise InputError(
            "holds a comparison, whose report this would replace: give another directory", folder
        )
    for name in _PARTS:
        path = folder / name
        if path.is_symlink():
            raise InputError("is a link, through which files would be written elsewhere: remove it", path)
        is_ours = any(one == name or one.startswith(f"{name}/") for one in owned or ())
        if path.exists() and not is_ours and not (path.is_dir() and not any(path.iterdir())):
            raise InputError(_EARLIER if owned is None and _is_report(folder) else _FOREIGN, path)
    _refuse_taken(folder, owned or (), ())


def _is_report(folder: Path) -> bool:
    """Whether a folder has a report of ours, marked or not."""
    try:
        with (folder / "report.html").open("rb") as file:
            return b'<meta name="generator" content="Pomona">' in file.read(4096)
    except OSError:
        return False


def own_folder(path: Path) -> Path:
    """A directory for a report, made and marked as ours if it is new or empty; any other is refused."""
    refuse_foreign(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror or error}", path) from None
    if _owned(path) is None:
        _mark(path, ())
    return path


@contextlib.contextmanager
def new_report(directory: str | Path, *, is_shared: bool = False) -> Iterator[Path]:
    """A folder to write a report into, with `tables` and `figures`; its files then take their places."""
    target = Path(directory)
    refuse_foreign(target, is_shared=is_shared)
    staging = target / f".pomona-report-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        target.mkdir(parents=True, exist_ok=True)
        _remove_forgotten(target)
        for name in ("tables", "figures"):
            (staging / name).mkdir(parents=True)
        yield staging
        files = [path.relative_to(staging).as_posix() for path in staging.rglob("*") if path.is_file()]
        _put(staging, target, sorted(files))
    except OSError as error:
        reason = f"the report cannot be written ({error.strerror or error}): what was there is as it was"
        raise InputError(reason, target) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def write_anew(path: Path, content: str | bytes) -> None:
    """Write a file; what stands under its name, a link perhaps, is replaced once the whole is written."""
    with whole_file(path, follows_links=False) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def write_new(path: Path, content: str | bytes) -> None:
    """Write a file of a report that is not finished yet."""
    with path.open("xb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


def _put(staging: Path, target: Path, files: list[str]) -> None:
    """Let the files take their places, and remove those of the last report that are not among them."""
    owned = _owned(target) or ()
    _refuse_taken(target, owned, files)
    _mark(target, {*owned, *files})  # what is cut short here goes on with the next report
    for name in files:
        (target / name).parent.mkdir(exist_ok=True)
        (staging / name).replace(target / name)
    for name in set(owned) - set(files):
        with contextlib.suppress(OSError):
            (target / name).unlink(missing_ok=True)
    for name in ("tables", "figures"):
        with contextlib.suppress(OSError):  # one that is not empty stays
            (target / name).rmdir()
    _mark(target, files)


def _refuse_taken(folder: Path, owned: Iterable[str], files: Iterable[str]) -> None:
    """Refuse to replace what we did not write: files of others, and links."""
    for name in {*owned, *files}:
        path = folder / name
        if path.is_symlink():
            raise InputError("is a link, which a report would replace: remove it", path)
        if path.exists() and (name not in owned or not path.is_file()):
            raise InputError(_FOREIGN, path)


def _owned(folder: Path) -> tuple[str, ...] | None:
    """The names of the files of the report in a folder; None where there is none of ours."""
    path = folder / MARK
    try:
        found = None if path.is_symlink() else json.loads(path.read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    if not isinstance(found, list):
        return None
    # Names of our own making only, whoever wrote them into the mark.
    known = re.compile(r"report\.html|(tables|figures)/[^/\\]+\.(csv|md|tex|svg|pdf)")
    return tuple(name for name in found if isinstance(name, str) and known.fullmatch(name))


def _mark(folder: Path, files: Iterable[str]) -> None:
    about = "Files of the last report, which the next one replaces or removes. Others are left alone."
    text = json.dumps({"what": about, "files": sorted(files)}, indent=1)
    with whole_file(folder / MARK, follows_links=False) as file:
        file.write(text.encode())


def _remove_forgotten(folder: Path) -> None:
    """Remove what processes that were killed had written of a report."""
    for path in folder.glob(".pomona-report-*"):
        match = _STAGING.fullmatch(path.name)
        if match and path.is_dir() and not path.is_symlink() and not _is_at_work(int(match[1]), path):
            shutil.rmtree(path, ignore_errors=True)


def _is_at_work(process: int, path: Path) -> bool:
    if os.name == "posix":
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
    return process == os.getpid() or time.time() - path.stat().st_mtime < _FORGOTTEN_SECONDS


def _some(names: list[str]) -> str:
    return ", ".join(sorted(names)[:3]) + (", …" if len(names) > 3 else "")
