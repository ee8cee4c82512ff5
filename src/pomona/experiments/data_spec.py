"""One dataset of a comparison: where it comes from, and what a study varies of it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pomona._parameters import ValueRefusedError, checked, show_value
from pomona.errors import InputError, UnknownNameError
from pomona.experiments.spec_record import Record, different, refused_at
from pomona.experiments.variation import VARIABLES, Variation

PARTS = ("train", "valid", "test")
"""The parts of a fold that can be judged after every iteration."""


@dataclass(frozen=True)
class Files(Record):
    """Data that come as one training, perhaps one validation, and one test file."""

    train: str
    test: str
    valid: str | None = None


@dataclass(frozen=True)
class Simulated(Record):
    """Data that are drawn by `pomona.simulate`, and cross-validated."""

    queries: int = 300
    features: int = 46
    docs_per_query: float = 40.0
    noise: float = 0.4
    seed: int = 0


class Variant(NamedTuple):
    """A variant of a dataset: what the results call it, and what is changed."""

    name: str
    variation: Variation


@dataclass(frozen=True)
class DataSpec(Record):
    """One dataset of a comparison.

    Parameters
    ----------
    name : what it is called; unique. An empty one is made of the source.
    source : a collection's name, a fold directory or a single file; or `Files`, or `Simulated`; or several
        collections or directories, which are joined fold by fold.
    folds : which of its folds, counted from 1; None takes all.
    drop_empty : leave out the queries without a relevant document.
    label, qid, doc_id : the columns that are no features, where the files are tables.
    train_fraction, label_noise, n_features, features, noise_valid : what is changed of it (`Variation`).
    each : values of these of which every combination is a variant of the dataset, to be compared on.
    draw : the seed of what is drawn at random; several repeat the study.
    curves : the parts whose queries are judged after every iteration. Those of the test part are shown,
        nothing is chosen by them.
    split : the shares of training, perhaps validation, and test queries, as (0.6, 0.2, 0.2): all queries of
        the source are cut anew, at random by whole queries. No query is in two test parts, so that there are
        as many folds as test parts fit in. None takes published folds as they are, and `n_folds` of others.
    optional : a collection or directory that is not here is left out, and said to be, instead of refused.
    """

    name: str
    source: str | tuple[str, ...] | Files | Simulated
    folds: tuple[int, ...] | None = None
    drop_empty: bool = False
    label: str = "label"
    qid: str = "qid"
    doc_id: str | None = None
    train_fraction: float = 1.0
    label_noise: float = 0.0
    n_features: int | Literal["all"] = "all"
    features: tuple[str, ...] | Literal["all"] = "all"
    noise_valid: bool = True
    each: Mapping[str, Any] = field(default_factory=dict)
    draw: tuple[int, ...] = (0,)
    curves: tuple[str, ...] = ("train", "valid")
    split: tuple[float, ...] | None = None
    optional: bool = False

    def _check(self) -> None:
        with refused_at("source"):
            if self.source == ():
                raise InputError("expected one collection, directory or file at least, found none")
        self._replace("name", lambda name: name or self._named_by_source())
        self._replace("folds", lambda folds: folds if folds is None else different(folds, least=1))
        self._replace("draw", lambda draws: different(draws, least=0))
        self._replace("each", lambda each: {key: self._values(key, each[key]) for key in each})
        self._replace("curves", _parts)
        if self.split is not None:
            self._replace("split", self._shares)
        with refused_at("optional"):
            if self.optional and isinstance(self.source, Files | Simulated):
                raise InputError("only a collection or a directory can be optional: leave it out")
        self.variants()

    def _shares(self, shares: tuple[float, ...]) -> tuple[float, ...]:
        """The shares of a split."""
        if isinstance(self.source, Files):
            raise InputError("train and test files are a split already: leave it out")
        if len(shares) not in (2, 3) or not all(0 < one < 1 for one in shares) or abs(sum(shares) - 1) > 1e-9:
            raise InputError(
                f"found {list(shares)}, expected the shares of training, perhaps validation, and test "
                "queries, which add up to 1, as [0.6, 0.2, 0.2]"
            )
        return shares

    def _values(self, key: str, values: Any) -> tuple[Any, ...]:
        """The values of a variable of the study."""
        with refused_at(f"each.{key}"):
            if key not in VARIABLES:
                raise UnknownNameError("variable of a dataset", key, VARIABLES)
            if getattr(self, key) != getattr(Variation, key):
                raise InputError(f"{key} is given as well: leave one of them out")
            found = checked(values, tuple[Any, ...])
            if not found or any(one in found[:place] for place, one in enumerate(found)):
                raise InputError(f"found {list(found)}, expected different values, one at least")
            try:
                return tuple(getattr(Variation(**{key: one}), key) for one in found)
            except ValueRefusedError as error:
                raise InputError(error.reason) from None

    def variants(self) -> list[Variant]:
        """Every combination of the values of `each`, once for each draw where chance plays a part.

        The complete data, if they are among them, are called as the dataset is.
        """
        return self._variants

    @cached_property
    def _variants(self) -> list[Variant]:
        fixed = {key: getattr(self, key) for key in (*VARIABLES, "noise_valid")}
        variants = []
        for values in itertools.product(*self.each.values()):
            varied = dict(zip(self.each, values, strict=True))
            # A list of features is no draw.
            by_chance = not Variation(**{**fixed, **varied, "features": "all"}).is_complete
            for draw in self.draw if by_chance else self.draw[:1]:
                variation = Variation(**{**fixed, **varied}, draw=draw)
                words = [f"{key}={_shown(value)}" for key, value in varied.items()]
                words += [f"draw={draw}"] * (by_chance and len(self.draw) > 1)
                is_named = bool(words) and not (self.each and variation.is_complete)
                variants.append(Variant(" ".join([self.name, *words * is_named]), variation))
        return variants

    @property
    def is_study(self) -> bool:
        """Whether it is compared on in several variants."""
        return len(self.variants()) > 1

    def _named_by_source(self) -> str:
        if isinstance(self.source, Simulated):
            return "simulated"
        if isinstance(self.source, Files):
            return Path(self.source.train).parent.name
        places = (self.source,) if isinstance(self.source, str) else self.source
        return "+".join(Path(place).name.partition(".")[0] or place for place in places)

    def table(self, told: Callable[[str], str] = str) -> dict[str, Any]:
        """The table of a file that this is read from; what is as it is by default stays out.

        told : says how the path of a file or directory is to be written.
        """
        source: dict[str, Any]
        if isinstance(self.source, Files):
            files = dataclasses.asdict(self.source)
            source = {part: path if path is None else told(path) for part, path in files.items()}
        elif isinstance(self.source, Simulated):
            source = {"simulate": dataclasses.asdict(self.source)}
        elif isinstance(self.source, str):
            source = {"source": told(self.source)}
        else:
            source = {"source": tuple(map(told, self.source))}
        defaults = {one.name: one.default for one in dataclasses.fields(self)[2:] if one.name != "each"}
        given = {key: getattr(self, key) for key in defaults if getattr(self, key) != defaults[key]}
        return {"name": self.name, **source, **given, **({"each": self.each} if self.each else {})}


def _shown(value: Any) -> str:
    """The value of a variable; a list of features is known by their number."""
    return f"{len(value)}" if isinstance(value, tuple) else show_value(value)


def _parts(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in PARTS:
            raise UnknownNameError("part", name, PARTS)
    return tuple(part for part in PARTS if part in names)
