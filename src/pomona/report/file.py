"""Files of a report: made anew in folders of its own, never through a link that leads elsewhere."""

from __future__ import annotations

from pathlib import Path

from pomona.errors import InputError


def own_folder(path: Path) -> Path:
    """A folder of the report, made if it is not there; one that is a link is refused."""
    if path.is_symlink():
        raise InputError("is a link, through which files would be written elsewhere: remove it", path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror or error}", path) from None
    return path


def write_anew(path: Path, content: str | bytes) -> None:
    """Write a file; what stands under its name, a link perhaps, is replaced and not followed."""
    try:
        path.unlink(missing_ok=True)
        with path.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", path) from None
