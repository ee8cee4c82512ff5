"""Properties that are computed once, without a lock: a process may be forked while a thread computes one.

`functools.cached_property` holds a lock of the class until Python 3.12: a child that is forked meanwhile
waits for ever for a thread that it does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 (as that of functools)
    """A property that is computed when it is first asked for, and kept; by two threads at once, twice.

    >>> class Square:
    ...     @cached_property
    ...     def area(self):
    ...         print("computed")
    ...         return 9
    >>> square = Square()
    >>> square.area + square.area
    computed
    18
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        value: T = instance.__dict__.setdefault(self._name, self._function(instance))
        return value
