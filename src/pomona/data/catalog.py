"""The public collections by name: where each is published, how it is laid out, and how to load it.

Collections lie under the directory that `POMONA_DATA` names (or the one the operating system gives to an
application's data). Nothing is downloaded here: most of these collections ask their users to accept a
licence first.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from pomona.data.folds import Fold, Folds, find_folds
from pomona.errors import InputError, MissingDataError, PomonaError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Collection:
    """One public collection; `collections.toml` says what its fields mean."""

    name: str
    title: str
    page: str
    places: tuple[str, ...]
    layout: str
    n_features: int
    max_label: int
    description: str
    prefix: str = ""

    def directory(self) -> Path | None:
        """Where it lies, or None when it is not here."""
        for candidate in self._candidates():
            try:
                find_folds(candidate, prefix=self.prefix)
            except InputError:
                continue
            return candidate
        return None

    def folds(self) -> Folds:
        """Its folds, or an error that says where to get it and where to put it."""
        directory = self.directory()
        if directory is None:
            raise MissingDataError(
                f"{self.title} is not here: get it from {self.page} and put {self.layout}"
                f" into {data_directory() / self.places[0]} (or set POMONA_DATA to where your data lie)"
            )
        return find_folds(directory, prefix=self.prefix, n_features=self.n_features)

    def _candidates(self) -> Iterator[Path]:
        for place in self.places:
            path = data_directory()
            for name in Path(place).parts:
                path = _in_any_case(path, name)
            yield path


_RECORDS = tomllib.loads(Path(__file__).with_name("collections.toml").read_text(encoding="utf-8"))

COLLECTIONS = {
    name: Collection(name, **{**record, "places": tuple(record["places"])})
    for name, record in _RECORDS.items()
}


def data_directory() -> Path:
    """`POMONA_DATA`, or the place the operating system gives to an application's data."""
    return Path(os.environ.get("POMONA_DATA") or platformdirs.user_data_dir("pomona", appauthor=False))


def available() -> list[tuple[Collection, bool]]:
    """Every collection, and whether it is here."""
    return [(collection, collection.directory() is not None) for collection in COLLECTIONS.values()]


def load(name: str | Path, fold: int = 1) -> Fold:
    """Training, validation and test data of a collection's fold (from 1), or of a fold directory.

    `valid` is None where a collection has no validation part.
    """
    folds = load_folds(name)
    if not 1 <= fold <= len(folds):
        raise InputError(f"{name} has folds 1 to {len(folds)}, found {fold}")
    return folds[fold - 1]


def load_folds(name: str | os.PathLike[str], *, columns: Mapping[str, Any] | None = None) -> Folds:
    """All folds of a collection or of a directory; each is read when it is asked for.

    `columns` are `label`, `qid` and `doc_id` of the tables in a directory.
    """
    if is_collection(name):
        return COLLECTIONS[str(name).lower()].folds()
    if Path(name).is_dir():
        return find_folds(Path(name), columns=columns)
    if Path(name).is_file():
        raise InputError("this is one file, expected a fold directory or a collection's name", name)
    raise no_such_data(name)


def is_collection(name: str | os.PathLike[str]) -> bool:
    """Whether a name is that of a collection; a file or directory of this name comes first.

    A directory with a comparison of the collection, which `compare` makes under that name, does not.
    """
    path = Path(name)
    is_there = path.exists() and not (path / "store.sqlite").exists()
    return str(name).lower() in COLLECTIONS and not is_there


def no_such_data(name: str | os.PathLike[str]) -> PomonaError:
    """What to say of a name that is neither a file nor a directory nor a collection."""
    text = os.fspath(name)
    path = Path(text)
    if path.exists() and not path.is_dir() and not path.is_file():
        return InputError("found a pipe or a device, expected a file: write what it gives into one", text)
    near = difflib.get_close_matches(text.lower(), COLLECTIONS, n=3, cutoff=0.6)
    if near and not any(sign in text for sign in "./\\"):
        return UnknownNameError("collection, directory or file", text, near)
    return InputError("no such file or directory", text)


def _in_any_case(parent: Path, name: str) -> Path:
    """The entry of this name, spelt in capitals or not, as archives unpack differently."""
    exact = parent / name
    if exact.exists() or not parent.is_dir():
        return exact
    return next((path for path in sorted(parent.iterdir()) if path.name.lower() == name.lower()), exact)
