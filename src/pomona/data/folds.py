"""Training, validation and test data: fold directories as they are published, and seeded folds of queries.

Three layouts of a directory are understood, all with plain or compressed files:

    Fold1 … Fold5, each with train, vali and test    (MSLR, LETOR; also trainingset, validationset, testset)
    S1 … S5, the parts that the folds are made of    (LETOR: fold k trains on S(k), S(k+1) and S(k+2),
                                                      validates on S(k+3), tests on S(k+4), modulo 5)
    one train, vali and test file                    (Yahoo, Istella; validation may be absent)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from pomona._types import Offsets
from pomona.data.dataset import Dataset, checked_query_ids
from pomona.data.table import is_table, read_table
from pomona.errors import InputError

_COMPRESSION = (".gz", ".bz2", ".xz", ".lzma", ".zst")
_QUERY_FILE = (".query", ".group")
# Beside the data stand files that are no data: query sizes, weights, names, notes, other tools' caches.
_NO_DATA = (*_QUERY_FILE, ".weight", ".init", ".position", ".json", ".md", ".bin", ".conf", ".sh", ".py")
_ROLES = {
    "train": "train",
    "training": "train",
    "trainingset": "train",
    "vali": "valid",
    "valid": "valid",
    "validation": "valid",
    "validationset": "valid",
    "val": "valid",
    "dev": "valid",
    "test": "test",
    "testing": "test",
    "testset": "test",
}
N_PARTS = 5


class Fold(NamedTuple):
    """One division of the data; `valid` is None when the collection has none."""

    train: Dataset
    valid: Dataset | None
    test: Dataset


@dataclass(frozen=True, slots=True)
class FoldFiles:
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
    ) -> None:
        self.files, self.part_files, self.n_features = tuple(files), parts, n_features

    def __len__(self) -> int:
        return len(self.files)

    @overload
    def __getitem__(self, index: int) -> Fold: ...

    @overload
    def __getitem__(self, index: slice) -> Folds: ...

    def __getitem__(self, index: int | slice) -> Fold | Folds:
        """Fold `index`, counted from 0."""
        if isinstance(index, slice):
            return Folds(self.files[index], self.part_files, n_features=self.n_features)
        files = self.files[index]
        train, test = self._read(files.train), self._read(files.test)
        valid = self._read(files.valid) if files.valid else None
        width = max(part.n_features for part in (train, valid, test) if part is not None)
        widened_valid = None if valid is None else _widened(valid, width)
        return Fold(_widened(train, width), widened_valid, _widened(test, width))

    def parts(self, *, undefined: float = 0.0) -> dict[str, Dataset]:
        """Every document of the collection once, in the parts that do not overlap."""
        parts = {name: self._read(paths, undefined=undefined) for name, paths in self.part_files.items()}
        width = max(part.n_features for part in parts.values())
        return {name: _widened(part, width, undefined) for name, part in parts.items()}

    def _read(self, paths: tuple[Path, ...], *, undefined: float = 0.0) -> Dataset:
        return read_part(paths, n_features=self.n_features, undefined=undefined)


def find_folds(directory: str | Path, *, prefix: str = "", n_features: int | None = None) -> Folds:
    """The folds that lie in a directory, in whichever layout; `prefix` picks files among several sets.

    Nothing is read yet.
    """
    root = Path(directory)
    if not root.is_dir():
        raise InputError("no such directory", directory)
    if numbered := _numbered(root, r"fold[ _-]?(\d+)"):
        folds = [_files_by_role(path, prefix) for path in numbered]
        # Each fold holds all documents, so the first one tells the parts.
        return Folds(folds, _parts_of_fold(folds[0]), n_features=n_features)
    sets = _numbered(root, r"s(\d+)(?:\.txt)?(?:\.\w+)?")
    if len(sets) == N_PARTS:
        parts = {f"S{number}": (path,) for number, path in enumerate(sets, start=1)}
        return Folds(_rotated(sets), parts, n_features=n_features)
    fold = _files_by_role(root, prefix)
    return Folds([fold], _parts_of_fold(fold), n_features=n_features)


def read_part(
    paths: str | Path | Sequence[str | Path], *, n_features: int | None = None, undefined: float = 0.0
) -> Dataset:
    """Read the files of one part, whatever their format, with the query sizes and names that lie beside.

    `train.query` (or `.group`) beside `train` holds the number of rows of each query, as LightGBM and
    XGBoost have it; `X.features.json` beside `X.train` names the features by their numbers.
    """
    files = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if any(is_table(file) for file in files):
        if len(files) > 1:
            raise InputError("a part in several pieces must be in LETOR format", files[0])
        return read_table(files[0])
    from pomona.data.letor import read_letor

    for file in files:
        if not file.is_file():
            raise InputError("no such file", file)
    query_files = [found for found in map(_query_file, files) if found is not None]
    data = read_letor(
        files, n_features=n_features, undefined=undefined, cache=True, query_file=query_files or None
    )
    names = _feature_names(files[0], data.n_features)
    return data if names is None else data.replace(feature_names=names)


class QueryKFold:
    """Seeded k-fold cross-validation by whole queries, as scikit-learn wants its splitters.

    `split(X, y, groups=qid)` yields rows. Under metadata routing the splitter takes its groups from `qid`
    too, so that one `params={"qid": qid}` serves splitting, fitting and scoring. Which queries stand
    together depends on their ids and the seed, not on the order of the rows.

    >>> splitter = QueryKFold(n_splits=2, seed=0)
    >>> [test.tolist() for _, test in splitter.split(np.zeros((4, 1)), groups=[7, 8, 7, 8])]
    [[0, 2], [1, 3]]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, seed: int = 0) -> None:
        if n_splits < 2:
            raise InputError(f"n_splits must be 2 at least, found {n_splits}")
        self.n_splits, self.shuffle, self.seed = n_splits, shuffle, seed

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:
        """The number of folds."""
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Iterator[tuple[Offsets, Offsets]]:
        """Yield the rows of the training and of the test queries, k times."""
        ids = groups if groups is not None else qid
        if ids is None:
            if not isinstance(X, Dataset):
                raise InputError("QueryKFold needs the query ids: split(X, groups=qid)")
            ids = X.qid
        distinct, query_of_row = np.unique(checked_query_ids(ids), return_inverse=True)
        for in_test in self._test_masks(len(distinct)):
            rows_in_test = in_test[query_of_row]
            yield np.flatnonzero(~rows_in_test), np.flatnonzero(rows_in_test)

    def split_queries(self, data: Dataset) -> Iterator[tuple[Offsets, Offsets]]:
        """Yield the positions of the training and of the test queries, for `data.take`.

        >>> data = Dataset(np.zeros((4, 1)), np.zeros(4), [7, 8, 7, 8])
        >>> [data.take(test).qids.tolist() for _, test in QueryKFold(2).split_queries(data)]
        [[7], [8]]
        """
        place = np.unique(data.qids, return_inverse=True)[1]
        for in_test in self._test_masks(int(place.max(initial=-1)) + 1):
            queries_in_test = in_test[place]
            yield np.flatnonzero(~queries_in_test), np.flatnonzero(queries_in_test)

    def get_metadata_routing(self) -> Any:
        """Tell scikit-learn that splitting wants `groups` or `qid`."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.split.add_request(param="groups", alias=True)
        request.split.add_request(param="qid", alias=True)
        return request

    def _test_masks(self, n_queries: int) -> Iterator[np.ndarray[Any, np.dtype[np.bool_]]]:
        if n_queries < self.n_splits:
            raise InputError(f"{n_queries} queries cannot be split into {self.n_splits} folds")
        order = np.arange(n_queries)
        if self.shuffle:
            order = np.random.default_rng(self.seed).permutation(n_queries)
        for chosen in np.array_split(order, self.n_splits):
            mask = np.zeros(n_queries, bool)
            mask[chosen] = True
            yield mask

    def __repr__(self) -> str:
        return f"QueryKFold(n_splits={self.n_splits}, shuffle={self.shuffle}, seed={self.seed})"


def _rotated(sets: Sequence[Path]) -> list[FoldFiles]:
    """LETOR's five folds of five parts."""
    folds = []
    for k in range(N_PARTS):
        turned = [sets[(k + step) % N_PARTS] for step in range(N_PARTS)]
        folds.append(FoldFiles(tuple(turned[:3]), (turned[3],), (turned[4],)))
    return folds


def _numbered(root: Path, pattern: str) -> list[Path]:
    """The entries whose whole name matches, by their number; a plain file hides its compressed twin."""
    found: dict[int, Path] = {}
    for path in sorted(root.iterdir(), key=lambda path: len(path.name)):
        if match := re.fullmatch(pattern, path.name.lower()):
            found.setdefault(int(match[1]), path)
    return [found[number] for number in sorted(found)]


def _plain_name(path: Path) -> str:
    """The file's name without its compression suffix."""
    return path.stem if path.suffix.lower() in _COMPRESSION else path.name


def _files_by_role(directory: Path, prefix: str) -> FoldFiles:
    """The train, vali and test files of a directory, told by a word of their names."""
    found: dict[str, Path] = {}
    for path in sorted(directory.iterdir(), key=lambda path: (len(path.name), path.name)):
        name = _plain_name(path).lower()
        if not path.is_file() or name.endswith(_NO_DATA) or not name.startswith(prefix.lower()):
            continue
        roles = {_ROLES[word] for word in re.split(r"[._-]", name[len(prefix) :]) if word in _ROLES}
        if len(roles) == 1:
            role = roles.pop()
            other = found.setdefault(role, path)
            if _plain_name(other).lower() != name:
                raise InputError(
                    f"two {role} files, {other.name} and {path.name}: name one of them", directory
                )
    if missing := [role for role in ("train", "test") if role not in found]:
        raise InputError(
            f"no {' and no '.join(missing)} file; expected train, vali and test files,"
            " folders Fold1 … Fold5 of them, or the parts S1 … S5",
            directory,
        )
    valid = (found["valid"],) if "valid" in found else ()
    return FoldFiles((found["train"],), valid, (found["test"],))


def _parts_of_fold(fold: FoldFiles) -> dict[str, tuple[Path, ...]]:
    parts = {"train": fold.train, "valid": fold.valid, "test": fold.test}
    return {name: paths for name, paths in parts.items() if paths}


def _query_file(path: Path) -> Path | None:
    beside = (path.with_name(_plain_name(path) + suffix) for suffix in _QUERY_FILE)
    return next((candidate for candidate in beside if candidate.is_file()), None)


def _feature_names(path: Path, n_features: int) -> list[str] | None:
    """The names in `X.features.json` beside `X.train`, `{"1": "bm25", …}`, for the features it names."""
    file = path.with_name(_plain_name(path).rpartition(".")[0] + ".features.json")
    if not file.is_file():
        return None
    names = json.loads(file.read_text(encoding="utf-8"))
    return [str(names.get(str(number), f"f{number}")) for number in range(1, n_features + 1)]


def _widened(part: Dataset, width: int, undefined: float = 0.0) -> Dataset:
    """Add the last features of a sparse collection where they happen not to occur in this part."""
    if part.n_features == width:
        return part
    X = np.full((part.n_docs, width), undefined, np.float32)
    X[:, : part.n_features] = part.X
    return part.replace(X=X)
