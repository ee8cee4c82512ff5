"""Categories as numbers: the mean label of a category, out of fold.

    x' = (Σ_i y_i + m · ȳ) / (n + m)        over the n training documents of the category; ȳ the mean of all

A ranker that is trained on means which its own labels are part of takes them for truth. So the training
documents get means of the *other* folds, and folds are whole queries: nothing of a query's labels is in its
features. Documents to be scored get means of all training documents.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._sklearn import check_is_fitted
from pomona._types import Values
from pomona.data.columns import checked_labels, checked_query_ids
from pomona.data.k_fold import QueryKFold
from pomona.data.normalize import Table, TableTransformer
from pomona.errors import InputError

Category = tuple[NDArray[np.float64], Values]
"""The categories of a column, ascending, and their means."""


class CategoryMean(TableTransformer):
    """Replace categories, given as numbers, by the mean label of their documents; in training, out of fold.

    Parameters
    ----------
    columns : places of the columns that are categories; None for all. The others stay as they are.
    n_folds : into how many parts the training queries are cut; at most as many as there are queries.
    smoothing : m, how many documents with the mean label each category has in addition.
    seed : draws which queries are in one part.

    `qid` is routed to `fit`. An undefined value is a category of its own, and one that was never seen has the
    mean of all labels. Documents that are not judged (a label of NaN) are in no mean. `fit_transform`, which
    a `Pipeline` calls, differs from `fit` followed by `transform`: the former is for the documents that are
    learnt from, the latter for those that are scored.

    >>> X, y, qid = [[1.0], [1.0], [1.0], [2.0]], [0, 1, 2, 1], ["a", "a", "b", "b"]
    >>> CategoryMean(n_folds=2).fit_transform(X, y, qid=qid).ravel().tolist()
    [2.0, 2.0, 0.5, 0.5]
    >>> CategoryMean(n_folds=2).fit(X, y, qid=qid).transform([[1.0], [2.0], [3.0]]).ravel().tolist()
    [1.0, 1.0, 1.0]
    """

    __metadata_request__fit: ClassVar = {"qid": True}

    def __init__(
        self, columns: ArrayLike | None = None, *, n_folds: int = 5, smoothing: float = 0.0, seed: int = 0
    ) -> None:
        self.columns, self.n_folds, self.smoothing, self.seed = columns, n_folds, smoothing, seed

    def fit(self, X: Any, y: Any, qid: ArrayLike | None = None) -> Self:
        """Learn the mean label of every category."""
        rows, labels, _ = self._checked(X, y, qid)
        self._learn(rows, labels)
        return self

    def transform(self, X: Any) -> Table:
        """Means over all training documents: for documents that were not learnt from."""
        check_is_fitted(self)
        rows = self.checked_table(X, reset=False)
        return _replaced(rows, self._places(rows), self.categories_, self.mean_)

    def fit_transform(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Table:
        """Fit, and give the training documents the means of the other folds."""
        rows, labels, query_ids = self._checked(X, y, qid)
        self._learn(rows, labels)
        places, out = self._places(rows), np.empty_like(rows)
        n_folds = min(self.n_folds, len(np.unique(query_ids)))
        if n_folds < 2:
            raise InputError("found one query, expected two at least: one has no others to take means from")
        for others, own in QueryKFold(n_folds, seed=self.seed).split(rows, groups=query_ids):
            categories, mean = _means(rows[others], labels[others], places, self.smoothing)
            out[own] = _replaced(rows[own], places, categories, mean)
        return out

    def _learn(self, rows: Table, labels: Values) -> None:
        self.categories_, self.mean_ = _means(rows, labels, self._places(rows), self.smoothing)

    def _checked(self, X: Any, y: Any, qid: ArrayLike | None) -> tuple[Table, Values, NDArray[Any]]:
        if y is None:
            raise InputError("CategoryMean needs the labels: fit(X, y, qid=qid)")
        if qid is None:
            raise InputError("CategoryMean needs the query ids: fit(X, y, qid=qid)")
        if not (isinstance(self.n_folds, Integral) and self.n_folds >= 2):
            raise InputError(f"found n_folds={self.n_folds!r}, expected an integer of at least 2")
        if not (isinstance(self.smoothing, Real) and 0 <= self.smoothing < np.inf):
            raise InputError(f"found smoothing={self.smoothing!r}, expected a number of at least 0")
        rows = self.checked_table(X, reset=True)
        query_ids = checked_query_ids(qid, len(rows))
        labels = checked_labels(y, len(rows)).astype(np.float64)
        if np.isnan(labels).all():
            raise InputError("no document is judged (all labels are NaN): there is no mean to learn")
        return rows, labels, query_ids

    def _places(self, rows: Table) -> list[int]:
        n_features = rows.shape[1]
        places = range(n_features) if self.columns is None else np.asarray(self.columns).ravel().tolist()
        if any(type(j) is not int or not 0 <= j < n_features for j in places):
            raise InputError(f"found columns {places}, expected places from 0 to {n_features - 1}")
        return list(places)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _means(
    rows: Table, labels: Values, places: list[int], smoothing: float
) -> tuple[dict[int, Category], float]:
    """The categories of each of these columns with their means, and the mean of all labels."""
    if np.isnan(labels).any():
        rows, labels = rows[~np.isnan(labels)], labels[~np.isnan(labels)]
        if not len(labels):
            raise InputError("the queries outside a fold have no judged document: lower n_folds")
    mean, by_column = float(labels.mean()), {}
    for j in places:
        categories, which = np.unique(rows[:, j].astype(np.float64), return_inverse=True)
        sums = np.bincount(which, labels, len(categories)) + smoothing * mean
        by_column[j] = categories, sums / (np.bincount(which, minlength=len(categories)) + smoothing)
    return by_column, mean


def _replaced(rows: Table, places: list[int], categories: dict[int, Category], mean: float) -> Table:
    out = rows.copy()
    for j in places:
        known, means = categories[j]
        values = rows[:, j].astype(np.float64)
        at = np.minimum(np.searchsorted(known, values), len(known) - 1)
        is_known = (known[at] == values) | (np.isnan(known[at]) & np.isnan(values))
        out[:, j] = np.where(is_known, means[at], mean)
    return out
