"""Measure strings: `[convention:]name[(parameter=value,…)][@k]`, e.g. `letor4:ndcg@10`, `rbp(p=0.8)`."""

from __future__ import annotations

import dataclasses
import re
import typing
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal

from pomona import _registry
from pomona.errors import InputError, UnknownNameError
from pomona.measures.base import Measure

_PATTERN = re.compile(
    r"\s*(?:(?P<prefix>[^:()@]+):)?\s*(?P<name>[A-Za-z]\w*)\s*"
    r"(?:\((?P<arguments>[^()]*)\))?\s*(?:@\s*(?P<k>\d{1,16}))?\s*"
)
_TREC_NAME = re.compile(r"(?P<name>ndcg_cut|map_cut|p|recall|success)[._](?P<k>\d{1,16})", re.IGNORECASE)


def measure(text: str | Measure, convention: str | None = None) -> Measure:
    """Make a measure from its string; a convention in the string wins over the argument.

    Names are case-insensitive, and the names that ir_measures and trec_eval use are understood. A user's
    own measure in a file is `path/to/file.py:ClassName@k`.

    >>> measure("letor4:NDCG@10").k, str(measure("rbp(p=0.95)@20")), str(measure("P_10"))
    (10, 'rbp(p=0.95)@20', 'p@10')
    """
    if isinstance(text, Measure):
        is_open = convention is not None and text.convention == "definition"
        return text.under(convention) if is_open and convention else text
    written = text.strip().strip("\"'")
    written = trec_name(written) or written
    match = _PATTERN.fullmatch(written)
    if match is None:
        raise InputError(f"found measure {text!r}, expected [convention:]name[(parameter=value,…)][@k]")
    prefix = match["prefix"]
    if prefix is not None and prefix.endswith(".py"):
        cls = _registry.class_in_file(Path(prefix), match["name"], Measure, "measure")
    else:
        cls = _registry.find("measures", match["name"], "measure").load()
        convention = prefix or convention
    given = _arguments(cls, match["arguments"] or "", text)
    if match["k"]:
        if "k" in given:
            raise InputError(f"found two cut-offs in measure {text!r}: leave one out")
        given["k"] = int(match["k"])
    made: Measure = cls(**given, convention=convention or "definition")
    return made


def trec_name(text: str) -> str | None:
    """The string of a measure with a cut-off that is written as trec_eval does, e.g. `P_10`; else None.

    >>> trec_name("ndcg_cut.5")
    'ndcg_cut@5'
    """
    match = _TREC_NAME.fullmatch(text)
    return f"{match['name']}@{match['k']}" if match else None


def _arguments(cls: type[Measure], written: str, whole: str) -> dict[str, Any]:
    if not written:
        return {}
    from pomona._parameters import checked  # which most measures do without

    fields = [field.name for field in dataclasses.fields(cls) if field.name not in ("convention", "given")]
    kinds: dict[str, Any] = _kinds_of(cls)  # type: ignore[arg-type]
    given: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in written.split(","))):
        name, equals, value = (piece.strip().strip("\"'") for piece in part.partition("="))
        if not equals:
            raise InputError(f"found {part!r} in measure {whole!r}, expected parameter=value")
        ours, translated = cls.spellings.get(name, (name, {}))
        if ours not in fields:
            raise UnknownNameError(f"parameter of {cls.__name__}", name, fields)
        if ours in given:
            raise InputError(f"{name} of measure {whole!r} is given twice: leave one out")
        read = translated.get(value, _value(value, kinds[ours]))
        try:
            given[ours] = checked(read, kinds[ours])
        except InputError as error:
            raise InputError(f"{name} of measure {whole!r}: {error}") from None
    return given


@cache
def _kinds_of(cls: Any) -> dict[str, Any]:
    from pomona._parameters import parameter_kinds

    return parameter_kinds(cls)


def _value(text: str, kind: Any) -> Any:
    """A value: `1/2/3` is a tuple, `1/` one of one part; numbers, true, false, none are what they say."""
    choices = typing.get_args(kind) or (kind,)
    if str in choices:
        return None if text.lower() == "none" and NoneType in choices else text
    if "/" in text:
        return tuple(_number(part) for part in text.removesuffix("/").split("/"))
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered == "none":
        return None
    try:
        value = _number(text)
    except InputError:
        return lowered
    if any(typing.get_origin(one) is tuple for one in (kind, *choices)) and float not in choices:
        return (value,) if not any(typing.get_origin(one) is Literal for one in choices) else value
    return int(value) if int in choices and value.is_integer() else value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"found {text!r} in a measure's parameters, expected a number") from None
