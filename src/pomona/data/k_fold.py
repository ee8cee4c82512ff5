"""Seeded k-fold cross-validation by whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

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
