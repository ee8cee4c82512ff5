"""Training, validation and test data as they are published: directories of folds.

Three layouts of a directory are understood, all with plain or compressed files:

    Fold1 … Fold5, each with train, vali and test    (MSLR, LETOR; also trainingset, validationset, testset)
    S1 … S5, the parts that the folds are made of    (LETOR: fold k trains on S(k), S(k+1) and S(k+2),
                                                      validates on S(k+3), tests on S(k+4), modulo 5)
    one train, vali and test file                    (Yahoo, Istella; validation may be absent)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

from pomona.data.compression import plain_name
from pomona.data.dataset import Dataset
from pomona.data.letor import ABSENT
from pomona.data.read import QUERY_FILE, read
from pomona.data.table import is_table
from pomona.errors import InputError

# Beside the data stand files that are no data: query sizes, weights, names, notes, other tools' caches.
_NO_DATA = (*QUERY_FILE, ".weight", ".init", ".position", ".json", ".md", ".bin", ".conf", ".sh", ".py")
_ROLES = {
    **dict.fromkeys(("train", "training", "trainingset"), "train"),
    **dict.fromkeys(("vali", "valid", "validation", "validationset", "val", "dev"), "valid"),
    **dict.fromkeys(("test", "testing", "testset"), "test"),
}
N_PARTS = 5


class Fold(NamedTuple):
    """One division of the data; `valid` is None when the collection has none."""

    train: Dataset
    valid: Dataset | None
    test: Dataset


class FoldFiles(NamedTuple):
    """The files of one fold; more than one when a part is stored in pieces."""

    train: tuple[Path, ...]
    valid: tuple[Path, ...]
    test: tuple[Path, ...]


class Folds(Sequence[Fold]):
    """The folds of a directory; a fold's files are read when it is asked for."""

    def __init__(
        self,
        files: Sequence[FoldFiles],
        parts: Mapping[str, tuple[Path, ...]],
        *,
        n_features: int | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> None:
        self.files, self.part_files = tuple(files), parts
        self.n_features, self.columns = n_features, dict(columns or {})

    def __len__(self) -> int:
        return len(self.files)

    @overload
    def __getitem__(self, index: int) -> Fold: ...

    @overload
    def __getitem__(self, index: slice) -> Folds: ...

    def __getitem__(self, index: int | slice) -> Fold | Folds:
        """Fold `index`, counted from 0."""
        if isinstance(index, slice):
            return Folds(self.files[index], self.part_files, n_features=self.n_features, columns=self.columns)
        return self.fold(index)

    def fold(self, index: int, *, undefined: float = ABSENT) -> Fold:
        """Fold `index`, counted from 0; `undefined` is the value of what a LETOR line leaves out."""
        parts = self._read(_parts_of_fold(self.files[index]), undefined=undefined)
        return Fold(parts["train"], parts.get("valid"), parts["test"])

    def parts(self, *, undefined: float = ABSENT) -> dict[str, Dataset]:
        """Every document of the collection once, in the parts that do not overlap."""
        return self._read(self.part_files, undefined=undefined)

    def _read(self, files: Mapping[str, tuple[Path, ...]], *, undefined: float) -> dict[str, Dataset]:
        parts = {
            name: read(paths, **self.columns, n_features=self.n_features, undefined=undefined, cache=True)
            for name, paths in files.items()
        }
        if any(is_table(path) for paths in files.values() for path in paths):
            return _aligned(parts, files)
        widest = max(parts.values(), key=lambda part: part.n_features)
        wide = {name: part.widened(widest.n_features, undefined) for name, part in parts.items()}
        return {name: part.replace(feature_names=widest.feature_names) for name, part in wide.items()}


def find_folds(directory: str | Path, *, prefix: str = "", **options: Any) -> Folds:
    """The folds that lie in a directory, in whichever layout; `prefix` picks files among several sets.

    Nothing is read yet. `options` are those of `Folds`.
    """
    root = Path(directory)
    if not root.is_dir():
        raise InputError("no such directory", directory)
    if numbered := _numbered(root, r"fold[ _-]?(\d+)"):
        folds = [_files_by_role(path, prefix) for path in numbered]
        # Each fold holds all documents, so the first one tells the parts.
        return Folds(folds, _parts_of_fold(folds[0]), **options)
    sets = _numbered(root, r"s(\d+)(?:\.\w+){0,2}")
    if len(sets) == N_PARTS:
        parts = {f"S{number}": (path,) for number, path in enumerate(sets, start=1)}
        return Folds(_rotated(sets), parts, **options)
    fold = _files_by_role(root, prefix)
    return Folds([fold], _parts_of_fold(fold), **options)


def _rotated(sets: Sequence[Path]) -> list[FoldFiles]:
    """LETOR's five folds of five parts."""
    turned = [(*sets[k:], *sets[:k]) for k in range(N_PARTS)]
    return [FoldFiles(one[:3], one[3:4], one[4:]) for one in turned]


def _numbered(root: Path, pattern: str) -> list[Path]:
    """The entries whose whole name matches, by their number; a plain file hides its compressed twin."""
    paths: dict[int, Path] = {}
    for path in sorted(root.iterdir(), key=lambda path: len(path.name)):
        if match := re.fullmatch(pattern, path.name.lower()):
            paths.setdefault(int(match[1]), path)
    return [paths[number] for number in sorted(paths)]


def _files_by_role(directory: Path, prefix: str) -> FoldFiles:
    """The train, vali and test files of a directory, told by a word of their names."""
    files: dict[str, Path] = {}
    for path in sorted(directory.iterdir(), key=lambda path: (len(path.name), path.name)):
        name = plain_name(path).lower()
        if not path.is_file() or name.endswith(_NO_DATA) or not name.startswith(prefix.lower()):
            continue
        roles = {_ROLES[word] for word in re.split(r"[._-]", name[len(prefix) :]) if word in _ROLES}
        if len(roles) == 1:
            role = roles.pop()
            other = files.setdefault(role, path)
            if plain_name(other).lower() != name:
                raise InputError(
                    f"two {role} files, {other.name} and {path.name}: name one of them", directory
                )
    if missing := [role for role in ("train", "test") if role not in files]:
        raise InputError(
            f"no {' and no '.join(missing)} file; expected train, vali and test files,"
            " folders Fold1 … Fold5 of them, or the parts S1 … S5",
            directory,
        )
    valid = (files["valid"],) if "valid" in files else ()
    return FoldFiles((files["train"],), valid, (files["test"],))


def _parts_of_fold(fold: FoldFiles) -> dict[str, tuple[Path, ...]]:
    return {name: paths for name, paths in fold._asdict().items() if paths}


def _aligned(parts: Mapping[str, Dataset], files: Mapping[str, tuple[Path, ...]]) -> dict[str, Dataset]:
    """The parts with the features of the first of them, in its order; other features are refused."""
    reference = next(iter(parts))
    names, aligned = parts[reference].feature_names, {}
    for name, part in parts.items():
        try:
            aligned[name] = part.with_features(names)
        except InputError as error:
            raise InputError(
                f"the {name} data beside the {reference} data: {error}", files[name][0]
            ) from None
    return aligned
