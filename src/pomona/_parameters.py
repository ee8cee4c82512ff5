"""Parameters as they are written: one syntax for the command line, for specs and for labels.

A value is written as TOML writes it (`0.1`, `true`, `[64, 32]`, `"text"`). A text may stand without quotes,
and `none` is nothing, for which TOML has no word. What a value must be is told by the annotation of the
parameter in the class that takes it.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pomona._other_names import unknown_parameter
from pomona.errors import InputError, UnknownNameError

_KINDS: dict[Any, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a table",
    list: "a list, as in [1, 2]",
    NoneType: "none",
}


_MOST_SHOWN = 200
"""Signs of a wrong value that a message shows."""


class ValueRefusedError(InputError):
    """A refused value: `key` names it, and `part` is the record it stands in, if that is in another."""

    def __init__(self, key: str, reason: object, part: object = None) -> None:
        super().__init__(f"{key}: {reason}")
        self.key, self.reason, self.part = key, str(reason), part


def split_outside(text: str) -> list[str]:
    """Split at the commas that stand outside brackets, parentheses and quotes.

    >>> split_outside("mart, lambdarank(measure=rbp(p=0.8), hidden=[64, 32])")
    ['mart', 'lambdarank(measure=rbp(p=0.8), hidden=[64, 32])']
    """
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote or character in "\"'":
            quote = "" if character == quote else quote or character
        else:
            depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def assignments(text: str, whole: str) -> Iterator[tuple[str, str]]:
    """The names and values of `name=value, …`, which is part of the `whole` that was written."""
    for part in split_outside(text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise InputError(f"found {part!r} in {whole!r}, expected name=value")
        yield name, value


def read_value(text: str, kind: Any = Any) -> Any:
    """What a text means where a value of this kind is expected: TOML if it is that, else the text itself.

    >>> read_value("[64, 32]"), read_value("1e-3"), read_value("ndcg@10"), read_value("7", str | None)
    ([64, 32], 0.001, 'ndcg@10', '7')
    """
    value = _literal(text)
    if isinstance(value, str) or str not in _choices(kind):
        return value
    others = [choice for choice in _choices(kind) if choice is not str]
    return value if any(_fits(value, choice) for choice in others) else text


_TOML = re.compile(
    r"""
    \"{3} (?:\\.|[^\\])*? (?:\"{3}|\\?\Z)  |  '{3} .*? (?:'{3}|\Z)   # texts of several lines
    | " (?:\\.|[^"\\\n])* (?:"|(?=\n)|\\?\Z)  |  ' [^'\n]* '?          # texts, which may lack their end
    | \# [^\n]*
    | [][{}.=,\n]
    """,
    re.DOTALL | re.VERBOSE,
)
_DEEPEST = 50
"""Of brackets, and of dots in a key. Nobody means more, and the reader would take minutes, or die."""


def read_toml(text: str) -> dict[str, Any]:
    """The values of TOML text; one that is nested too deeply to be meant is refused before it costs time."""
    depth = dots = 0
    for found in _TOML.finditer(text):
        sign = found[0]
        depth += (sign in "[{") - (sign in "]}" and depth > 0)
        dots = dots + 1 if sign == "." else 0 if sign in "[]{}=,\n" else dots
        if max(depth, dots) > _DEEPEST:
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            reason = f"nested more than {_DEEPEST} deep (at line {line}, column {column})"
            raise tomllib.TOMLDecodeError(reason)
    return tomllib.loads(text)


def _literal(text: str) -> Any:
    try:
        values = read_toml(f"value = {text}")
        return values["value"] if len(values) == 1 else text
    except tomllib.TOMLDecodeError:
        pass
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    # Numbers that TOML does not take: `.5`, `5.`, `007`.
    return float(text) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.IGNORECASE) else text


def write_value(value: Any) -> str:
    """A value as TOML has it.

    >>> write_value((1, 0.5)), write_value("a"), write_value({"k": True})
    ('[1, 0.5]', '"a"', '{k = true}')
    """
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(write_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{write_key(key)} = {write_value(one)}' for key, one in value.items())}}}"
    return repr(value)


def write_key(key: str) -> str:
    """A key as TOML has it."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else write_value(key)


def show_value(value: Any) -> str:
    """A value as the command line has it: texts without quotes.

    >>> show_value((64, 32)), show_value("ap"), show_value(None)
    ('[64, 32]', 'ap', 'none')
    """
    return "none" if value is None else value if isinstance(value, str) else write_value(value)


def parameter_kinds(cls: Callable[..., Any]) -> dict[str, Any]:
    """Each parameter of a class and its kind: the annotation, or, without one, what its default is."""
    parameters = inspect.signature(cls).parameters.values()
    defaults = {one.name: _plain_kind(one.default) for one in parameters}
    # Of a dataclass, fields know the file they were declared in; what is generated of them does not.
    annotations = _annotations(cls.__init__) | _annotations(cls)
    return {name: annotations.get(name, kind) for name, kind in defaults.items()}


def _plain_kind(default: Any) -> Any:
    return type(default) if type(default) in (str, bool, int, float) else Any


def _annotations(function: Any) -> dict[str, Any]:
    unseen: dict[str, Any] = {}
    while True:
        try:
            hints = get_type_hints(function, localns=unseen)
        except NameError as error:  # imported for the type checker alone
            unseen[str(error.name)] = _Unseen
        except (TypeError, SyntaxError):
            return {}
        else:
            return {name: Any if hint is _Unseen else hint for name, hint in hints.items()}


class _Unseen:
    """A class that only the type checker sees: whatever is no plain value may be one."""


def read_parameters(cls: Callable[..., Any], texts: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The values of pairs of name and text, read as the class takes them but not yet checked."""
    kinds = parameter_kinds(cls)
    values: dict[str, Any] = {}
    for name, text in texts:
        if name in values:
            raise InputError(f"{name} was given twice, the second time as {text}: give it once")
        values[name] = read_value(text, kinds.get(name, Any))
    return values


def checked_parameters(cls: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Values for parameters of a class, each of its kind; an unknown name is told the nearest."""
    kinds = parameter_kinds(cls)
    values = {}
    for name, value in given.items():
        try:
            if name not in kinds:
                raise unknown_parameter(cls.__name__, name, kinds)
            values[name] = checked(value, kinds[name])
        except (InputError, UnknownNameError) as error:
            raise ValueRefusedError(name, error) from None
    return values


def checked(value: Any, kind: Any) -> Any:
    """The value as one of this kind: whole numbers are numbers too, lists become tuples, `none` is nothing.

    >>> checked([64, 32], int | tuple[int, ...]), checked(1, float | None), checked("none", float | None)
    ((64, 32), 1.0, None)
    """
    choices = _choices(kind)
    if isinstance(value, str) and value.lower() == "none" and (NoneType in choices or kind is Any):
        return None
    if len(choices) == 1:
        return _converted(value, choices[0])
    for choice in choices:
        if _fits(value, choice):
            return _converted(value, choice)
    raise _refusal(value, kind)


def _choices(kind: Any) -> tuple[Any, ...]:
    kinds = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    return tuple(str if get_origin(one) is Literal else one for one in kinds)


def _fits(value: Any, kind: Any) -> bool:
    try:
        _converted(value, kind)
    except InputError:
        return False
    return True


def _converted(value: Any, kind: Any) -> Any:
    base, arguments = get_origin(kind) or kind, get_args(kind)
    if kind is float and type(value) is int:
        return float(value)
    if kind is _Unseen and type(value) not in (*_KINDS, tuple):
        return value
    if base in (tuple, list, Sequence):
        if not isinstance(value, list | tuple):
            raise _refusal(value, kind)
        of_one_kind = base is not tuple or arguments[1:] == (...,)
        return tuple(checked(one, arguments[0]) for one in value) if of_one_kind else tuple(value)
    if base in _KINDS and type(value) is not base:
        raise _refusal(value, kind)
    if base is not Any and isinstance(base, type) and not isinstance(value, base):
        raise _refusal(value, kind)
    return value


def _refusal(value: Any, kind: Any) -> InputError:
    found = repr(value)
    found = found if len(found) <= _MOST_SHOWN else f"{found[:_MOST_SHOWN]}…"
    return InputError(f"found {found}, expected {_described(kind)}")


def _described(kind: Any) -> str:
    """The kind in words; of classes that no text can be, nothing is said."""
    choices = [choice for choice in _choices(kind) if choice in _KINDS or get_origin(choice)]
    words = [_KINDS.get(get_origin(choice) or choice, _KINDS[list]) for choice in choices]
    return " or ".join(words) or str(getattr(kind, "__name__", kind))
