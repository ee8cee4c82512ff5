"""Undefined values filled with a low value of the feature: what is not told is seldom good."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pomona._sklearn import check_is_fitted
from pomona.data.normalize import Table, TableTransformer
from pomona.errors import InputError


class QuartileFill(TableTransformer):
    """Fill undefined values with the first quartile of the feature over the training documents.

    Parameters
    ----------
    quantile : which quantile; a feature without any defined value is filled with 0.

    Attributes
    ----------
    fill_ : what each feature is filled with.

    >>> fill = QuartileFill().fit([[1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> fill.transform([[float("nan")], [7.0]]).ravel().tolist()
    [2.0, 7.0]
    """

    def __init__(self, quantile: float = 0.25) -> None:
        self.quantile = quantile

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the quantile of every feature."""
        if not 0 <= self.quantile <= 1:
            raise InputError(f"found quantile={self.quantile}, expected a number from 0 to 1")
        rows = self.checked_table(X, reset=True)
        is_defined = ~np.isnan(rows).all(axis=0)
        self.fill_ = np.zeros(rows.shape[1])
        self.fill_[is_defined] = np.nanquantile(rows[:, is_defined].astype(np.float64), self.quantile, axis=0)
        return self

    def transform(self, X: Any) -> Table:
        """The features with no undefined value left."""
        check_is_fitted(self)
        rows = self.checked_table(X, reset=False)
        return np.where(np.isnan(rows), self.fill_.astype(rows.dtype), rows)
