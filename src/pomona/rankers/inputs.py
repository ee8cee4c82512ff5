"""What rankers are given, checked at the door: training data, weights, and the rows of one request.

A request is scored as it comes: its rows become one table in the order of the model's features, and no
dataset is gathered from them. So it takes microseconds, and refuses what a dataset would refuse.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pomona._types import Features, Values
from pomona.data.categories import Categories, with_categories
from pomona.data.columns import checked_features, checked_weights, refuse_other_index
from pomona.data.dataset import Dataset, numbered
from pomona.data.text import offsets
from pomona.errors import InputError

_NONE: Categories = MappingProxyType({})
_HEAVIEST = 1e25


def as_dataset(X: Any, y: Any = None, qid: Any = None, group: Any = None) -> Dataset:
    """A dataset from a dataset, or from features, labels and query ids, or the sizes of queries, `group`."""
    if isinstance(X, Dataset):
        if y is not None or qid is not None or group is not None:
            raise InputError("a Dataset has its own labels and query ids: leave y, qid and group out")
        return X
    if y is None:
        raise InputError("the labels y are missing: y should be a 1d array; or give a Dataset")
    if qid is None and group is None:
        raise InputError(
            "the query ids qid are missing: give a Dataset, or X, y and qid=…; in cross-validation "
            "sklearn.set_config(enable_metadata_routing=True), params={'qid': qid} and cv=pm.QueryKFold(5)"
        )
    return Dataset(X, y, qid, group=group)


def not_empty(train: Dataset) -> Dataset:
    """The data, which something can be learnt from: they have documents and features."""
    if train.n_docs == 0 or train.n_features == 0:
        what, shape = ("feature" if train.n_docs else "sample"), (train.n_docs, train.n_features)
        raise InputError(f"found 0 {what}(s) (shape={shape}) while a minimum of 1 is required to learn")
    return train


def query_weights(weights: Values | None, data: Dataset) -> Values:
    """The mean weight of each query's documents, by which queries are averaged; 1 where they have none."""
    if weights is None:
        return np.ones(data.n_queries)
    _refuse_no_weights(weights, data)
    sums: Values = np.add.reduceat(weights, data.gathered().query_ptr[:-1])
    return sums / data.query_lengths


def weights_in_queries(weights: Values | None, data: Dataset) -> tuple[Values, Values | None]:
    """What a loss makes of the weights of documents: (w̄ of each query, r of each document).

    A document counts if its weight is above 0. w̄ is the mean weight of the documents of a query that count, 0
    where none does, and r = w / w̄, 0 of a document that does not count. A pair counts w̄ r_i r_j, a term of a
    list-wise or point-wise loss w̄ r_i. Where r is 1 for all documents (also of queries without any weight,
    whose w̄ is 0), it is None.

    >>> data = Dataset(np.ones((5, 1)), [0, 1, 2, 0, 1], [1, 1, 1, 2, 2])
    >>> by_query, relative = weights_in_queries(np.array([1.0, 3.0, 0.0, 2.0, 2.0]), data)
    >>> by_query.tolist(), relative.tolist()
    ([2.0, 2.0], [0.5, 1.5, 0.0, 1.0, 1.0])
    >>> weights_in_queries(np.array([3.0, 3.0, 3.0, 2.0, 2.0]), data)
    (array([3., 2.]), None)
    """
    if weights is None:
        return np.ones(data.n_queries), None
    _refuse_no_weights(weights, data)
    starts, lengths = data.gathered().query_ptr[:-1], data.query_lengths
    counts = weights > 0
    sums = np.add.reduceat(weights, starts)
    by_query: Values = sums / np.maximum(np.add.reduceat(counts.astype(np.int64), starts), 1)
    highest = np.maximum.reduceat(weights, starts)
    lowest = np.minimum.reduceat(np.where(counts, weights, np.inf), starts)
    if np.array_equal(highest, np.minimum.reduceat(weights, starts)):
        return by_query, None
    is_mixed, means = np.repeat(highest > lowest, lengths), np.repeat(by_query, lengths)
    relative = counts.astype(np.float64)  # exactly 1 in a query of equal weights, whatever rounding does
    np.divide(weights, means, out=relative, where=is_mixed)
    relative[np.repeat(highest == 0, lengths)] = 1.0
    return by_query, relative


def means_of_queries(weights: Values | None, data: Dataset, ranker: str, reason: str) -> Values:
    """The w̄ of `weights_in_queries`, for a method that can use no more; a warning says so if that matters.

    reason : why, as a main clause: "AdaRank weighs whole queries".
    """
    by_query, relative = weights_in_queries(weights, data)
    given = data.gathered().given_y
    is_judged = slice(None) if given is None else ~np.isnan(given)
    if relative is not None and (relative[is_judged] != 1).any():
        warnings.warn(
            f"{ranker} uses the mean weight of each query's documents, as {reason}: weights that differ "
            "inside a query are not told apart",
            stacklevel=2,
        )
    return by_query


def documents_that_count(data: Dataset, weights: Values | None) -> tuple[Dataset, Values | None]:
    """The documents of weight above 0, and their weights: a sum over pairs or documents has no others.

    A query of which no document counts keeps them all, and has the weight 0 as a whole.

    >>> data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], [1, 1, 2])
    >>> counting, weights = documents_that_count(data, np.array([0.0, 2.0, 0.0]))
    >>> counting.X.ravel().tolist(), weights.tolist()
    ([2.0, 3.0], [2.0, 0.0])
    """
    if weights is None or weights.all():
        return data, weights
    data, counts = data.gathered(), weights > 0
    n_counting = np.add.reduceat(counts.astype(np.int64), data.query_ptr[:-1])
    kept = np.flatnonzero(counts | np.repeat(n_counting == 0, data.query_lengths))
    if len(kept) == data.n_docs:
        return data, weights
    lengths = np.where(n_counting > 0, n_counting, data.query_lengths)
    return data.take_rows(kept, offsets(lengths), data.qids), weights[kept]


def _refuse_no_weights(weights: Values, data: Dataset) -> None:
    if weights.shape != (data.n_docs,) or not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InputError(f"expected {data.n_docs} finite weights not below 0, one a document")


def weighted(data: Dataset, weights: ArrayLike | None, X: Any = None, name: str = "sample_weight") -> Dataset:
    """The data with these weights, which came with the rows of `X`, or with its own if there are none."""
    if weights is not None:
        refuse_other_index(X, **{name: weights})
        data = data.replace(weight=checked_weights(weights, data.n_docs, name))
    if data.weight is not None:
        positive = data.weight[data.weight > 0]
        if not positive.size:
            raise InputError(
                f"{name}: all weights are zero, so no document counts: give some a weight above 0"
            )
        if positive.max() > _HEAVIEST or positive.min() < 1 / _HEAVIEST:
            raise InputError(
                f"{name}: weights above 0 must be between {1 / _HEAVIEST:g} and {_HEAVIEST:g}, as losses are "
                f"summed up in float32, found {positive.min():g} to {positive.max():g}: divide by their mean"
            )
    return data


def training_data(data: Dataset) -> Dataset:
    """The data to learn from: label 0 stands for NaN, which no loss is to meet; `given_y` has the labels."""
    data = data.filled()
    if data.given_y is not None and np.isnan(data.given_y).all():
        raise InputError("no document is judged (all labels are NaN): there is nothing to learn from")
    return data


def training_weights(train: Dataset, *, unjudged: str | None) -> Values | None:
    """What documents count in a loss, in the order of `train.gathered()`: 0 of one that is not judged.

    unjudged : `irrelevant` has those count as documents of label 0.
    """
    rows = train.gathered()
    if rows.given_y is None or unjudged == "irrelevant":
        return rows.weight
    weights = np.ones(rows.n_docs) if rows.weight is None else rows.weight
    weights = np.where(np.isnan(rows.given_y), 0.0, weights)
    if not weights.any():
        raise InputError("all judged documents have weight 0: there is nothing to learn from")
    return weights


def unjudged_in(train: Dataset, weights: Values | None) -> Literal["ignored", "irrelevant"]:
    """The option `unjudged` that makes `training_weights` these: for members that learn from the same."""
    given = train.gathered().given_y
    if given is None:
        return "ignored"
    return "irrelevant" if weights is None or weights[np.isnan(given)].any() else "ignored"


def aligned(data: Dataset, names: Sequence[str], categories: Categories, what: str) -> Dataset:
    """The data with the features of the model, in its order, and the codes of its categories."""
    try:
        return with_categories(data.with_features(names), categories)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None


def column_names(X: Any) -> list[str] | None:
    """The columns of `X`, where it is a frame that names them."""
    if isinstance(X, Dataset) or not hasattr(type(X), "columns"):
        return None
    return _named([str(name) for name in X.columns])


def unlabelled(X: Any, qid: Any, names: tuple[str, ...], categories: Categories, ranker: str) -> Dataset:
    """What `predict` is given, with the features of the model in its order; rows without `qid` as one query.

    One query id for all rows will do.
    """
    if isinstance(X, Dataset):
        if X.n_features != len(names) and X.feature_names == numbered(X.n_features):
            raise _wrong_width(X.n_features, len(names), ranker)
        return aligned(X, names, categories, "X")
    rows = rows_of(X, names, ranker, categories)
    if qid is None:
        return _one_query(rows, names, categories)
    refuse_other_index(X, qid=qid)
    qid = [qid] * len(rows) if np.ndim(qid) == 0 else qid
    data = Dataset(rows, np.zeros(len(rows)), qid, feature_names=names)
    data.categories = categories
    return data


def check_one_query(X: Any, n_rows: int, longest: int, ranker: str) -> None:
    """Refuse rows that may be of several queries: scaled as one, they would silently get wrong scores.

    A list of dicts is the documents of one request, unless they are more than any query had in training.
    """
    is_request = as_documents(X) is not None
    if n_rows > (longest if is_request else 1):
        what = f"{n_rows} rows"
        if is_request:
            what = f"{n_rows} documents, more than any query had in training ({longest}),"
        raise InputError(
            f"{ranker} scores whole queries, and the query ids qid of {what} are missing: give qid=…, one a "
            "row or one for all (qid=0), or a Dataset; a Pipeline carries qid after "
            "sklearn.set_config(enable_metadata_routing=True)"
        )


def rows_of(X: Any, names: tuple[str, ...], ranker: str, categories: Categories = _NONE) -> Features:
    """The rows of an array, a frame, a dict (one document) or a list of dicts, as the model's features.

    Categories are told by their names, so an array of numbers does not do for a model that has some.

    >>> documents = [{"clicks": 3, "bm25": 0.5}, {"bm25": None, "clicks": 0}]
    >>> rows_of(documents, ("bm25", "clicks"), "MART").tolist()
    [[0.5, 3.0], [nan, 0.0]]
    """
    if (documents := as_documents(X)) is not None:
        return checked_features(rows_of_documents(documents, names, categories))
    found, own = None, _NONE
    if hasattr(type(X), "columns"):  # asked of the type: a lazy frame would warn or compute
        from pomona.data.table import columns_of_frame

        X, columns, own = columns_of_frame(X)
        found = _named(columns)
    rows = checked_features(X)
    if found is None and rows.shape[1] != len(names):
        raise _wrong_width(rows.shape[1], len(names), ranker)
    if (found is None or tuple(found) == names) and not (own or categories):
        return rows
    return aligned(_one_query(rows, names if found is None else found, own), names, categories, "X").X


def as_documents(X: Any) -> Sequence[Mapping[str, Any]] | None:
    """The documents of a dict (which is one) or of a list of dicts, also of none; None for anything else."""
    if isinstance(X, Mapping):
        return None if hasattr(X, "toarray") else [X]  # SciPy has a sparse matrix that is a dict
    return X if isinstance(X, list | tuple) and (not X or isinstance(X[0], Mapping)) else None


def rows_of_documents(
    documents: Sequence[Mapping[str, Any]], names: tuple[str, ...], categories: Categories = _NONE
) -> Values:
    """One row a dict, by the names of its values; None is undefined, and so is an unknown category."""
    try:
        rows = [list(map(document.__getitem__, names)) for document in documents]
        is_exact = all(len(document) == len(names) for document in documents)
    except (AttributeError, KeyError, TypeError):
        is_exact = False
    if not is_exact:
        raise _other_features(documents, names)
    for place, known in categories.items():
        codes = {name: code for code, name in enumerate(known)}
        for row in rows:
            row[place] = _code(row[place], codes, names[place])
    try:
        values = np.fromiter(chain.from_iterable(rows), np.float64, len(rows) * len(names))
    except (TypeError, ValueError):  # None among them, or what is no number
        values = np.array([_number(value) for row in rows for value in row])
    return values.reshape(len(rows), len(names))


def _wrong_width(found: int, expected: int, ranker: str) -> InputError:
    return InputError(f"X has {found} features, but {ranker} is expecting {expected} features as input")


def _code(value: Any, codes: Mapping[str, int], feature: str) -> float:
    """The code of a category by its name, NaN of one that is unknown or undefined."""
    if value is None or value != value:
        return np.nan
    if isinstance(value, float) and str(value) not in codes:
        raise InputError(f"feature {feature!r} is a category, found the number {value!r}: give its name")
    return codes.get(str(value), np.nan)


def _one_query(rows: Features, names: Sequence[str], categories: Categories = _NONE) -> Dataset:
    """Rows that were checked already, as the documents of one query."""
    query_ptr = np.array([0, len(rows)][: 1 + bool(len(rows))])
    qids = np.zeros(len(query_ptr) - 1, np.int64)
    data = Dataset.from_parts(rows, np.zeros(len(rows), np.float32), query_ptr, qids, feature_names=names)
    data.categories = categories
    return data


def _other_features(documents: Sequence[Any], names: tuple[str, ...]) -> InputError:
    """What to say of the first document whose features are not those of the model."""
    for number, document in enumerate(documents, 1):
        if not isinstance(document, Mapping):
            return InputError(f"document {number} of X is of type {type(document).__name__}, expected a dict")
        for name in names:
            if name not in document:
                return InputError(
                    f"document {number} of X has no {name!r}: give all features, None where undefined"
                )
        known = set(names)
        for name in document:
            if name not in known:
                return InputError(
                    f"document {number} of X has {name!r:.60}, no feature of the model: leave it out"
                )
    raise AssertionError("all documents have the features of the model")


def _number(value: Any) -> float:
    if value is None:
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"a dict is one document, its values numbers: found {value!r:.40}; give many as a list of dicts"
        ) from None


def _named(columns: list[str]) -> list[str] | None:
    """The names of columns, unless they are but numbered."""
    is_numbered = columns[:1] == ["0"] and columns == [str(j) for j in range(len(columns))]
    return None if is_numbered else columns
