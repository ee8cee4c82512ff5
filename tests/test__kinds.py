from dataclasses import dataclass, field, fields
from typing import Annotated, Literal

import numpy as np
import pytest

from pomona._kinds import (
    Interval,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    Probability,
    Share,
    check_parameters,
    values_outside,
)
from pomona.errors import InputError, UnknownNameError


@dataclass
class Many:
    count: PositiveInt = 1
    rate: PositiveFloat = 0.1
    l2: NonNegativeFloat = 0.0
    share: Share = 1.0
    chance: Probability = 0.5
    dropout: Annotated[float, Interval(0, 1)] = 0.0
    patience: PositiveInt | None = None
    C: PositiveFloat | Literal["validate"] = "validate"
    optimizer: Literal["adam", "sgd"] = "adam"
    rates: PositiveFloat | tuple[PositiveFloat, ...] = 0.1
    verbose: bool = False
    anything: object = field(default=None)


GOOD = {
    "count": [1, 7, np.int64(3)],
    "rate": [1e-9, 3, np.float32(2)],
    "l2": [0, 0.0, 5.0],
    "share": [1, 0.3],
    "chance": [0.3],
    "dropout": [0, 0.999],
    "patience": [None, 1],
    "C": ["validate", 3],
    "optimizer": ["sgd"],
    "rates": [1.0, (0.1, 0.2), [0.1, 0.2], np.array([0.1])],
    "verbose": [True, np.True_],
    "anything": [object()],
}
BAD = {
    "count": [0, -1, 1.5, 1.0, True, "1", None, float("nan")],
    "rate": [0, -1.0, float("inf"), float("nan"), "0.1", False, None],
    "l2": [-1e-9, float("inf"), float("nan")],
    "share": [0, 1.0001, float("nan")],
    "chance": [0, 1],
    "dropout": [1, -0.1],
    "patience": [0, "no"],
    "C": [0, "valid", None, float("nan")],
    "optimizer": ["adamw", None, 3],
    "rates": [0, (0.1, 0), (0.1, "x"), "0.1"],
    "verbose": ["yes", 1],
}


def test_every_field_is_tried():
    assert {f.name for f in fields(Many)} == set(GOOD) == set(BAD) | {"anything"}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in GOOD.items() for v in values])
def test_admits(name, value):
    check_parameters(Many(**{name: value}))


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD.items() for v in values])
def test_refuses_in_one_line(name, value):
    with pytest.raises((InputError, UnknownNameError), match=name) as caught:
        check_parameters(Many(**{name: value}))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 0}, "count must be an integer of at least 1, found 0"),
        ({"patience": 0}, "patience must be an integer of at least 1, or None, found 0"),
        ({"share": 2}, "share must be a number above 0 and at most 1, found 2"),
        ({"C": "x"}, "C must be a number above 0, or 'validate', found 'x'"),
        ({"optimizer": "adm"}, "unknown optimizer 'adm': did you mean 'adam'? (known: adam, sgd)"),
        ({"rates": (0,)}, "rates must be a number above 0, or several of a number above 0, found (0,)"),
    ],
)
def test_says_what_it_wants(changes, message):
    with pytest.raises((InputError, UnknownNameError)) as caught:
        check_parameters(Many(**changes))
    assert str(caught.value) == message


@dataclass
class Derived(Many):
    count: Annotated[int, Interval(2)] = 2
    depth: PositiveInt = 3


def test_a_subclass_can_narrow_and_add():
    check_parameters(Derived())
    for bad in ({"count": 1}, {"depth": 0}, {"l2": -1}):
        with pytest.raises(InputError):
            check_parameters(Derived(**bad))


def test_values_just_outside():
    outside = values_outside(Many)
    assert outside["count"] == outside["patience"] == [0]
    assert outside["rate"] == outside["C"] == outside["rates"] == [0]
    assert outside["share"] == [0, np.nextafter(1, 2)]
    assert outside["chance"] == [0, 1]
    assert outside["dropout"] == [np.nextafter(0, -1), 1]
    assert outside.keys() == {"count", "rate", "l2", "share", "chance", "dropout", "patience", "C", "rates"}


def test_a_class_whose_types_are_unknown_is_not_checked():
    @dataclass
    class Mine:
        count: "Unknown" = 0  # noqa: F821

    check_parameters(Mine())
