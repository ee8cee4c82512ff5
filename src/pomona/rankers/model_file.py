"""The `.pomona` model file: what kind of ranker, its parameters and learnt arrays; nothing that can run.

It is a file of arrays (`_arrays.py`): written whole or not at all, every part under a checksum. On top of
that it has its own version, for when models change and the container does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pomona._arrays import read_arrays, write_arrays
from pomona.errors import InputError

_KIND = "model"
_VERSION = 2
_REMEDY = "copy or save the model again, or upgrade Pomona if a newer one wrote it"


def write_model(
    path: Path, kind: str, parameters: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a model of a ranker of this `kind`; `parameters` is anything JSON can hold."""
    header = {"version": _VERSION, "ranker": kind, "parameters": dict(parameters)}
    try:
        write_arrays(path, _KIND, header, arrays)
    except TypeError as error:
        raise InputError(f"the model cannot be written, a parameter is no JSON ({error})", path) from None


def read_model(path: Path) -> tuple[str, dict[str, Any], dict[str, NDArray[Any]]]:
    """The kind of ranker, its parameters and its arrays."""
    if not path.is_file():
        raise InputError("there is no such model file: check the path", path)
    try:
        header, arrays = read_arrays(path, _KIND)
    except InputError as error:
        raise InputError(f"{str(error).removeprefix(f'{path}: ')}: {_REMEDY}", path) from None
    version = header.get("version")
    if version != _VERSION:
        raise InputError(f"version {version!r} of the model, this Pomona reads {_VERSION}: {_REMEDY}", path)
    kind, parameters = header.get("ranker"), header.get("parameters")
    if not isinstance(kind, str) or not isinstance(parameters, dict):
        raise InputError(f"names no ranker: {_REMEDY}", path)
    return kind, parameters, arrays
