"""Seeded k-fold cross-validation by whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._types import Offsets
from pomona.data.columns import checked_query_ids
from pomona.data.dataset import Dataset
from pomona.errors import InputError


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
        """Yield the rows of the training and of the test queries, k times; of a dataset, as they came."""
        ids = groups if groups is not None else qid
        if isinstance(X, Dataset):
            yield from self._split(X.qid if ids is None else checked_query_ids(ids, X.n_docs))
        elif ids is None:
            raise InputError("QueryKFold needs the query ids: split(X, groups=qid)")
        else:
            n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
            yield from self._split(checked_query_ids(ids, n_rows))

    def split_queries(self, data: Dataset) -> Iterator[tuple[Offsets, Offsets]]:
        """Yield the positions of the training and of the test queries, for `data.take`.

        >>> data = Dataset(np.zeros((4, 1)), np.zeros(4), [7, 8, 7, 8])
        >>> [data.take(test).qids.tolist() for _, test in QueryKFold(2).split_queries(data)]
        [[7], [8]]
        """
        yield from self._split(data.qids)

    def get_metadata_routing(self) -> Any:
        """Tell scikit-learn that splitting wants `groups` or `qid`."""
        from pomona._sklearn import MetadataRequest

        request = MetadataRequest(owner=self)
        request.split.add_request(param="groups", alias=True)
        request.split.add_request(param="qid", alias=True)
        return request

    def _split(self, ids: NDArray[Any]) -> Iterator[tuple[Offsets, Offsets]]:
        """The places of training and of test ids, k times; equal ids go together."""
        distinct, query = np.unique(ids, return_inverse=True)
        if len(distinct) < self.n_splits:
            raise InputError(f"{len(distinct)} queries cannot be split into {self.n_splits} folds")
        order = np.arange(len(distinct))
        if self.shuffle:
            order = np.random.default_rng(self.seed).permutation(len(distinct))
        for chosen in np.array_split(order, self.n_splits):
            in_test = np.isin(query, chosen)
            yield np.flatnonzero(~in_test), np.flatnonzero(in_test)

    def __repr__(self) -> str:
        return f"QueryKFold(n_splits={self.n_splits}, shuffle={self.shuffle}, seed={self.seed})"
