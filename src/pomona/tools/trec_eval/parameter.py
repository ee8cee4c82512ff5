"""How trec_eval reads `-m name.parameters`, and the names that its output lines get.

A measure's reader gives the printed names and the parameters. Whole-number cut-offs and shares are
sorted and may not repeat; plain numbers and gains keep their order and appear in the name as typed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from pomona.data.fields import atof, atol
from pomona.errors import InputError

Read = Callable[[str, str | None, int], tuple[list[str], Any]]
"""(measure, parameters as typed or None, version of the tool) to (names printed, parameters)."""

NamedPairs = tuple[tuple[str, float], ...]

_INTEGER = re.compile(r"[+-]?[0-9]+")


def no_parameter(name: str, typed: str | None, version: int) -> tuple[list[str], Any]:
    """A measure that takes none; what is given is ignored, as the tool does."""
    return [name], ()


def cutoffs(*default: int) -> Read:
    """Ranks: `P.5,10` prints `P_5` and `P_10`."""

    def read(name: str, typed: str | None, version: int) -> tuple[list[str], Any]:
        ranks = sorted(atol(part.encode()) for part in typed.split(",")) if typed else list(default)
        if ranks[0] <= 0:
            raise InputError(f"-m {name}.{typed}: found the cut-off {ranks[0]}, expected 1 or more")
        _refuse_repeated(name, typed, ranks)
        return [f"{name}_{rank}" for rank in ranks], tuple(ranks)

    return read


def shares(*default: float) -> Read:
    """Shares of the relevant documents: `iprec_at_recall.0.5` prints `iprec_at_recall_0.50`."""

    def read(name: str, typed: str | None, version: int) -> tuple[list[str], Any]:
        given = sorted(_number(name, typed, part) for part in typed.split(",")) if typed else list(default)
        _refuse_repeated(name, typed, given)
        # The tool's name has room for eight characters of the number.
        return [f"{name}_{f'{share:3.2f}'[:8]}" for share in given], tuple(given)

    return read


def numbers(*default: float, exactly: bool = False) -> Read:
    """Numbers in order: `utility.2,-1,0,0` prints `utility_2,-1,0,0`."""

    def read(name: str, typed: str | None, version: int) -> tuple[list[str], Any]:
        if typed is None:
            return [name], default
        given = tuple(_number(name, typed, part) for part in typed.split(","))
        if exactly and len(given) != len(default):
            raise InputError(f"-m {name}.{typed}: found {len(given)} numbers, expected {len(default)}")
        return [f"{name}_{typed}"], given

    return read


def named(name: str, typed: str | None, version: int) -> tuple[list[str], Any]:
    """Pairs of a name and a number: `rbp.p=0.8` prints `rbp_p=0.8`."""
    if typed is None:
        return [name], ()
    pairs = []
    for part in typed.split(","):
        if part.count("=") != 1:
            raise InputError(
                f"-m {name}.{typed}: found {part!r}, expected label=gain, e.g. -m {name}.1=1,2=3"
            )
        key, value = part.split("=")
        pairs.append((key, _number(name, typed, value)))
    return [f"{name}_{typed}"], tuple(pairs)


def gains(name: str, typed: str | None, version: int) -> tuple[list[str], Any]:
    """Gains of labels: `ndcg.1=1,2=3` prints `ndcg_1=1,2=3`."""
    names, pairs = named(name, typed, version)
    return names, labels_10(pairs) if version == 10 else labels_9(pairs)


def labels_9(pairs: NamedPairs) -> tuple[tuple[int, float], ...]:
    """Labels as version 9 reads them: what is not a number is 0."""
    return tuple((atol(name.encode()), gain) for name, gain in pairs)


def labels_10(pairs: NamedPairs) -> tuple[tuple[int, float], ...]:
    """Labels as version 10 reads them: what is not a whole number is left out."""
    return tuple((int(name), gain) for name, gain in pairs if _INTEGER.fullmatch(name))


def _number(name: str, typed: str | None, part: str) -> float:
    value = atof(part.encode())
    if not math.isfinite(value):
        raise InputError(f"-m {name}.{typed}: found {part!r}, expected a finite number")
    return value


def _refuse_repeated(name: str, typed: str | None, ordered: list[Any]) -> None:
    for before, after in pairwise(ordered):
        if before == after:
            raise InputError(f"-m {name}.{typed}: found {after} twice, expected each once")
