"""Models with odd parameters through a file, pickle, copies and their `repr`: the same ranker, bit for bit.

A parameter may be of NumPy, a list, an array, a text of NumPy, the least number above 0 or a measure.
Features have any names. What a file cannot hold must be refused before the training, not by `save`.
"""

from __future__ import annotations

import copy
import pickle
import resource
import signal
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

import pomona as pm
from fuzz.model import KINDS
from fuzz.target import in_one_line
from pomona._registry import entries
from pomona.errors import PomonaError
from pomona.experiments.execute import shortened
from pomona.measures.base import Measure
from pomona.rankers.base import TRAINING, Ranker
from pomona.rankers.loading import load_model
from pomona.rankers.parameter import admits, types_of
from pomona.testing.contract import is_same

N_SMALL = 12
_FLOATS = (1 / 3, 5e-324, 1e-300, 1e308, np.nextafter(1.0, 0.0), 0.1 + 0.2, 7.0, 1e16 + 2, 0.05)
_SIZED = {
    "max_bins",
    "n_leaves",
    "batch_size",
    "n_thresholds",
    "n_components",
    "degree",
    "n_samples",
    "n_models",
}
_NAMES = (
    "a",
    "ü ß",
    "特徴",
    "",
    " ",
    "x\ny",
    "0",
    "1",
    "\x00",
    '"',
    "'",
    "a" * 300,
    "🍎",
    "None",
    "nan",
    "e\u0301",
)
_MEASURES = (
    *("ndcg@3", "ap", "err@5", "p@2", "rbp", "rr", "trec_eval:ndcg@5", "letor4:ndcg", "NDCG@7"),
    *("rbp(p=0.3333333333333333)", "ndcg(gain=0/1/3/7/15)@3", "wta", "mslr:ndcg@2"),
)


@dataclass(frozen=True, kw_only=True)
class OwnMeasure(Measure):
    """The share of the first five documents whose labels are above one."""

    name: ClassVar[str] = "own_measure"
    above: float = 0.0

    def of_query(self, labels: Any) -> float:
        """Of labels in ranked order."""
        return float(np.mean(labels[:5] > self.above))


class Target:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "m.pomona"
        self._train = pm.simulate(14, docs_per_query=7, n_features=4, seed=0)
        self._fresh = pm.simulate(6, docs_per_query=6, n_features=4, seed=1)

    def case(self, random: np.random.Generator) -> str:
        cls = entries("rankers")[str(random.choice(KINDS))].load()
        ranker = cls()
        ranker.set_params(**shortened(ranker.get_params(deep=False)))
        odd = {
            name: _odd(name, kind, getattr(ranker, name), random)
            for name, kind in types_of(cls).items()
            if random.random() < 0.4 and name not in ("device", "verbose", "warm_start", "model", "prefit")
        }
        names = [_NAMES[i] for i in random.permutation(len(_NAMES))[:4]]
        train, fresh = (
            pm.Dataset(data.X, data.y, data.qid, feature_names=names) for data in (self._train, self._fresh)
        )
        try:
            ranker.set_params(**{name: value for name, value in odd.items() if value is not _AS_IT_IS})
            fitted = ranker.fit(train, valid=fresh if random.random() < 0.5 else None)
        except PomonaError as error:
            return in_one_line(error)
        self._check(fitted, fresh, random)
        return type(fitted).__name__

    def _check(self, fitted: Ranker, fresh: pm.Dataset, random: np.random.Generator) -> None:
        self._path.unlink(missing_ok=True)
        fitted.save(self._path)  # what a file cannot hold was refused before the training
        first = self._path.read_bytes()
        loaded = load_model(self._path)
        _same(fitted, loaded, fresh, "loaded")
        again = self._path.with_name("again.pomona")
        loaded.save(again)
        _same(fitted, load_model(again), fresh, "loaded twice")
        _same(fitted, pickle.loads(pickle.dumps(fitted)), fresh, "unpickled")
        _same(fitted, copy.deepcopy(loaded), fresh, "copied")
        _same_parameters(fitted, clone(fitted), "cloned")
        _same_parameters(fitted, _evaluated(repr(fitted)), "as its repr")
        with _full_disk(len(first) // 2):
            try:
                fitted.save(self._path)
                raise AssertionError("a full disk must be told")
            except PomonaError as error:
                in_one_line(error)
        assert self._path.read_bytes() == first, "a failed save must leave the old file"
        assert {path.name for path in self._path.parent.glob("*m*.p*")} <= {"m.pomona"}, (
            "nothing is left beside"
        )
        damaged = bytearray(first)
        for place in random.integers(0, len(first), 3):
            damaged[place] ^= int(random.integers(1, 256))
        self._path.write_bytes(damaged)
        try:
            found = load_model(self._path)
        except PomonaError as error:
            in_one_line(error)
        else:  # blanks between arrays mean nothing
            _same(fitted, found, fresh, "damaged")


_AS_IT_IS = object()


def _odd(name: str, kind: Any, value: Any, random: np.random.Generator) -> Any:
    """Another value of this type, or the same in another form."""
    if name in ("measure", "valid_measure"):
        text = str(random.choice(_MEASURES))
        own = OwnMeasure(above=float(random.choice(_FLOATS)))
        return [text, np.str_(text), pm.measure(text), own][random.integers(4)]
    if name in ("member", "rankers"):
        return _AS_IT_IS
    literals = [
        one
        for part in _parts(kind)
        if typing.get_origin(part) is typing.Literal
        for one in typing.get_args(part)
    ]
    candidates: list[Any] = []
    if isinstance(value, bool):
        candidates += [np.bool_(value), np.bool_(not value)]
    elif isinstance(value, int):
        candidates += [np.int64(value), np.int8(min(value, 100)), np.uint16(value)]
        if name in _SIZED or name == "seed":
            candidates += [value + 1, np.uint64(value + 2)]
    else:
        candidates += [
            *_FLOATS,
            np.float32(0.1),
            np.float64(1 / 3),
            np.float16(0.3),
            Fraction(1, 3),
            np.longdouble("0.1"),
        ]
        candidates += [np.int32(1), 1]
    if name == "hidden":
        candidates = [(), [3], (4, 3), np.array([5, 2]), (np.int64(3),), 0, np.int32(4)]
    elif name == "learning_rate":
        candidates += [np.float32(0.01), 0.003]
    elif name == "monotone":
        candidates = [None, (1, 0, -1, 0), [0, 1, 0, 0], np.array([1, 0, 0, -1])]
    elif name == "interactions":
        candidates = [None, ((0, 1), (2, 3)), [[0, 1], [1, 2, 3]], ([0], (np.int64(1), 2))]
    elif name == "categorical":
        candidates = [None, (), []]
    elif name == "normalize" and isinstance(value, str):
        candidates = [
            None,
            "minmax",
            "standard",
            "rank",
            np.str_("minmax"),
            "global-minmax",
            "global-standard",
        ]
    candidates += [*literals, *(np.str_(one) for one in literals if isinstance(one, str))]
    usable = [one for one in candidates if admits(kind, one)]
    return usable[random.integers(len(usable))] if usable else _AS_IT_IS


def _parts(kind: Any) -> tuple[Any, ...]:
    return (
        typing.get_args(kind)
        if typing.get_origin(kind) is not typing.Literal and typing.get_args(kind)
        else (kind,)
    )


def _evaluated(text: str) -> Any:
    names = {**{name: getattr(pm, name) for name in dir(pm) if name[0] != "_"}, **_measures()}
    return eval(text, {**names, "np": np, "array": np.array, "Fraction": Fraction, "OwnMeasure": OwnMeasure})


def _measures() -> dict[str, type]:
    return {type(one).__name__: type(one) for one in map(pm.measure, _MEASURES)}


def _same(one: Ranker, other: Ranker, fresh: pm.Dataset, how: str) -> None:
    name = type(one).__name__
    assert type(one) is type(other), f"{how}: {type(other).__name__} instead of {name}"
    _same_parameters(one, other, how)
    for attribute in ("n_features_in_", "feature_names_", *one.learnt_names(), *TRAINING):
        before, after = getattr(one, attribute, None), getattr(other, attribute, None)
        assert is_same(before, after), f"{name}, {how}: {attribute} is {after!r:.80}, was {before!r:.80}"
    scores = one.predict(fresh), other.predict(fresh)
    assert scores[0].tobytes() == scores[1].tobytes(), f"{name}, {how}: other scores"
    assert _score(one, fresh) == _score(other, fresh), f"{name}, {how}: another score"


def _score(ranker: Ranker, data: pm.Dataset) -> float | str:
    try:
        return ranker.score(data)
    except PomonaError as error:  # a tool's rule that needs document ids, or other labels
        return in_one_line(error)


def _same_parameters(one: Ranker, other: Ranker, how: str) -> None:
    before, after = one.get_params(deep=False), other.get_params(deep=False)
    assert before.keys() == after.keys()
    for name, value in before.items():
        loaded = after[name]
        told = f"{type(one).__name__}, {how}: {name} is {loaded!r:.80}, was {value!r:.80}"
        assert is_same(value, loaded), told
        assert isinstance(value, np.generic | type(loaded)), told


@contextmanager
def _full_disk(n_bytes: int) -> Iterator[None]:
    """No file of this process can become longer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
