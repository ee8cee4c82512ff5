"""Queries that stand in two parts of the data: what is judged on them was learnt from them.

The id alone says little, as many number the queries of every file from 1: it is the same query if it has the
same documents too. (`audit` finds those that have other ids as well.)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona.data.dataset import Dataset


def shared_query(one: Dataset, other: Dataset) -> str | None:
    """The id of the first query that has the same documents in both; labels are not looked at.

    >>> train = Dataset([[1.0], [2.0], [3.0]], [0, 1, 1], [7, 7, 8])
    >>> shared_query(train, Dataset([[2.0], [1.0]], [0, 0], [7, 7]))
    '7'
    >>> shared_query(train, Dataset([[2.0], [5.0]], [0, 0], [7, 7])) is None
    True
    """
    one, other = one.gathered(), other.gathered()
    places = {str(qid): q for q, qid in enumerate(other.qids.tolist())}
    for q, qid in enumerate(one.qids.tolist()):
        twin = places.get(str(qid))
        if twin is not None and _rows(one, q) == _rows(other, twin):
            return str(qid)
    return None


def warn_of_shared_queries(qids: Sequence[NDArray[Any]], files: Sequence[Path]) -> None:
    """Say it when files that are read as one have query ids in common: ids may start anew in each."""
    if len({ids.dtype.kind for ids in qids}) > 1:
        qids = [ids.astype(np.str_) for ids in qids]
    distinct, counts = np.unique(np.concatenate(qids), return_counts=True)
    if (shared := distinct[counts > 1]).size:
        first, second = [file for ids, file in zip(qids, files, strict=True) if (ids == shared[0]).any()][:2]
        warnings.warn(
            f"query {shared[0]} stands in {first} and in {second}, and is taken as one query "
            f"({shared.size} such): if ids start anew in each file, make them distinct",
            UserWarning,
            stacklevel=2,
        )


def _rows(data: Dataset, query: int) -> list[bytes]:
    rows = data.X[data.query_ptr[query] : data.query_ptr[query + 1]] + np.float32(0)  # −0 is 0
    return sorted(row.tobytes() for row in rows)
