"""The parameters of rankers: what values they can take (see `pomona._kinds`), and what they are called."""

from __future__ import annotations

from dataclasses import fields
from functools import wraps
from typing import Any

from pomona._kinds import (
    Interval,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Probability,
    Share,
    admits,
    check_parameters,
    types_of,
    values_outside,
    words,
)
from pomona._other_names import unknown_parameter

__all__ = [
    "Interval",
    "NonNegativeFloat",
    "NonNegativeInt",
    "PositiveFloat",
    "PositiveInt",
    "Probability",
    "Share",
    "admits",
    "check_parameters",
    "refuse_unknown_names",
    "types_of",
    "values_outside",
    "words",
]


def refuse_unknown_names(cls: Any) -> None:
    """Have a dataclass refuse an unknown parameter in words that help: see `unknown_parameter`."""
    init, known = cls.__init__, [field.name for field in fields(cls)]

    @wraps(init)
    def init_known(self: Any, *positional: Any, **given: Any) -> None:
        if unknown := next((name for name in given if name not in known), None):
            raise unknown_parameter(cls.__name__, unknown, known)
        init(self, *positional, **given)

    cls.__init__ = init_known
