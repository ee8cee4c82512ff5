"""The `.pomona` model file: what kind of ranker, its parameters and learnt arrays; nothing that can run.

It is a file of arrays (`_arrays.py`): written whole or not at all, every part under a checksum. On top of
that it has its own version, for when models change and the container does not.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona import _registry
from pomona._arrays import read_arrays, write_arrays
from pomona.errors import InputError, UnknownNameError
from pomona.measures.base import Measure
from pomona.measures.parse import measure as parse_measure

_KIND = "model"
_VERSION = 2
_MAGIC = b"POMONA"
_OWN_MEASURE = "class of measure"
_ARRAY_TYPE = re.compile(r"[<>|=][biuf][1248]")
_NO_MATTER = ("learn", "fit", "family", "optimizes", "paper", "search_space", "space_for", "_writes_init")
"""What a subclass may define without predicting otherwise, once it has learnt."""
_REMEDY = "copy or save the model again, or upgrade Pomona if a newer one wrote it"


def write_model(
    path: Path, kind: str, parameters: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a model of a ranker of this `kind`; `parameters` is anything JSON can hold."""
    header = {"version": _VERSION, "ranker": kind, "parameters": dict(parameters)}
    try:
        write_arrays(path, _KIND, header, arrays)
    except InputError:  # which is a ValueError, too
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"the model cannot be written, a parameter is no JSON ({error})", path) from None


def with_prefix(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin so, without it: those of one part of a model."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def is_foreign(path: Path) -> bool:
    """Whether this is a file, and not one that Pomona wrote (or began to)."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except OSError:
        return False
    return bool(start) and not _MAGIC.startswith(start)


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


def parameters_to_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters, or what was learnt, as JSON keeps them: measures as text, tuples and arrays as lists.

    A measure of somebody's own is kept as its class and its parameters: its text could be read as another.
    """
    return {name: _to_json(name, value) for name, value in values.items()}


def exact_parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON keeps them, and `parameters_from_json` gives them back just as they were."""
    return {name: _exactly(name, value) for name, value in values.items()}


def _exactly(name: str, value: Any) -> Any:
    """Tuples are lists of JSON; what else has parts is a table with one name that no other has."""
    if isinstance(value, Measure) and value.is_registered:
        return {"measure": str(value)}
    if isinstance(value, tuple):
        return [_exactly(name, part) for part in value]
    if isinstance(value, list):
        return {"list": [_exactly(name, part) for part in value]}
    if isinstance(value, np.ndarray):
        return {"array": _to_json(name, value), "dtype": value.dtype.str}
    if isinstance(value, dict):
        return {"dict": [[_exactly(name, key), _exactly(name, part)] for key, part in value.items()]}
    return _to_json(name, value)


def parameters_from_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as they were; lists of JSON are tuples."""
    return {name: _from_json(value) for name, value in values.items()}


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_from_json, value))
    if not isinstance(value, dict):
        return value
    if value.keys() == {_OWN_MEASURE, "parameters"}:
        return _own_measure(str(value[_OWN_MEASURE]), parameters_from_json(value["parameters"]))
    if value.keys() == {"measure"}:
        return parse_measure(str(value["measure"]))
    if value.keys() == {"list"}:
        return list(_from_json(value["list"]))
    if value.keys() == {"array", "dtype"}:
        if not _ARRAY_TYPE.fullmatch(str(value["dtype"])):
            raise ValueError(f"an array of type {value['dtype']!r:.40}")
        return np.array(value["array"], value["dtype"])
    if value.keys() == {"dict"}:
        return {_from_json(key): _from_json(part) for key, part in value["dict"]}
    return value  # of an earlier version


def own_class(cls: Any) -> str | None:
    """The place of a subclass of a shipped ranker that has its name and may predict otherwise; else None.

    One that only has other defaults, or learns in another way, is the shipped ranker once it has learnt.
    """
    try:
        shipped = _registry.find("rankers", cls.name, "ranker").load()
    except UnknownNameError:
        return None
    own = itertools.takewhile(lambda base: base is not shipped, cls.__mro__)
    free = {*_NO_MATTER, *getattr(shipped, "__dataclass_fields__", ())}
    changed = {name for base in own for name in vars(base) if not name.startswith(("__", "set_"))}
    return f"{cls.__module__}:{cls.__qualname__}" if changed - free or cls._writes_init else None


def class_at(place: str, base: type) -> type:
    """The subclass of `base` that has this place in this program, the newest if it was defined again."""
    known = [base]
    for cls in known:
        known += cls.__subclasses__()
    found = [cls for cls in known if f"{cls.__module__}:{cls.__qualname__}" == place]
    if not found:
        module, _, name = place.rpartition(":")
        what = "measure" if base is Measure else "ranker"
        raise InputError(
            f"the model's {what} is the class {name} of {module}, which this program does not have: import "
            "or define it first (loading a model runs no code)"
        )
    return found[-1]


def _own_measure(place: str, parameters: dict[str, Any]) -> Measure:
    """A measure of the class that has this place in this program."""
    measure: Measure = class_at(place, Measure)(**parameters)
    return measure


def _to_json(name: str, value: Any) -> Any:
    if isinstance(value, Measure):
        if value.is_registered:
            return str(value)
        given = {one: getattr(value, one) for one in (*value.given, "convention")}
        place = f"{type(value).__module__}:{type(value).__qualname__}"
        return {_OWN_MEASURE: place, "parameters": _to_json(name, given)}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | np.ndarray):
        return [_to_json(name, part) for part in value]
    if isinstance(value, dict):
        return {str(key): _to_json(name, part) for key, part in value.items()}
    raise InputError(f"parameter {name}={value!r} cannot be written to a model file")
