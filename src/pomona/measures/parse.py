"""Measure strings: `[convention:]name[(parameter=value,…)][@k]`, e.g. `letor4:ndcg@10`, `rbp(p=0.8)`."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

from pomona import _registry
from pomona.errors import InputError, UnknownNameError
from pomona.measures.base import Measure, cut_off
from pomona.measures.conventions import convention_named

_PATTERN = re.compile(
    r"\s*(?:(?P<prefix>[^:()@]+):)?\s*(?P<name>[A-Za-z]\w*)\s*"
    r"(?:\((?P<arguments>[^()]*)\))?\s*(?:@\s*(?P<k>\d+))?\s*"
)
_TREC_NAME = re.compile(r"(?P<name>ndcg_cut|map_cut|p|recall|success)[._](?P<k>\d+)", re.IGNORECASE)


def measure(text: str | Measure, convention: str | None = None) -> Measure:
    """Make a measure from its string; a convention in the string wins over the argument.

    Names are case-insensitive, and the names that ir_measures and trec_eval use are understood. A user's
    own measure in a file is `path/to/file.py:ClassName@k`.

    >>> measure("letor4:NDCG@10").k, str(measure("rbp(p=0.95)@20")), str(measure("P_10"))
    (10, 'rbp(p=0.95)@20', 'p@10')
    """
    if isinstance(text, Measure):
        return text if convention is None else text.under(convention)
    written = text.strip().strip("\"'")
    if trec := _TREC_NAME.fullmatch(written):
        written = f"{trec['name']}@{trec['k']}"
    match = _PATTERN.fullmatch(written)
    if match is None:
        raise InputError(f"found measure {text!r}, expected [convention:]name[(parameter=value,…)][@k]")
    prefix = match["prefix"]
    if prefix is not None and prefix.endswith(".py"):
        cls = _registry.class_in_file(Path(prefix), match["name"], Measure, "measure")
    else:
        cls = _registry.find("measures", match["name"], "measure").load()
        convention = prefix or convention
    name = "definition" if convention is None else convention_named(convention).name
    rules = cls.conventions.get(name, {})
    given = _arguments(cls, match["arguments"] or "", text)
    given["k"] = cut_off(rules, int(match["k"]) if match["k"] else given.get("k"))
    made: Measure = cls(**{**rules, **given, "convention": name})
    return made


def _arguments(cls: type[Measure], written: str, whole: str) -> dict[str, Any]:
    if not written:
        return {}
    from pomona._parameters import checked, parameter_kinds  # which most measures do without

    fields = {field.name: field for field in dataclasses.fields(cls) if field.name != "convention"}
    kinds = parameter_kinds(cls)
    given: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in written.split(","))):
        name, equals, value = (piece.strip().strip("\"'") for piece in part.partition("="))
        if not equals:
            raise InputError(f"found {part!r} in measure {whole!r}, expected parameter=value")
        ours, translated = cls.spellings.get(name, (name, {}))
        if ours not in fields:
            raise UnknownNameError(f"parameter of {cls.__name__}", name, fields)
        read = translated.get(value, _value(value, str(fields[ours].type)))
        try:
            given[ours] = checked(read, kinds[ours])
        except InputError as error:
            raise InputError(f"{name} of measure {whole!r}: {error}") from None
    return given


def _value(text: str, declared: str) -> Any:
    """Read a value: `1/2/3` is a tuple; a number, true, false and none are what they say."""
    if "/" in text:
        return tuple(_number(part) for part in text.split("/"))
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered == "none":
        return None
    try:
        value = _number(text)
    except InputError:
        return lowered
    if declared.startswith("tuple"):
        return (value,)
    return int(value) if declared.startswith("int") and value.is_integer() else value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"found {text!r} in a measure's parameters, expected a number") from None
