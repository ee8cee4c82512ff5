from dataclasses import dataclass

import pytest

from pomona.errors import InputError, PomonaError
from pomona.experiments.spec_record import Record, at_least, different, each_once, refused_at


@dataclass(frozen=True)
class Cup(Record):
    size: float = 1.0
    name: str | None = None

    def _check(self):
        with refused_at("size"):
            if self.size <= 0:
                raise InputError("too small")


def test_a_record_has_values_of_their_kinds():
    assert Cup(2) == Cup(2.0)
    assert Cup(name="none").name is None
    with pytest.raises(PomonaError, match="size: found 'big', expected a number"):
        Cup("big")
    with pytest.raises(PomonaError, match="size: too small"):
        Cup(-1.0)


def test_numbers_and_texts():
    assert at_least(2, 3) == 3
    assert different((3, 1), least=1) == (3, 1)
    assert each_once(("A", "a", "b"), str.lower) == ("a", "b")
    with pytest.raises(InputError, match="found 1, expected at least 2"):
        at_least(2, 1)
    for wrong in ((), (1, 1), (0,)):
        with pytest.raises(InputError, match="expected different whole numbers from 1"):
            different(wrong, least=1)
    with pytest.raises(InputError, match="expected one text at least"):
        each_once((), str)
