"""What every record of a spec is: made only of values of the right kinds, whoever makes it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from pomona._parameters import ValueRefusedError, checked, parameter_kinds
from pomona.errors import InputError, PomonaError

MOST = 2**63 - 1
"""The largest whole number that a store can hold."""


class Record:
    """A record that is made only of values of the kinds that its fields are declared to have."""

    def __post_init__(self) -> None:
        for key, kind in parameter_kinds(type(self)).items():
            self._replace(key, partial(checked, kind=kind))
        self._check()

    def _check(self) -> None:
        """Refuse what is of the right kind and wrong all the same."""

    def _replace(self, key: str, change: Callable[[Any], Any]) -> None:
        """Put what `change` makes of a value into its place."""
        with refused_at(key):
            object.__setattr__(self, key, change(getattr(self, key)))


@contextlib.contextmanager
def refused_at(key: str, part: object = None) -> Iterator[None]:
    """Name the value that the body refuses."""
    try:
        yield
    except ValueRefusedError:
        raise
    except PomonaError as error:
        raise ValueRefusedError(key, error, part) from None


def each_once(texts: tuple[str, ...], written: Callable[[str], str]) -> tuple[str, ...]:
    """The texts as they are always written, each once."""
    if not texts:
        raise InputError("expected one text at least, found none")
    return tuple(dict.fromkeys(map(written, texts)))


def different(numbers: tuple[int, ...], least: int) -> tuple[int, ...]:
    """The numbers, of which no two are the same."""
    if not numbers or min(numbers) < least or len(set(numbers)) < len(numbers) or max(numbers) > MOST:
        raise InputError(f"found {list(numbers)}, expected different whole numbers from {least} to {MOST}")
    return numbers


def at_least(least: int, number: int) -> int:
    """The number, which is not below the least."""
    if not least <= number <= MOST:
        raise InputError(f"found {number}, expected at least {least} and at most {MOST}")
    return number
