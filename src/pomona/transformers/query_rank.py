"""The rank of a feature inside its query: what a user sees is a list, not a scale."""

from __future__ import annotations

from pomona.data.normalize import QueryRankScaler


class QueryRank(QueryRankScaler):
    """Replace every feature by its rank inside the query, from 0 (lowest) to 1; ties share their mean.

    `qid` is routed to `transform`. In a `FeatureUnion` with the features themselves, the ranks are added.

    >>> QueryRank().fit_transform([[30.0], [9.0], [1.0], [2.0]], qid=[7, 8, 7, 7]).ravel().tolist()
    [1.0, 0.0, 0.0, 0.5]
    """
