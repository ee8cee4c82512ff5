"""Query-level normalization: each feature is put on a common scale inside each query.

    min–max    x' = (x − min) / (max − min)        as the LETOR collections were made (Qin et al. 2010)
    standard   x' = (x − mean) / deviation         population deviation
    rank       x' = (rank − 1) / (n − 1)           ties share their mean rank

A feature that is constant in a query becomes 0 there. NaN is ignored, and stays NaN. Linear, neural and
margin methods need this; trees do not care. Nothing is learnt from the training data, so the scalers
have no state; they need the query ids, which scikit-learn routes to them as `qid`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._jit import kernel, over_chunks
from pomona._sklearn import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, validate_data
from pomona._types import Offsets
from pomona.data.categories import refuse_categories
from pomona.data.columns import checked_query_ids
from pomona.data.dataset import Dataset
from pomona.data.rows import gather, read_only
from pomona.errors import InputError, UnknownNameError

Table = NDArray[np.floating]


@kernel
def _min_max(first: int, last: int, X: Table, query_ptr: Offsets, out: Table) -> None:
    # X, out: (n_docs, n_features), the rows of a query together
    n_features = X.shape[1]
    low, high = np.empty(n_features), np.empty(n_features)
    for q in range(first, last):
        low[:], high[:] = np.inf, -np.inf
        for i in range(query_ptr[q], query_ptr[q + 1]):
            for j in range(n_features):
                x = np.float64(X[i, j])
                if x < low[j]:
                    low[j] = x
                if x > high[j]:
                    high[j] = x
        for i in range(query_ptr[q], query_ptr[q + 1]):
            for j in range(n_features):
                x = np.float64(X[i, j])
                if np.isnan(x):
                    out[i, j] = x
                else:
                    out[i, j] = (x - low[j]) / (high[j] - low[j]) if high[j] > low[j] else 0.0


@kernel
def _add(total: Table, lost: Table, j: int, x: float) -> None:
    """Add to a sum, and what rounding took from it to `lost` (Knuth's exact difference)."""
    rounded = total[j] + x
    part = rounded - total[j]
    lost[j] += (total[j] - (rounded - part)) + (x - part)
    total[j] = rounded


@kernel
def _sum(total: float, lost: float) -> float:
    return total + lost if np.isfinite(lost) else total


@kernel
def _standard(first: int, last: int, X: Table, query_ptr: Offsets, out: Table) -> None:
    # X, out: (n_docs, n_features), the rows of a query together
    # Sums keep what rounding takes, so that the order of the documents does not show in the last bits.
    n_features = X.shape[1]
    low, high = np.empty(n_features), np.empty(n_features)
    count, total, lost = np.empty(n_features), np.empty(n_features), np.empty(n_features)
    mean, deviation = np.empty(n_features), np.empty(n_features)
    for q in range(first, last):
        low[:], high[:] = np.inf, -np.inf
        count[:], total[:], lost[:] = 0, 0, 0
        for i in range(query_ptr[q], query_ptr[q + 1]):
            for j in range(n_features):
                x = np.float64(X[i, j])
                low[j] = x if x < low[j] else low[j]
                high[j] = x if x > high[j] else high[j]
                is_known = x == x
                count[j] += 1.0 if is_known else 0.0
                _add(total, lost, j, x if is_known else 0.0)
        for j in range(n_features):
            mean[j] = _sum(total[j], lost[j]) / max(count[j], 1)
        total[:], lost[:] = 0, 0
        for i in range(query_ptr[q], query_ptr[q + 1]):
            for j in range(n_features):
                apart = np.float64(X[i, j]) - mean[j]
                _add(total, lost, j, apart * apart if apart == apart else 0.0)
        for j in range(n_features):
            deviation[j] = np.sqrt(_sum(total[j], lost[j]) / max(count[j], 1))
        for i in range(query_ptr[q], query_ptr[q + 1]):
            for j in range(n_features):
                x = np.float64(X[i, j])
                if np.isnan(x):
                    out[i, j] = x
                elif high[j] > low[j]:
                    out[i, j] = (x - mean[j]) / deviation[j]
                else:  # told by the range: rounding can leave a constant feature a tiny deviation
                    out[i, j] = 0


@kernel
def _rank(first: int, last: int, X: Table, query_ptr: Offsets, out: Table) -> None:
    # X, out: (n_docs, n_features), the rows of a query together
    for q in range(first, last):
        start, end = query_ptr[q], query_ptr[q + 1]
        for j in range(X.shape[1]):
            order = start + np.argsort(X[start:end, j])  # NaN comes last
            n = end - start
            while n > 0 and np.isnan(X[order[n - 1], j]):
                n -= 1
                out[order[n], j] = np.nan
            a = 0
            while a < n:
                b = a + 1
                while b < n and X[order[b], j] == X[order[a], j]:
                    b += 1
                constant = b - a == n
                for place in range(a, b):
                    out[order[place], j] = 0.0 if constant else 0.5 * (a + b - 1) / (n - 1)
                a = b


_KERNELS: dict[str, Callable[..., None]] = {"minmax": _min_max, "standard": _standard, "rank": _rank}


def normalize(data: Dataset, method: str = "minmax") -> Dataset:
    """The same data with every feature normalized inside each query: `minmax`, `standard` or `rank`.

    >>> data = Dataset([[3.0], [1.0], [2.0], [9.0]], [0, 1, 2, 0], [7, 7, 7, 8])
    >>> normalize(data).X.ravel().tolist()
    [1.0, 0.0, 0.5, 0.0]
    """
    if method not in _KERNELS:
        raise UnknownNameError("normalization", method, _KERNELS)
    refuse_categories(data, "normalize")
    rows = data.gathered()
    if np.isinf(rows.X).any():
        raise InputError("X holds an infinite value, which no scale can hold: clip it, or make it NaN")
    out = np.empty(rows.X.shape, np.float32)  # not empty_like: X may be mapped from disk
    _run(method, rows.X, rows.query_ptr, out)
    return data.replace(X=data.to_input_order(out))


def _run(method: str, X: Table, query_ptr: Offsets, out: Table) -> None:
    over_chunks(_KERNELS[method], len(query_ptr) - 1, read_only(X), read_only(query_ptr), out, smallest=8)


class TableTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of scikit-learn's that makes as many features of tables, in which NaN is undefined."""

    def checked_table(self, X: Any, *, reset: bool, **more: Any) -> Table:
        """The features as float64 or float32, of any table; `reset` learns their number and names."""
        kinds = [np.float64, np.float32]
        table: Table = validate_data(self, X, reset=reset, dtype=kinds, ensure_all_finite="allow-nan", **more)
        return table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class QueryScaler(TableTransformer):
    """What the scalers share: checking, routing of `qid`, rows in any order."""

    # Asked for from the start, so that a Pipeline routes `qid` without further ado.
    __metadata_request__transform: ClassVar = {"qid": True}
    _method: ClassVar[str]

    def fit(self, X: Any, y: Any = None) -> QueryScaler:
        """Learn nothing but the number of features."""
        self.checked_table(X, reset=True)
        return self

    def transform(self, X: Any, qid: ArrayLike | None = None) -> Table:
        """Normalize each feature inside each query; rows may come in any order."""
        if qid is None:
            raise InputError(f"{type(self).__name__} needs the query ids: transform(X, qid=qid)")
        rows = self.checked_table(X, reset=False, order="C")
        order, query_ptr, _ = gather(checked_query_ids(qid, len(rows)))
        grouped = rows if order is None else rows[order]
        out = np.empty_like(grouped)
        self.scale_queries(grouped, query_ptr, out)
        if order is None:
            return out
        scattered = np.empty_like(out)
        scattered[order] = out
        return scattered

    def scale_queries(self, X: Table, query_ptr: Offsets, out: Table) -> None:
        """Write the scaled rows to `out`; the rows of a query stand together."""
        _run(self._method, X, query_ptr, out)

    def fit_transform(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Table:
        """Fit, then transform."""
        return self.fit(X, y).transform(X, qid=qid)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


class QueryMinMaxScaler(QueryScaler):
    """Put every feature on [0, 1] inside each query, as the LETOR collections do.

    >>> QueryMinMaxScaler().fit_transform([[3.0], [9.0], [1.0]], qid=[7, 8, 7]).ravel().tolist()
    [1.0, 0.0, 0.0]
    """

    _method = "minmax"


class QueryStandardScaler(QueryScaler):
    """Give every feature mean 0 and deviation 1 inside each query.

    >>> QueryStandardScaler().fit_transform([[3.0], [9.0], [1.0]], qid=[7, 8, 7]).ravel().tolist()
    [1.0, 0.0, -1.0]
    """

    _method = "standard"


class QueryRankScaler(QueryScaler):
    """Replace every feature by its rank inside the query, scaled to [0, 1]; ties share their mean.

    >>> QueryRankScaler().fit_transform([[30.0], [9.0], [1.0], [2.0]], qid=[7, 8, 7, 7]).ravel().tolist()
    [1.0, 0.0, 0.0, 0.5]
    """

    _method = "rank"
