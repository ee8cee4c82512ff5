"""Fewer irrelevant documents: of each query all that are relevant, and a random draw of the others.

Where a hundred documents are irrelevant for each that is not, a ranker spends its time on telling them apart
from each other. The draw is of the training documents alone: whatever is scored is scored whole.
"""

from __future__ import annotations

import zlib
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._sklearn import BaseEstimator, check_is_fitted, clone
from pomona.data.columns import checked_features, checked_labels, checked_query_ids, checked_weights
from pomona.data.dataset import Dataset
from pomona.data.rows import gather
from pomona.errors import InputError


class BalancedDraw(BaseEstimator):  # type: ignore[misc]
    """Fit a ranker to a balanced draw of each query's documents.

    Rows cannot be left out by a transformer of scikit-learn, so this goes around the ranker, as the last step
    of a `Pipeline`.

    Parameters
    ----------
    ranker : what is fitted to the documents drawn; only a copy of it is.
    ratio : how many irrelevant documents are drawn for each relevant one of the query, at most all.
    seed : of the draw, which depends on the seed, the query and the documents, not on the order of the rows.

    Attributes
    ----------
    ranker_ : the fitted ranker.

    `qid` is routed to `fit`, `predict` and `score`. A document of label 0 or below is irrelevant; one that is
    not judged (NaN) is not drawn. A query without a relevant document teaches nothing, and is left out.

    >>> draw = BalancedDraw(ratio=1.0)
    >>> X, y, qid = [[1.0], [2.0], [3.0], [4.0], [5.0]], [1, 0, 0, 0, 0], ["a", "a", "a", "b", "b"]
    >>> [int(y[i]) for i in draw.drawn(X, y, qid)]
    [1, 0]
    """

    __metadata_request__fit: ClassVar = {"qid": True}
    __metadata_request__predict: ClassVar = {"qid": True}
    __metadata_request__score: ClassVar = {"qid": True}

    def __init__(self, ranker: Any = None, *, ratio: float = 1.0, seed: int = 0) -> None:
        self.ranker, self.ratio, self.seed = ranker, ratio, seed

    def drawn(self, X: Any, y: ArrayLike, qid: ArrayLike) -> NDArray[np.int64]:
        """The rows that are drawn, ascending."""
        if isinstance(self.ratio, bool) or not (isinstance(self.ratio, Real) and 0 < self.ratio < np.inf):
            raise InputError(f"found ratio={self.ratio!r}, expected a number above 0")
        if isinstance(self.seed, bool) or not (isinstance(self.seed, Integral) and self.seed >= 0):
            raise InputError(f"found seed={self.seed!r}, expected an integer of at least 0")
        features = checked_features(X)
        labels = checked_labels(y, len(features))
        order, query_ptr, qids = gather(checked_query_ids(qid, len(features)))
        order = np.arange(len(labels)) if order is None else order
        chosen = [
            _drawn(
                order[query_ptr[q] : query_ptr[q + 1]], features, labels, self.ratio, self._random(qids[q])
            )
            for q in range(len(qids))
        ]
        return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, np.int64)

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Draw, and fit a copy of the ranker to the draw; X may be a dataset, with weights of its own."""
        if self.ranker is None:
            raise InputError("BalancedDraw has no ranker to fit: BalancedDraw(ranker)")
        data = _as_dataset(X, y, qid)
        rows = self.drawn(data.X, data.y, data.qid)
        if not len(rows):
            raise InputError("no query has a relevant document (a label above 0): there is nothing to draw")
        weight = data.weight if sample_weight is None else checked_weights(sample_weight, data.n_docs)
        part = Dataset(
            data.X[rows],
            data.y[rows],
            data.qid[rows],
            feature_names=data.feature_names,
            weight=None if weight is None else weight[rows],
        )
        part.categories = data.categories
        self.ranker_ = clone(self.ranker).fit(part)
        self.n_features_in_ = data.n_features
        return self

    def predict(self, X: Any, qid: ArrayLike | None = None) -> NDArray[np.float64]:
        """The ranker's scores of all documents."""
        check_is_fitted(self)
        scores: NDArray[np.float64] = self.ranker_.predict(X, qid=qid)
        return scores

    def score(
        self,
        X: Any,
        y: Any = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """The ranker's measure of all documents."""
        check_is_fitted(self)
        return float(self.ranker_.score(X, y, qid=qid, sample_weight=sample_weight))

    def _random(self, qid: Any) -> np.random.Generator:
        return np.random.default_rng([self.seed, zlib.crc32(str(qid).encode())])


def _as_dataset(X: Any, y: Any, qid: ArrayLike | None) -> Dataset:
    if isinstance(X, Dataset):
        return X
    if y is None or qid is None:
        raise InputError("BalancedDraw needs labels and query ids: fit(X, y, qid=qid), or a Dataset")
    return Dataset(X, y, qid)


def _drawn(
    rows: NDArray[np.int64],
    features: NDArray[np.float32],
    labels: NDArray[np.float32],
    ratio: float,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """The relevant rows of a query, and as many of the others as the ratio says."""
    relevant, others = rows[labels[rows] > 0], rows[labels[rows] <= 0]
    # In an order that only the documents decide: by their features, the first feature first, then labels.
    keys = (labels[others], *features[others].T[::-1])
    others = others[np.lexsort(keys)] if len(others) else others
    n = min(len(others), round(ratio * len(relevant)))
    return np.concatenate([relevant, random.choice(others, n, replace=False)])
