"""Scores of several rankers on a common scale inside each query, so that they can be added."""

from __future__ import annotations

import numpy as np

from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.data.normalize import QueryMinMaxScaler, QueryRankScaler, QueryStandardScaler

SCALERS = {"standard": QueryStandardScaler, "minmax": QueryMinMaxScaler, "rank": QueryRankScaler}
SCALES = (*SCALERS, "none")
"""`none` leaves the scores as they are."""


def on_query_scale(outputs: Values, data: Dataset, scale: str) -> Values:
    """Each column of (n_docs, n_rankers) scores on this scale, one of `SCALES`, inside each query.

    >>> data = Dataset([[0.0], [0.0], [0.0]], [0, 1, 2], [7, 7, 7])
    >>> on_query_scale(np.array([[10.0], [30.0], [40.0]]), data, "rank").ravel().tolist()
    [0.0, 0.5, 1.0]
    """
    if scale == "none":
        return outputs
    query = np.repeat(np.arange(data.n_queries), np.diff(data.query_ptr))
    scaled = np.empty_like(outputs)
    for k, column in enumerate(outputs.T):
        # Sorted first: rounding must not depend on the order in which the documents came.
        order = np.lexsort((column, query))
        rescaled = SCALERS[scale]().fit_transform(column[order, None], qid=query)
        scaled[order, k] = rescaled[:, 0]
    return scaled
