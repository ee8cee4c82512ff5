"""The difference of a feature to the mean of its query: is this hotel dear, among those shown?"""

from __future__ import annotations

import numpy as np

from pomona._types import Offsets
from pomona.data.normalize import QueryScaler, Table


class QueryDifference(QueryScaler):
    """Replace every feature by its difference to the query's mean; undefined values stay undefined.

    `qid` is routed to `transform`. The mean is of the defined values.

    >>> QueryDifference().fit_transform([[3.0], [9.0], [1.0]], qid=[7, 8, 7]).ravel().tolist()
    [1.0, 0.0, -1.0]
    """

    def scale_queries(self, X: Table, query_ptr: Offsets, out: Table) -> None:
        """Write the differences to `out`; the rows of a query stand together."""
        defined = ~np.isnan(X)
        starts, lengths = query_ptr[:-1], np.diff(query_ptr)
        sums = np.add.reduceat(np.where(defined, X, 0.0).astype(np.float64), starts, axis=0)
        counts = np.add.reduceat(defined.astype(np.int64), starts, axis=0)
        out[:] = X - np.repeat(sums / np.maximum(counts, 1), lengths, axis=0)
