"""The parameters of rankers: what values they can take (see `pomona._kinds`), and what they are called."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
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
    "annotate_defaults",
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


def annotate_defaults(cls: Any) -> None:
    """Have `n_rounds = 3` in a subclass be another default of the parameter, as `n_rounds: int = 3` is.

    A dataclass would keep the base's default without a word.
    """
    own = dict(vars(cls).get("__annotations__", {}))
    bases: tuple[type, ...] = cls.__mro__[1:]
    for base in bases:
        if is_dataclass(base):
            kinds = types_of(base)
            for one in fields(base):
                value = vars(cls).get(one.name)
                if one.name in vars(cls) and one.name not in own and not hasattr(value, "__get__"):
                    own[one.name] = kinds.get(one.name, Any)
            break
    cls.__annotations__ = own
