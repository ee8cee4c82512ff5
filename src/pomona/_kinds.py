"""What values a parameter can take: declared as its type, checked in one place.

`n_trees: PositiveInt = 100` says all there is to say, so no ranker and no measure checks its parameters by
hand. None, or a text beside numbers, is admitted as in any annotation: `l1: PositiveFloat | None = None`.

>>> @dataclass
... class Demo:
...     n_trees: PositiveInt = 100
...     C: PositiveFloat | Literal["validate"] = "validate"
>>> check_parameters(Demo(C=0))
Traceback (most recent call last):
pomona.errors.InputError: C must be a number above 0, or 'validate', found 0
"""

from __future__ import annotations

import math
import types
import typing
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, Literal, Union

import numpy as np

from pomona.errors import InputError, UnknownNameError


@dataclass(frozen=True)
class Interval:
    """Numbers from `low` to `high`; `closed` tells which ends belong to it: `[]`, `[)`, `(]` or `()`."""

    low: float
    high: float = float("inf")
    closed: Literal["[]", "[)", "(]", "()"] = "[)"

    def __contains__(self, value: float) -> bool:
        above = value >= self.low if self.closed[0] == "[" else value > self.low
        return above and (value <= self.high if self.closed[1] == "]" else value < self.high)

    def __str__(self) -> str:
        least = f"{'of at least' if self.closed[0] == '[' else 'above'} {self.low:g}"
        most = f" and {'at most' if self.closed[1] == ']' else 'below'} {self.high:g}"
        return least if self.high == float("inf") else least + most


@dataclass(frozen=True)
class Several:
    """A tuple with at least one part."""

    def __contains__(self, value: Any) -> bool:
        return len(value) > 0

    def __str__(self) -> str:
        return "(at least one)"


PositiveInt = Annotated[int, Interval(1)]
NonNegativeInt = Annotated[int, Interval(0)]
PositiveFloat = Annotated[float, Interval(0, closed="()")]
NonNegativeFloat = Annotated[float, Interval(0)]
Share = Annotated[float, Interval(0, 1, "(]")]
Probability = Annotated[float, Interval(0, 1, "()")]
"""Neither impossible nor certain."""
Chance = Annotated[float, Interval(0, 1, "[]")]
"""Perhaps impossible, perhaps certain."""


def check_parameters(estimator: Any) -> None:
    """Refuse, in one line, the first parameter of a dataclass that its type does not admit."""
    for name, kind in types_of(type(estimator)).items():
        check_value(name, getattr(estimator, name), kind)


def check_value(name: str, value: Any, kind: Any) -> None:
    """Refuse, in one line, a value of a parameter that its type does not admit."""
    if not admits(kind, value):
        if typing.get_origin(kind) is Literal:
            raise UnknownNameError(name, str(value), map(str, typing.get_args(kind)))
        raise InputError(f"{name} must be {words(kind)}, found {value!r}")


def plain_value(value: Any, kind: Any) -> Any:
    """The value as plain Python has it, where its type admits that: numbers without NumPy, tuples for lists.

    >>> plain_value(np.int64(10), PositiveInt | None), plain_value([0, 1], tuple[float, ...])
    (10, (0.0, 1.0))
    """
    if isinstance(value, np.generic):
        value = value.item()
    for part in _parts(kind):
        inner = typing.get_args(part)[0] if typing.get_origin(part) is Annotated else part
        if typing.get_origin(inner) is tuple and isinstance(value, list | tuple | np.ndarray):
            return tuple(plain_value(one, typing.get_args(inner)[0]) for one in value)
        if inner is int and isinstance(value, int):
            return value
        if inner is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
    return value


def values_outside(cls: type) -> dict[str, list[float]]:
    """For each parameter with a declared range, the numbers just outside it.

    >>> @dataclass
    ... class Demo:
    ...     n_trees: PositiveInt = 100
    ...     rate: Share | None = None
    >>> values_outside(Demo)
    {'n_trees': [0], 'rate': [0, 1.0000000000000002]}
    """
    outside = {
        name: [value for part in _parts(kind) for value in _outside(part)]
        for name, kind in types_of(cls).items()
    }
    return {name: values for name, values in outside.items() if values}


def _parts(kind: Any) -> tuple[Any, ...]:
    is_union = typing.get_origin(kind) in (Union, types.UnionType)
    return typing.get_args(kind) if is_union else (kind,)


def _outside(kind: Any) -> list[float]:
    """The numbers just outside the range of one part of a type."""
    if typing.get_origin(kind) is not Annotated:
        return []
    number, interval = typing.get_args(kind)
    if not isinstance(interval, Interval):
        return []
    ends = (interval.low, -1, interval.closed[0] == "["), (interval.high, 1, interval.closed[1] == "]")
    return [
        end if not belongs else end + way if number is int else math.nextafter(end, way * math.inf)
        for end, way, belongs in ends
        if abs(end) < math.inf
    ]


@cache
def _types_of(cls: Any) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError:  # a class of somebody's own whose types are not imported when it runs
        return {}
    return {field.name: hints[field.name] for field in fields(cls)}


def types_of(cls: type) -> dict[str, Any]:
    """The type of every parameter of a dataclass; none where they cannot be told."""
    return _types_of(cls)


def admits(kind: Any, value: Any) -> bool:
    """Whether a value is of this type, as annotations write types."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return any(admits(one, value) for one in _parts(kind))
    if origin is Annotated:
        return admits(arguments[0], value) and value in arguments[1]
    if origin is Literal:
        return value in arguments
    if origin is tuple:
        is_several = isinstance(value, tuple | list | np.ndarray)
        return is_several and all(admits(arguments[0], one) for one in value)
    if origin is dict:
        key, entry = arguments
        return isinstance(value, dict) and all(
            admits(key, one) and admits(entry, value[one]) for one in value
        )
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if kind in (int, float):
        numbers = (int, np.integer) if kind is int else (int, float, np.integer, np.floating)
        # No fractions, nor longer floats: kernels and model files hold neither.
        return isinstance(value, numbers) and not isinstance(value, bool | np.longdouble)
    return isinstance(value, kind) if isinstance(kind, type) else True


def words(kind: Any) -> str:
    """A type in words."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return ", or ".join(map(words, _parts(kind)))
    if origin is Annotated:
        return f"{words(arguments[0])} {arguments[1]}"
    if origin is Literal:
        return " or ".join(map(repr, arguments))
    if origin is tuple:
        return f"several of {words(arguments[0])}"
    if origin is dict:
        return f"a table that gives {words(arguments[0])} {words(arguments[1])}"
    names = {
        int: "an integer",
        float: "a number",
        bool: "true or false",
        str: "a text",
        types.NoneType: "None",
    }
    return names.get(kind, getattr(kind, "__name__", str(kind)))
