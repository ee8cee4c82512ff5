"""Queries with labelled documents: the one thing every ranker, measure and report is given."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._machine import require_memory
from pomona._types import Features, Labels, Offsets
from pomona.data.text import TextColumn, offsets, text_array
from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona.data.statistics import Statistics

LARGEST_LABEL = 1 << 24
"""Up to here float32 holds every whole number; beyond, only those that it does not round are taken."""


class Dataset:
    """Documents grouped by query: features `X`, labels `y` and the offsets `query_ptr`.

    Rows of one query are gathered when they come scattered: queries stand in the order in which they
    first appear, documents of a query in their input order. `to_input_order` undoes this.

    Parameters
    ----------
    X : (n_docs, n_features) array, SciPy sparse matrix or data frame; NaN means undefined.
    y : (n_docs,) labels, finite.
    qid : (n_docs,) query ids, integers or strings.
    doc_ids : document ids, which `docid` tie breaking needs.
    feature_names : one name a feature; `f1, f2, …` when left out.

    >>> data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], [7, 5, 7])
    >>> data.qids.tolist(), data.query_ptr.tolist(), data.y.tolist()
    ([7, 5], [0, 2, 3], [0.0, 2.0, 1.0])
    >>> data.to_input_order(np.array([10.0, 30.0, 20.0])).tolist()
    [10.0, 20.0, 30.0]
    """

    n_undefined: int | None = None
    """How many feature values the source left undefined, where a reader counted and filled them in."""

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike,
        *,
        doc_ids: Iterable[str] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        if hasattr(type(X), "columns"):  # asked of the type: a lazy frame would warn or compute
            from pomona.data.table import features_of_frame

            X, column_names = features_of_frame(X)
            feature_names = column_names if feature_names is None else feature_names
        features = _features(X)
        labels = checked_labels(y, len(features))
        query_ids = checked_query_ids(qid)
        if query_ids.shape != labels.shape:
            raise InputError(f"found {query_ids.size} query ids for {labels.size} documents")
        order, query_ptr, qids = gather(query_ids)
        texts = None if doc_ids is None else TextColumn.of(doc_ids)
        if texts is not None and len(texts) != labels.size:
            raise InputError(f"found {len(texts)} document ids for {labels.size} documents")
        if order is not None:
            features, labels = features[order], labels[order]
            texts = None if texts is None else texts.take(order)
        self._set(features, labels, query_ptr, qids, texts, None, feature_names, order)

    def _set(
        self,
        X: Features,
        y: Labels,
        query_ptr: Offsets,
        qids: NDArray[Any],
        doc_ids: TextColumn | None,
        comments: TextColumn | None,
        feature_names: Sequence[str] | None,
        input_order: Offsets | None,
    ) -> None:
        self.X, self.y, self.query_ptr, self.qids = X, y, query_ptr, qids
        self.doc_ids, self.comments, self.input_order = doc_ids, comments, input_order
        if feature_names is None:
            feature_names = [f"f{j}" for j in range(1, X.shape[1] + 1)]
        elif len(feature_names) != X.shape[1]:
            raise InputError(f"found {len(feature_names)} feature names for {X.shape[1]} features")
        self.feature_names = tuple(feature_names)

    @classmethod
    def from_parts(
        cls,
        X: Features,
        y: Labels,
        query_ptr: Offsets,
        qids: NDArray[Any],
        *,
        doc_ids: TextColumn | None = None,
        comments: TextColumn | None = None,
        feature_names: Sequence[str] | None = None,
        input_order: Offsets | None = None,
    ) -> Dataset:
        """Wrap arrays that are already gathered and checked, without copying (for readers)."""
        data = cls.__new__(cls)
        data._set(X, y, query_ptr, qids, doc_ids, comments, feature_names, input_order)
        return data

    @classmethod
    def from_frame(cls, frame: Any, *, label: str, qid: str, doc_id: str | None = None) -> Dataset:
        """Take a pandas, polars or other data frame; the columns not named here are the features."""
        from pomona.data.table import dataset_of_frame

        return dataset_of_frame(frame, label=label, qid=qid, doc_id=doc_id)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.query_ptr) - 1

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def qid(self) -> NDArray[Any]:
        """The query id of every row, as scikit-learn's metadata routing wants it."""
        return np.repeat(self.qids, np.diff(self.query_ptr))

    def to_input_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Put one value a row (scores, say) back into the order in which the rows came."""
        if self.input_order is None:
            return values
        out = np.empty_like(values)
        out[self.input_order] = values
        return out

    def from_input_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Put one value a row, given in the order in which the rows came, into this order."""
        return values if self.input_order is None else values[self.input_order]

    def take(self, queries: ArrayLike) -> Dataset:
        """These queries (by position, or a boolean mask), in this order."""
        chosen = np.asarray(queries)
        wanted = np.arange(self.n_queries)[chosen if chosen.size else chosen.astype(np.int64)]
        lengths = np.diff(self.query_ptr)[wanted]
        query_ptr = offsets(lengths)
        rows = np.repeat(self.query_ptr[wanted] - query_ptr[:-1], lengths) + np.arange(query_ptr[-1])
        return Dataset.from_parts(
            self.X[rows],
            self.y[rows],
            query_ptr,
            self.qids[wanted],
            doc_ids=None if self.doc_ids is None else self.doc_ids.take(rows),
            comments=None if self.comments is None else self.comments.take(rows),
            feature_names=self.feature_names,
        )

    def split(self, fractions: Sequence[float], seed: int = 0) -> list[Dataset]:
        """Random parts of whole queries, e.g. `split([.6, .2, .2])`.

        >>> parts = Dataset(np.ones((10, 1)), np.ones(10), np.arange(10)).split([0.5, 0.3, 0.2], seed=1)
        >>> [part.n_queries for part in parts]
        [5, 3, 2]
        """
        shares = np.asarray(fractions, float)
        if shares.ndim != 1 or shares.size == 0 or (shares <= 0).any() or shares.sum() > 1 + 1e-9:
            raise InputError(f"fractions must be positive and sum to at most 1, found {list(fractions)}")
        shuffled = np.random.default_rng(seed).permutation(self.n_queries)
        ends = np.round(np.cumsum(shares) * self.n_queries + 1e-9).astype(int)
        starts = np.concatenate(([0], ends[:-1]))
        return [self.take(np.sort(shuffled[a:b])) for a, b in zip(starts, ends, strict=True)]

    def sample(
        self, fraction: float | None = None, *, n_queries: int | None = None, seed: int = 0
    ) -> Dataset:
        """A random part of whole queries, as large as asked, in their order here.

        With the same seed a smaller sample lies inside a larger one, so that a learning curve grows by
        adding queries.

        >>> Dataset(np.ones((10, 1)), np.ones(10), np.arange(10)).sample(0.3, seed=1)
        Dataset(3 queries, 3 documents, 1 features)
        """
        if (fraction is None) == (n_queries is None):
            raise InputError("give either a fraction of the queries or n_queries")
        if fraction is not None:
            if not 0 < fraction <= 1:
                raise InputError(f"fraction must be in (0, 1], found {fraction}")
            n_queries = max(1, round(fraction * self.n_queries))
        elif n_queries is None or not 0 < n_queries <= self.n_queries:
            raise InputError(f"n_queries must be in 1..{self.n_queries}, found {n_queries}")
        shuffled = np.random.default_rng(seed).permutation(self.n_queries)
        return self.take(np.sort(shuffled[:n_queries]))

    def replace(
        self,
        *,
        X: Features | None = None,
        y: Labels | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> Dataset:
        """The same documents with other features or labels; what is not given is shared, not copied."""
        if feature_names is None and (X is None or X.shape[1] == self.n_features):
            feature_names = self.feature_names
        data = Dataset.from_parts(
            self.X if X is None else X,
            self.y if y is None else y,
            self.query_ptr,
            self.qids,
            doc_ids=self.doc_ids,
            comments=self.comments,
            feature_names=feature_names,
            input_order=self.input_order,
        )
        data.n_undefined = self.n_undefined if X is None else None
        return data

    def widened(self, n_features: int, undefined: float = 0.0) -> Dataset:
        """The same documents with features added at the end, where a sparse file does not mention them."""
        if self.n_features == n_features:
            return self
        X = np.full((self.n_docs, n_features), undefined, np.float32)
        X[:, : self.n_features] = self.X
        data = self.replace(X=X)
        if self.n_undefined is not None:
            data.n_undefined = self.n_undefined + self.n_docs * (n_features - self.n_features)
        return data

    def describe(self) -> Statistics:
        """The row of the dataset table: queries, documents, labels, undefined values.

        >>> Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], [7, 5, 7]).describe().mean_docs
        1.5
        """
        from pomona.data.statistics import describe

        return describe(self)

    def __repr__(self) -> str:
        return f"Dataset({self.n_queries} queries, {self.n_docs} documents, {self.n_features} features)"


def concatenated(parts: Sequence[Dataset], undefined: float = 0.0) -> Dataset:
    """The documents of several datasets as one, as if their rows had come one after the other.

    A query that stands in several of them is gathered. The last features of a narrower one are `undefined`.

    >>> one, two = Dataset([[1.0]], [0], [7]), Dataset([[2.0, 3.0], [4.0, 5.0]], [1, 2], [5, 7])
    >>> data = concatenated([one, two])
    >>> data.qids.tolist(), data.X.tolist()
    ([7, 5], [[1.0, 0.0], [4.0, 5.0], [2.0, 3.0]])
    """
    if len(parts) == 1:
        return parts[0]
    width = max(part.n_features for part in parts)
    # Of everything a copy that is as wide, one end to end, and one in order.
    n_bytes = sum(part.n_docs * (4 * width + part.qids.itemsize) for part in parts)
    require_memory(3 * n_bytes, what=f"joining {len(parts)} datasets")
    wide = [part.widened(width, undefined) for part in parts]
    names = wide[0].feature_names
    if any(part.feature_names != names for part in wide):
        raise InputError("datasets with different features cannot be joined")
    are_texts = len({part.qids.dtype.kind for part in wide}) > 1  # int64 and uint64 would become floats
    query_ids = np.concatenate([part.qid.astype(np.str_) if are_texts else part.qid for part in wide])
    order, query_ptr, qids = gather(query_ids)
    rows = slice(None) if order is None else order
    lengths = [part.n_docs for part in wide]
    texts = {
        name: TextColumn.joined([getattr(part, name) for part in wide], lengths)
        for name in ("doc_ids", "comments")
    }
    if order is not None:
        texts = {name: None if column is None else column.take(order) for name, column in texts.items()}
    input_order = order
    if any(part.input_order is not None for part in wide):
        starts = offsets(lengths)
        orders = [np.arange(p.n_docs) if p.input_order is None else p.input_order for p in wide]
        input_order = np.concatenate([a + b for a, b in zip(starts, orders, strict=False)])[rows]
    data = Dataset.from_parts(
        np.concatenate([part.X for part in wide])[rows],
        np.concatenate([part.y for part in wide])[rows],
        query_ptr,
        qids,
        feature_names=names,
        input_order=input_order,
        **texts,
    )
    counts = [part.n_undefined for part in wide]
    data.n_undefined = None if None in counts else sum(filter(None, counts))
    return data


def gather(query_ids: NDArray[Any]) -> tuple[Offsets | None, Offsets, NDArray[Any]]:
    """Group rows by query: (row order or None when already grouped, query_ptr, the distinct ids).

    Queries come in order of first appearance, rows of a query in input order.
    """
    n = len(query_ids)
    if n == 0:
        return None, np.zeros(1, np.int64), query_ids
    starts = np.flatnonzero(np.concatenate(([True], query_ids[1:] != query_ids[:-1])))
    run_ids = query_ids[starts]
    distinct, first, which = np.unique(run_ids, return_index=True, return_inverse=True)
    if len(distinct) == len(run_ids):
        return None, np.append(starts, n).astype(np.int64), run_ids
    place = np.empty(len(distinct), np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(distinct))
    run_lengths = np.diff(np.append(starts, n))
    query_of_row = np.repeat(place[which], run_lengths)
    order = np.argsort(query_of_row, kind="stable").astype(np.int64)
    return order, offsets(np.bincount(query_of_row)), run_ids[np.sort(first)]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array as one that is not written to.

    Arrays mapped from disk are read-only, others are not, and a kernel compiles anew for each kind: given all
    its inputs through here, it compiles once.
    """
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def checked_query_ids(qid: ArrayLike) -> NDArray[Any]:
    """Query ids as integers or strings, whatever they came as; what cannot tell queries apart is refused."""
    if np.ma.is_masked(qid):
        raise InputError("query ids must be integers or strings, found a masked one")
    query_ids = _array(qid, "query ids must be integers or strings")
    if query_ids.dtype.kind == "f":
        exact = 2.0 ** (np.finfo(query_ids.dtype).nmant + 1)
        if not np.all(np.isfinite(query_ids) & (query_ids == np.floor(query_ids))):
            raise InputError("query ids must be integers or strings, found a fraction or NaN")
        if np.any(np.abs(query_ids) >= exact):
            raise InputError(
                f"query ids must be integers or strings, found {query_ids.dtype} beyond {exact:.0f}, "
                "which may be the same for different ids"
            )
        return query_ids.astype(np.int64)
    if query_ids.dtype.kind == "O" or (query_ids.dtype.kind in "SU" and not isinstance(qid, np.ndarray)):
        return _query_ids_of_objects(np.asarray(qid, object))
    return query_ids if query_ids.dtype.kind in "iu" else query_ids.astype(np.str_)


def _query_ids_of_objects(query_ids: NDArray[Any]) -> NDArray[Any]:
    values = query_ids.ravel().tolist()
    strange = {
        kind.__name__ for kind in set(map(type, values)) if not issubclass(kind, str | int | np.integer)
    }
    if strange:
        raise InputError(f"query ids must be integers or strings, found {', '.join(sorted(strange))}")
    if not any(isinstance(value, str) for value in values):
        for kind in (np.int64, np.uint64):
            with contextlib.suppress(OverflowError):
                return query_ids.astype(kind)
    texts = list(map(str, values))
    # NumPy drops zeros at the end of a text.
    if len(set(values)) > len({text.rstrip("\0") for text in texts}):
        raise InputError("different query ids, such as 1 and '1', would become one: write them differently")
    return text_array(texts).reshape(query_ids.shape)


def _features(X: Any) -> Features:
    if np.ma.isMaskedArray(X):  # masked is undefined
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if hasattr(X, "toarray"):
        require_memory(4 * int(np.prod(X.shape, dtype=object)), what=f"a table of shape {X.shape}")
    else:
        X = _array(X, "X must be a table of numbers")
    try:
        with np.errstate(over="raise"):
            if hasattr(X, "toarray"):  # SciPy sparse: absent is 0, as everywhere in that world
                X = X.astype(np.float32).toarray()
            array = np.ascontiguousarray(X, dtype=np.float32)
    except (FloatingPointError, OverflowError):
        raise InputError(
            f"X holds a finite value beyond float32 (3.4e38){_place_beyond(X)}: rescale that feature"
        ) from None
    except (TypeError, ValueError) as error:
        raise InputError(f"X must be a table of numbers: {error}") from None
    if array.ndim != 2:
        raise InputError(f"X must have two dimensions (documents × features), found {array.ndim}")
    return array


def _array(values: Any, expected: str) -> NDArray[Any]:
    """What was given as an array; whatever its library raises becomes one clear error."""
    try:
        array = np.asarray(values)
    except MemoryError:
        raise
    except Exception as error:
        raise InputError(f"{expected}: {str(error).partition(chr(10))[0]}") from None
    if array.dtype.kind in "cmM" and "numbers" in expected:
        raise InputError(f"{expected}, found {array.dtype}")
    return array


def _place_beyond(X: Any) -> str:
    """Where the first finite value that float32 cannot hold stands, in words."""
    values = np.asarray(X)
    if values.dtype.kind != "f":
        return ""
    with np.errstate(over="ignore"):
        row, *column = np.argwhere(np.isinf(values.astype(np.float32)) & np.isfinite(values))[0].tolist()
    return f" in row {row + 1}{f', column {column[0] + 1}' if column else ''}"


def checked_labels(y: ArrayLike, n_docs: int) -> Labels:
    """Labels as float32: finite, and none that it would round to another whole number."""
    if np.ma.is_masked(y):
        raise InputError("y must be numbers: found a masked label")
    values = _array(y, "y must be numbers")
    try:
        with np.errstate(over="ignore"):  # becomes infinite, and is refused below
            labels = np.ascontiguousarray(values, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"y must be numbers: {error}") from None
    if labels.shape != (n_docs,):
        raise InputError(f"found {labels.size} labels (shape {labels.shape}) for {n_docs} documents")
    if not np.isfinite(labels).all():
        raise InputError(f"label of document {int(np.flatnonzero(~np.isfinite(labels))[0])} is not finite")
    for row in np.flatnonzero(np.abs(labels) >= LARGEST_LABEL).tolist():
        if int(labels[row]) != values[row]:
            raise InputError(
                f"label {values[row]} of document {row} is beyond what float32 holds ({LARGEST_LABEL})"
            )
    return labels
