"""Which queries a search learns from, stops by and judges by: no model has seen the queries that judge it.

Without validation data the queries are cut into K folds. Each is judged once, by models that learnt from the
others but one, by which they stopped: of 5 folds 3 teach, 1 stops, 1 judges (the way of the LETOR folds).
With validation data everything is learnt from the training queries; one half of the validation queries stops,
the other half judges, and then the other way round. One more row, `final`, learns from all that may be learnt
from but one fold; it judges nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._arrays import read_arrays, write_arrays
from pomona.data.dataset import Dataset
from pomona.data.folds import Fold
from pomona.data.text import TextColumn
from pomona.errors import InputError
from pomona.experiments.source import FoldSource, numbered, teaches

LEARN, STOP, JUDGE = 1, 2, 3
_KIND = "search"
_SEARCH = "the search for the best ranker"
_FILE = "data.pomona"


@dataclass(frozen=True, eq=False)
class Plan:
    """All queries, and what each does in each fold: LEARN, STOP, JUDGE or (0) nothing.

    roles : (n_folds + 1, n_queries); the last row is `final`.
    """

    data: Dataset
    roles: NDArray[np.int8]

    @classmethod
    def of(cls, train: Dataset, valid: Dataset | None, n_folds: int, seed: int) -> Plan:
        """By cross-validation, or by the validation queries, where there are some."""
        random = np.random.default_rng(seed)
        if valid is None:
            return cls(numbered([train], _SEARCH), _crossed(train, n_folds, random))
        if valid.n_queries < 2:
            raise InputError(
                f"found {valid.n_queries} validation query, expected 2 at least (one to stop by, one to "
                "judge by): leave valid out, and queries are held out in turn"
            )
        half = np.where(_spread(valid, 2, random) == 0, STOP, JUDGE)
        of_valid = np.stack([half, STOP + JUDGE - half, np.full(len(half), STOP)])
        learning = np.full((3, train.n_queries), LEARN)
        roles = np.concatenate([learning, of_valid], axis=1).astype(np.int8)
        return cls(numbered([train, valid], _SEARCH), roles)

    @property
    def n_folds(self) -> int:
        """How many folds judge."""
        return len(self.roles) - 1

    @property
    def final(self) -> int:
        """The number of the row that learns from the most, and judges nothing."""
        return self.n_folds

    def judged(self, folds: list[int]) -> NDArray[np.intp]:
        """The queries that these folds judge, fold by fold."""
        return np.concatenate([np.flatnonzero(self.roles[fold] == JUDGE) for fold in folds])

    @property
    def n_learning_docs(self) -> int:
        """How many documents a fold learns from."""
        return int(np.diff(self.data.query_ptr)[self.roles[0] == LEARN].sum())

    @property
    def digest(self) -> str:
        """A checksum of data and roles."""
        digest = hashlib.blake2b(self.data.fingerprint().encode(), digest_size=12)
        digest.update(np.ascontiguousarray(self.roles).view(np.uint8).data)
        return digest.hexdigest()

    def write(self, directory: Path) -> Path:
        """Put it where other processes read it."""
        data = self.data
        arrays: dict[str, NDArray[Any]] = {"X": data.X, "y": data.y, "query_ptr": data.query_ptr}
        if data.doc_ids is not None:
            arrays |= {"ids": data.doc_ids.buffer, "id_offsets": data.doc_ids.offsets}
        header = {"feature_names": list(data.feature_names)}
        write_arrays(directory / _FILE, _KIND, header, {**arrays, "roles": self.roles})
        return directory / _FILE


@lru_cache(maxsize=1)
def _read(path: str, digest: str) -> Plan:
    """The plan of a file; the digest only tells it from another under the same name."""
    header, arrays = read_arrays(Path(path), _KIND, mapped=True)
    ids = TextColumn(arrays["ids"], arrays["id_offsets"]) if "ids" in arrays else None
    data = Dataset.from_parts(
        arrays["X"],
        arrays["y"],
        arrays["query_ptr"],
        np.arange(len(arrays["query_ptr"]) - 1),
        doc_ids=ids,
        feature_names=header["feature_names"],
    )
    return Plan(data, arrays["roles"])


@dataclass(frozen=True)
class PlanSource(FoldSource):
    """A fold of a plan, for a process of its own: the queries that judge are its test queries.

    path, digest : of the plan.
    share : of the queries that are learnt from.
    """

    path: str = ""
    digest: str = ""
    share: float = 1.0

    @property
    def data_digest(self) -> str:
        """A name for what is learnt from."""
        return f"{self.digest}-{self.fold}-{self.share:g}"

    def load_with_digest(self) -> tuple[Fold, str]:
        """The fold, and the name of what is learnt from."""
        plan = _read(self.path, self.digest)
        roles = plan.roles[self.fold]
        learning, stopping = np.flatnonzero(roles == LEARN), np.flatnonzero(roles == STOP)
        if self.share < 1:
            n = max(2, round(self.share * len(learning)))
            learning = np.sort(np.random.default_rng(self.fold).permutation(learning)[:n])
        judging = np.flatnonzero(roles == JUDGE)
        parts = (plan.data.take(one) for one in (learning, stopping, judging if len(judging) else stopping))
        return Fold(*parts), self.data_digest


def _crossed(train: Dataset, n_folds: int, random: np.random.Generator) -> NDArray[np.int8]:
    n_folds = min(n_folds, train.n_queries)
    if n_folds < 3:
        raise InputError(
            f"found {train.n_queries} queries for {n_folds} folds, expected 3 at least (to learn from, to "
            "stop by and to judge by): give more queries or folds, or validation data"
        )
    fold_of_query = _spread(train, n_folds, random)
    roles = np.full((n_folds + 1, train.n_queries), LEARN, np.int8)
    for fold in range(n_folds):
        roles[fold, fold_of_query == (fold + 1) % n_folds] = STOP
        roles[fold, fold_of_query == fold] = JUDGE
    roles[n_folds, fold_of_query == 0] = STOP
    return roles


def _spread(data: Dataset, n_parts: int, random: np.random.Generator) -> NDArray[np.int64]:
    """The part of each query, at random; those whose labels differ are spread over the parts first."""
    order = random.permutation(data.n_queries)
    order = order[np.argsort(~teaches(data)[order], kind="stable")]
    part = np.empty(data.n_queries, np.int64)
    part[order] = np.arange(data.n_queries) % n_parts
    return part
