"""What all contract checks share: how a broken promise is told."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._docstring import parameters_of
from pomona.errors import PomonaError


def require(kept: object, promise: str) -> None:
    """Raise an AssertionError that names the promise, unless it was kept."""
    if not kept:
        raise AssertionError(promise)


@contextlib.contextmanager
def refusal_of(what: str, pattern: str = "") -> Iterator[None]:
    """Require that the body is refused with a PomonaError of one line that has the pattern in it."""
    try:
        yield
    except PomonaError as error:
        message = str(error)
    else:
        raise AssertionError(f"{what} must be refused with a PomonaError, but was taken")
    require("\n" not in message, f"{what} must be refused in one line, found {message!r}")
    require(
        re.search(pattern, message),
        f"{what} must be refused with a message that has {pattern!r}, found {message!r}",
    )


def run_checks(checks: Sequence[Callable[..., None]], subject: Any, *arguments: Any) -> None:
    """Run all checks; an exception that is no broken promise is told which check met it."""
    for check in checks:
        try:
            check(subject, *arguments)
        except Exception as error:
            error.add_note(f"found by pomona.testing, {check.__name__}({type(subject).__name__})")
            raise


def check_parameters_are_documented(subject: Any, parameters: Sequence[str]) -> None:
    """Every parameter has an entry in a `Parameters` section of its class or of a base of it."""
    cls = type(subject)
    documented = parameters_of(cls)
    missing = [name for name in parameters if name not in documented]
    require(
        not missing,
        f"every parameter must have an entry `name : what it means` in the `Parameters` section of the "
        f"docstring of {cls.__name__} or of one of its bases; without one: {', '.join(missing)}",
    )


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal, of arrays: in every place."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")
    if hasattr(one, "get_params") and type(one) is type(other):
        return is_same(one.get_params(), other.get_params())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    return bool(one == other) or (one != one and other != other)


def require_equal(expected: NDArray[Any], actual: NDArray[Any], promise: str) -> None:
    """Require the same scores, to the last bit."""
    differ = np.asarray(expected) != np.asarray(actual)
    if differ.any():
        pair = f"{actual[differ][0]} instead of {expected[differ][0]}"
        raise AssertionError(f"{promise}: {int(differ.sum())} of {differ.size} scores differ, as {pair}")


def require_finite(scores: NDArray[Any], promise: str) -> None:
    """Require that no score is infinite or NaN."""
    strange = ~np.isfinite(scores)
    require(not strange.any(), f"{promise}, found {int(strange.sum())} of {strange.size} that are not")
