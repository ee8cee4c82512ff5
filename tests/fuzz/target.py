"""What is fuzzed: one file a target, cases drawn from seeds, each a case that anybody can repeat.

A target is a class `Target(folder)` with `case(random)`: it makes up an input, checks what comes of it, and
gives the outcome in a word. An AssertionError is a disagreement; any other error, and the death of the
process, is a crash. `N_SMALL` cases are tried by `make test`, as many as there is time for by `make fuzz`.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

TARGETS = (
    *("letor", "trec", "table", "labels", "model", "save_load", "spec", "rows", "permutations", "exports"),
    *("options", "verbs", "measures", "weights", "parameters", "compare", "budget", "kill"),
)


@dataclass
class Tally:
    """What came of the cases of a target; disagreements and crashes as (number of the case, why)."""

    outcomes: Counter[str] = field(default_factory=Counter)
    disagreements: list[tuple[int, str]] = field(default_factory=list)
    crashes: list[tuple[int, str]] = field(default_factory=list)

    @property
    def n_cases(self) -> int:
        return sum(self.outcomes.values()) + len(self.disagreements) + len(self.crashes)


def new_target(name: str, folder: Path) -> Any:
    return import_module(f"fuzz.{name}").Target(folder)


def n_small(name: str) -> int:
    """How many cases of a target take a few seconds."""
    return import_module(f"fuzz.{name}").N_SMALL


def fuzz(
    name: str, folder: Path, seed: int, *, seconds: float = np.inf, n_cases: float = np.inf, first: int = 0
) -> Tally:
    """Try cases until time is up, or there were enough; `folder/case` has the number of the last."""
    tally, target, number = Tally(), new_target(name, folder), first
    until = time.monotonic() + seconds
    while number < first + n_cases and time.monotonic() < until:
        (folder / "case").write_text(str(number))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what a crafted input overflows is not the question
                tally.outcomes[target.case(np.random.default_rng([seed, number]))] += 1
        except AssertionError as error:
            tally.disagreements.append((number, _line(error)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic of polars is no Exception
            tally.crashes.append((number, f"{type(error).__name__}: {_line(error)}"))
        number += 1
    return tally


def _line(error: BaseException) -> str:
    return " ".join(f"{error}".split())[:300]


def damaged(content: bytes, random: np.random.Generator, signs: bytes) -> bytes:
    """The content with a few bytes removed, replaced, put in or cut off."""
    changed = bytearray(content)
    for _ in range(random.integers(1, 4)):
        place, kind = random.integers(len(changed) + 1), random.integers(5)
        changed[place : place + int(kind != 1)] = [] if kind == 0 else [random.choice(list(signs))]
        if kind == 3:
            del changed[place:]
        elif kind == 4:
            other = random.integers(len(changed) + 1)
            changed[place:place] = changed[other : other + random.integers(40)]
    return bytes(changed)


def in_one_line(error: Exception) -> str:
    """`refused`, if that is what it is."""
    assert "\n" not in str(error), f"refused in several lines: {error}"
    return "refused"
