"""Times as people write them: `10m`, `1h30m`, `20us`."""

from __future__ import annotations

import math
import re

from pomona.errors import InputError

_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}
_UNITS |= {"μs": 1e-6, "ns": 1e-9}  # the Greek letter, too


def seconds_of(text: str | float, name: str = "time", example: str = "10m") -> float:
    """The seconds of a time; a number alone is seconds.

    >>> seconds_of("1h30m"), seconds_of("90s"), seconds_of(2.5), seconds_of("5ms")
    (5400.0, 90.0, 2.5, 0.005)
    """
    found = 0.0
    if isinstance(text, str):
        parts = re.findall(r"(\d+(?:\.\d+)?|\.\d+)\s*([a-zµμ]*)", text.strip().lower())
        is_whole = "".join(number + unit for number, unit in parts) == re.sub(r"\s+", "", text.lower())
        are_known = all(unit in _UNITS or (not unit and len(parts) == 1) for _, unit in parts)
        if is_whole and are_known:
            found = sum(float(number) * _UNITS.get(unit, 1.0) for number, unit in parts)
    elif not isinstance(text, bool):
        found = float(text)
    if not 0 < found < math.inf:
        raise InputError(f"found {name} {text!r}, expected a time above 0, such as {example}")
    return found


def in_words(seconds: float) -> str:
    """A time for people.

    >>> in_words(5400), in_words(75), in_words(9.5)
    ('1 h 30 min', '1 min 15 s', '10 s')
    """
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    parts = ((hours, "h"), (minutes, "min"), (0 if hours else rest, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"
