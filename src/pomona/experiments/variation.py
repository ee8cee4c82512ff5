"""What a study changes of a fold: the amount of training data, the labels, the features.

    train_fraction   the first ⌈fraction · n⌉ queries, at least 2, of one random order for each fold and draw
    label_noise      this share of the labels that are learnt from becomes another grade (`with_label_noise`)
    n_features       the first n features of one random order for each draw

So the data of a smaller fraction are part of those of a larger one, and likewise with noise and features. The
test queries stay whole and keep their labels; validation queries stay whole, and learn of the noise unless
`noise_valid` says no.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pomona.data.dataset import Dataset
from pomona.data.folds import Fold
from pomona.data.noise import with_label_noise
from pomona.errors import InputError, UnknownNameError
from pomona.experiments.spec_record import Record, at_least, refused_at

VARIABLES = ("train_fraction", "label_noise", "n_features", "features")
"""What a study can vary of a dataset."""


@dataclass(frozen=True)
class Variation(Record):
    """One variant of a dataset.

    Parameters
    ----------
    train_fraction : the share of the training queries that is learnt from.
    label_noise : the share of their labels that is changed.
    n_features : how many features are left, drawn at random, or all; or `features`, the names of those.
    draw : the seed of all three.
    noise_valid : whether the labels of the validation queries change as well.
    """

    train_fraction: float = 1.0
    label_noise: float = 0.0
    n_features: int | Literal["all"] = "all"
    features: tuple[str, ...] | Literal["all"] = "all"
    draw: int = 0
    noise_valid: bool = True

    def _check(self) -> None:
        with refused_at("train_fraction"):
            if not 0 < self.train_fraction <= 1:
                raise InputError(f"found {self.train_fraction}, expected more than 0 and at most 1")
        with refused_at("label_noise"):
            if not 0 <= self.label_noise <= 1:
                raise InputError(f"found {self.label_noise}, expected a share from 0 to 1")
        with refused_at("n_features"):
            if isinstance(self.n_features, str) and self.n_features != "all":
                raise InputError(f"found {self.n_features!r}, expected a whole number or 'all'")
            if isinstance(self.n_features, int):
                at_least(1, self.n_features)
        with refused_at("features"):
            if isinstance(self.features, str) and self.features != "all":
                raise InputError(f"found {self.features!r}, expected a list of names or 'all'")
            if self.features != "all" and self.n_features != "all":
                raise InputError("n_features is given as well: leave one of them out")
            if (len(set(self.features)) < len(self.features) and self.features != "all") or not self.features:
                raise InputError(f"found {list(self.features)}, expected different names, one at least")
        self._replace("draw", lambda draw: at_least(0, draw))

    @property
    def is_complete(self) -> bool:
        """Whether nothing is changed."""
        return (self.train_fraction, self.label_noise, self.n_features, self.features) == (
            *(1.0, 0.0),
            *("all", "all"),
        )

    def apply(self, fold: Fold, number: int) -> Fold:
        """The fold of this number with everything changed that the variation names."""
        train, valid, test = fold
        if self.train_fraction < 1:
            order = np.random.default_rng([self.draw, number]).permutation(train.n_queries)
            n_queries = max(2, math.ceil(self.train_fraction * train.n_queries - 1e-9))
            train = train.take(np.sort(order[:n_queries]))
        if self.label_noise > 0:
            learnt = [part.y for part in (fold.train, valid) if part is not None]
            noise: Any = {"rate": self.label_noise, "seed": self.draw}
            noise["grades"] = np.unique(np.concatenate(learnt))
            train = with_label_noise(train, **noise)
            if valid is not None and self.noise_valid:
                valid = with_label_noise(valid, **noise)
        columns = self._columns(train)
        if columns is not None:
            train, test = _with_columns(train, columns), _with_columns(test, columns)
            valid = None if valid is None else _with_columns(valid, columns)
        return Fold(train, valid, test)

    def digest(self, whole: str, before: Fold, after: Fold) -> str:
        """A checksum of what `apply` made of a fold that has the checksum `whole`."""
        if self.is_complete:
            return whole
        checksum = hashlib.blake2b(whole.encode(), digest_size=16)
        for one, other in zip(before, after, strict=True):
            if one is not None and other is not None:
                qids = "\n".join(map(str, other.qids.tolist())) if other.n_queries < one.n_queries else ""
                checksum.update(f"{qids}|{','.join(other.feature_names)}|".encode())
                checksum.update(np.ascontiguousarray(other.y).view(np.uint8).data)
        return checksum.hexdigest()

    def _columns(self, data: Dataset) -> NDArray[np.int64] | None:
        """The features that are left, in the order of the data; None for all."""
        if self.features != "all":
            known = {name: j for j, name in enumerate(data.feature_names)}
            if unknown := [name for name in self.features if name not in known]:
                raise InputError(f"the data have no feature {unknown[0]!r}: they are {_shown(list(known))}")
            return np.sort([known[name] for name in self.features])
        if not isinstance(self.n_features, int):
            return None
        if self.n_features > data.n_features:
            raise InputError(f"found n_features = {self.n_features}, the data have {data.n_features}")
        return np.sort(np.random.default_rng(self.draw).permutation(data.n_features)[: self.n_features])


COMPLETE = Variation()
"""Nothing changed."""


def pairs_changed(before: Dataset, after: Dataset) -> tuple[float, float]:
    """The shares of pairs of a query with different labels that noise turned round, and made equal.

    >>> data = Dataset(np.zeros((3, 1)), [2, 1, 0], [1, 1, 1])
    >>> pairs_changed(data, data.replace(y=np.array([0, 1, 0], np.float32)))
    (0.3333333333333333, 0.3333333333333333)
    """
    grades, codes = np.unique([before.y, after.y], return_inverse=True)
    old, new = codes.reshape(2, -1)
    n_grades = len(grades)
    # How many documents of a query went from one grade to another: (queries, before, after).
    counts = np.zeros((before.n_queries, n_grades, n_grades))
    query = np.repeat(np.arange(before.n_queries), np.diff(before.query_ptr))
    np.add.at(counts, (query, old, new), 1)
    n_pairs = turned = equal = 0.0
    for high in range(n_grades):
        for low in range(high):
            above, below = counts[:, high], counts[:, low]
            n_pairs += float((above.sum(axis=1) * below.sum(axis=1)).sum())
            equal += float((above * below).sum())
            # Of the lower one's grades, those above the one that the higher one has now.
            higher = below.sum(axis=1, keepdims=True) - np.cumsum(below, axis=1)
            turned += float((above * higher).sum())
    return (turned / n_pairs, equal / n_pairs) if n_pairs else (0.0, 0.0)


def with_chosen_features(
    fold: Fold, features: tuple[str, ...] | None, without: tuple[str, ...] | None
) -> Fold:
    """The fold with these features alone, or with all but some; both None: with all."""
    names = fold.train.feature_names
    for name in (*(features or ()), *(without or ())):
        if name not in names:
            raise UnknownNameError("feature of the data", name, names)
    kept = [j for j, name in enumerate(names) if (features is None or name in features)]
    kept = [j for j in kept if names[j] not in (without or ())]
    if not kept:
        raise InputError(f"without {', '.join(without or ())} no feature is left")
    if len(kept) == len(names):
        return fold
    columns = np.array(kept)
    valid = None if fold.valid is None else _with_columns(fold.valid, columns)
    return Fold(_with_columns(fold.train, columns), valid, _with_columns(fold.test, columns))


def _with_columns(data: Dataset, columns: NDArray[np.int64]) -> Dataset:
    names = tuple(data.feature_names[j] for j in columns)
    return data.replace(X=np.ascontiguousarray(data.X[:, columns]), feature_names=names)


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
