"""Queries with labelled documents: the one thing every ranker, measure and report is given."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._types import Features, Labels, Offsets, Values
from pomona.data.categories import Categories
from pomona.data.columns import (
    checked_features,
    checked_labels,
    checked_weights,
    document_ids,
    ids_of_rows,
    refuse_other_index,
    warn_of_negative,
)
from pomona.data.precision import Rounding, warn_of
from pomona.data.rows import column, gather, ranks_of
from pomona.data.taken_rows import TakenRows, take
from pomona.data.text import TextColumn, offsets
from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona.data.statistics import Statistics

_NONE: Categories = MappingProxyType({})
_ROWS_HASHED = 1 << 14  # at a time


class Dataset:
    """Documents of queries: features `X`, labels `y`, query ids `qid`, in the order in which the rows came.

    So is whatever is given or returned with one value a document: scores, weights, rows of a split. Whoever
    wants the documents of one query after the other takes `gathered()`: the same documents with queries in
    the order in which they first appear, whose rows `query_ptr[q]` to `query_ptr[q + 1]` are query `qids[q]`.
    Most files are like that already. `to_input_order` and `from_input_order` translate values.

    Parameters
    ----------
    X : (n_docs, n_features) array, SciPy sparse matrix or data frame; NaN means undefined. Columns of a frame
        that hold texts or categories become codes, whose names are in `categories`.
    y : (n_docs,) labels; NaN means not judged. A label below 0 is kept, and warned of: measures take it as
        not judged, rankers as a grade below 0.
    qid : (n_docs,) query ids, integers or strings.
    group : instead of `qid`, the number of documents of each query, one after the other, as LightGBM has it;
        queries are then numbered from 0.
    doc_ids : document ids, which `docid` tie breaking needs.
    feature_names : one name a feature; `f1, f2, …` when left out.
    weight : (n_docs,) weights of the documents, finite and not below 0. `fit` and `score` use them, unless
        others are given.

    >>> data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], [7, 5, 7])
    >>> data.qids.tolist(), data.qid.tolist(), data.y.tolist()
    ([7, 5], [7, 5, 7], [0.0, 1.0, 2.0])
    >>> rows = data.gathered()
    >>> rows.qid.tolist(), rows.y.tolist(), rows.query_ptr.tolist()
    ([7, 7, 5], [0.0, 2.0, 1.0], [0, 2, 3])
    >>> data.to_input_order(np.array([10.0, 30.0, 20.0])).tolist()
    [10.0, 20.0, 30.0]
    """

    X: Features = column()
    y: Labels = column()
    weight: Values | None = column()
    given_y: Labels | None = column()
    """The labels as they were given, by which rankings are judged, where `filled` replaced NaN."""
    doc_ids: TextColumn | None = column()
    comments: TextColumn | None = column()
    qids: NDArray[Any]
    """The id of each query, in the order in which they first appear."""
    input_order: Offsets | None
    """Where each row of `gathered()` stood when it came; None where that is its place."""
    came: Offsets | None
    """Of data that were gathered: where each row stood when it came, by which some tools break ties."""
    feature_names: tuple[str, ...]
    categories: Categories
    """By place of a feature of categories, their names: value k in X is the name k."""
    n_undefined: int | None
    """How many feature values the source left undefined, where a reader counted and filled them in."""
    index: Any
    """Of the pandas frame in which the rows came: other columns must have it, too; else None."""
    rounding: str
    """What a reader noticed that float32 changes of the features, in words."""
    _X: Features
    _y: Labels
    _weight: Values | None
    _given_y: Labels | None
    _doc_ids: TextColumn | None
    _comments: TextColumn | None
    _query_ptr: Offsets
    _as_it_came: dict[str, Any]

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        doc_ids: Iterable[str] | None = None,
        feature_names: Sequence[str] | None = None,
        weight: ArrayLike | None = None,
    ) -> None:
        rounding = Rounding()
        self._take(X, y, qid, group, doc_ids, feature_names, weight, rounding)
        warn_of_negative(self._y)
        warn_of(rounding.note(self.feature_names))

    @classmethod
    def quiet(
        cls,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike,
        *,
        doc_ids: Iterable[str] | None = None,
        feature_names: Sequence[str] | None = None,
        weight: ArrayLike | None = None,
    ) -> Dataset:
        """The same for readers, which warn of labels and features themselves, once a file."""
        data = cls.__new__(cls)
        data._take(X, y, qid, None, doc_ids, feature_names, weight, None)
        return data

    def _take(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None,
        group: ArrayLike | None,
        doc_ids: Iterable[str] | None,
        feature_names: Sequence[str] | None,
        weight: ArrayLike | None,
        rounding: Rounding | None,
    ) -> None:
        refuse_other_index(X, y=y, qid=qid, doc_ids=doc_ids, weight=weight)
        index: Any = getattr(X, "index", None)
        categories: Categories = _NONE
        if hasattr(type(X), "columns"):  # asked of the type: a lazy frame would warn or compute
            from pomona.data.table import columns_of_frame

            X, column_names, categories = columns_of_frame(X, rounding=rounding)
            has_names = column_names != [str(j) for j in range(len(column_names))]
            feature_names = column_names if feature_names is None and has_names else feature_names
        if feature_names is not None:
            feature_names = [str(name) for name in feature_names]
            if len(set(feature_names)) < len(feature_names):
                twice = next(name for name in feature_names if feature_names.count(name) > 1)
                raise InputError(f"two features are called {twice!r}: rename one")
        features = checked_features(X, rounding)
        labels = checked_labels(y, len(features))
        weights = None if weight is None else checked_weights(weight, labels.size)
        order, query_ptr, qids = gather(ids_of_rows(qid, group, labels.size))
        texts = None if doc_ids is None else document_ids(doc_ids, labels.size)
        if order is not None:
            features, labels = features[order], labels[order]
            texts = None if texts is None else texts.take(order)
            weights = None if weights is None else weights[order]
        gathered = Dataset.from_parts(
            *(features, labels, query_ptr, qids),
            weight=weights,
            doc_ids=texts,
            feature_names=feature_names,
            input_order=order,
            categories=categories,
        )
        vars(self).update(vars(gathered))
        self.index = index if hasattr(index, "equals") else None

    @classmethod
    def from_parts(
        cls,
        X: Features,
        y: Labels,
        query_ptr: Offsets,
        qids: NDArray[Any],
        *,
        weight: Values | None = None,
        given_y: Labels | None = None,
        doc_ids: TextColumn | None = None,
        comments: TextColumn | None = None,
        feature_names: Sequence[str] | None = None,
        input_order: Offsets | None = None,
        came: Offsets | None = None,
        categories: Categories = _NONE,
        n_undefined: int | None = None,
    ) -> Dataset:
        """Wrap arrays that are already gathered and checked, without copying (for readers)."""
        data = cls.__new__(cls)
        # What callers see is in the order in which the rows came.
        data._X, data._y, data._doc_ids, data._comments = X, y, doc_ids, comments
        data._weight, data._given_y = weight, given_y
        data._query_ptr, data.qids, data.input_order = query_ptr, qids, input_order
        data.categories, data.n_undefined, data._as_it_came = dict(categories), n_undefined, {}
        data.came = came
        data.index, data.rounding = None, ""
        if feature_names is None:
            feature_names = numbered(X.shape[1])
        elif len(feature_names) != X.shape[1]:
            raise InputError(f"found {len(feature_names)} feature names for {X.shape[1]} features")
        data.feature_names = tuple(feature_names)
        return data

    def _with(self, **changes: Any) -> Dataset:
        """The same documents with some of the parts of `from_parts` changed, which stand gathered."""
        parts: dict[str, Any] = {
            "X": self._X,
            "y": self._y,
            "weight": self._weight,
            "given_y": self._given_y,
            "query_ptr": self._query_ptr,
            "qids": self.qids,
            "doc_ids": self._doc_ids,
            "comments": self._comments,
            "feature_names": self.feature_names,
            "input_order": self.input_order,
            "came": self.came,
            "categories": self.categories,
            "n_undefined": self.n_undefined,
        }
        data = Dataset.from_parts(**{**parts, **changes})
        data.index = None if {"query_ptr", "input_order"} & changes.keys() else self.index
        return data

    @classmethod
    def from_frame(
        cls, frame: Any, *, label: str, qid: str, doc_id: str | None = None, weight: str | None = None
    ) -> Dataset:
        """Take a pandas, polars or other data frame; the columns not named here are the features."""
        from pomona.data.table import dataset_of_frame

        return dataset_of_frame(frame, label=label, qid=qid, doc_id=doc_id, weight=weight)

    @property
    def lazy_features(self) -> Features | TakenRows:
        """X of `gathered()`, or what gives its rows, where there was no room for a copy in their order."""
        return self._X

    @property
    def qid(self) -> NDArray[Any]:
        """The query id of every row, as scikit-learn's metadata routing wants it."""
        return self.to_input_order(np.repeat(self.qids, self.query_lengths))

    @property
    def query_ptr(self) -> Offsets:
        """The first row of every query, and the number of rows; refused where queries stand scattered."""
        if self.input_order is not None:
            raise InputError("the rows of a query do not stand together: gathered() puts them so")
        return self._query_ptr

    @property
    def query_lengths(self) -> NDArray[np.int64]:
        """The number of documents of every query, as `qids`."""
        return np.diff(self._query_ptr)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self._query_ptr) - 1

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return int(self._X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self._X.shape[1])

    def to_input_order(self, values: ArrayLike) -> NDArray[Any]:
        """Put one value a row, in the order of `gathered()`, into the order in which the rows came."""
        array = self._one_a_row(values)
        if self.input_order is None:
            return array
        out = np.empty_like(array)
        out[self.input_order] = array
        return out

    def from_input_order(self, values: ArrayLike) -> NDArray[Any]:
        """Put one value a row, given in the order in which the rows came, into that of `gathered()`."""
        array = self._one_a_row(values)
        return array if self.input_order is None else array[self.input_order]

    def _one_a_row(self, values: ArrayLike) -> NDArray[Any]:
        array = np.asarray(values)
        if array.ndim == 0 or len(array) != self.n_docs:
            raise InputError(f"found {array.size} values for {self.n_docs} documents")
        return array

    def gathered(self) -> Dataset:
        """The same documents, those of one query after the other, as if their rows had come so."""
        if self.input_order is None:
            return self
        return self._with(input_order=None, came=self.input_order)

    def take(self, queries: ArrayLike) -> Dataset:
        """These queries (by position, or a boolean mask), in this order.

        Where the rows came scattered, those of the part are taken to have come as they did among all.
        """
        chosen = np.asarray(queries)
        wanted = np.arange(self.n_queries)[chosen if chosen.size else chosen.astype(np.int64)]
        lengths = self.query_lengths[wanted]
        query_ptr = offsets(lengths)
        rows = np.repeat(self._query_ptr[wanted] - query_ptr[:-1], lengths) + np.arange(query_ptr[-1])
        return self.take_rows(rows, query_ptr, self.qids[wanted])

    def take_rows(
        self, rows: Offsets, query_ptr: Offsets, qids: NDArray[Any], *, lazy: bool = False
    ) -> Dataset:
        """These rows of `gathered()`, which are those of the queries `qids`, one query after the other.

        lazy : leave the features where they are until they are looked at.
        """
        source, places = self._X, rows
        if isinstance(source, TakenRows):
            source, places = source.source, source.rows[rows]
        part = self._with(
            X=TakenRows(source, places) if lazy else take(source, places),
            y=self._y[rows],
            weight=None if self._weight is None else self._weight[rows],
            given_y=None if self._given_y is None else self._given_y[rows],
            query_ptr=query_ptr,
            qids=qids,
            doc_ids=None if self._doc_ids is None else self._doc_ids.take(rows),
            comments=None if self._comments is None else self._comments.take(rows),
            input_order=None if self.input_order is None else ranks_of(self.input_order[rows]),
            came=None,
            n_undefined=None,
        )
        if self.index is not None:
            came = rows if self.input_order is None else self.input_order[rows]
            part.index = self.index.take(part.to_input_order(came))
        return part

    def split(self, fractions: Sequence[float], seed: int = 0) -> list[Dataset]:
        """Random parts of whole queries, e.g. `split([.6, .2, .2])`.

        >>> parts = Dataset(np.ones((10, 1)), np.ones(10), np.arange(10)).split([0.5, 0.3, 0.2], seed=1)
        >>> [part.n_queries for part in parts]
        [5, 3, 2]
        """
        shares = np.asarray(fractions, float)
        if shares.ndim != 1 or not shares.size or not ((shares > 0).all() and shares.sum() <= 1 + 1e-9):
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
        y: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        weight: ArrayLike | None = None,
    ) -> Dataset:
        """The same documents with other features, labels or weights; what is not given is shared."""
        if feature_names is None and (X is None or X.shape[1] == self.n_features):
            feature_names = self.feature_names
        refuse_other_index(self, y=y, weight=weight)
        changes = {} if X is None else {"X": self.from_input_order(X), "n_undefined": None}
        if y is not None:
            labels = checked_labels(y, self.n_docs)
            if not (self._y < 0).any():  # else it was said of these documents
                warn_of_negative(labels)
            changes |= {"y": self.from_input_order(labels), "given_y": None}
        if weight is not None:
            changes["weight"] = self.from_input_order(checked_weights(weight, self.n_docs))
        data = self._with(feature_names=feature_names, **changes)
        if X is not None and data.feature_names != self.feature_names:  # other features: known by their names
            by_name = {self.feature_names[place]: names for place, names in self.categories.items()}
            data.categories = {j: by_name[n] for j, n in enumerate(data.feature_names) if n in by_name}
        return data

    def filled(self, label: float = 0.0) -> Dataset:
        """The same documents with a label where there is none (NaN); `given_y` has the labels as they were.

        >>> data = Dataset([[1.0], [2.0]], [1, 0], [7, 7]).replace(y=np.array([np.nan, 2], np.float32))
        >>> data.filled().y.tolist(), data.filled().given_y.tolist()
        ([0.0, 2.0], [nan, 2.0])
        """
        is_unjudged = np.isnan(self._y)
        if not is_unjudged.any():
            return self
        return self._with(y=np.where(is_unjudged, np.float32(label), self._y), given_y=self._y)

    def widened(self, n_features: int, undefined: float = 0.0) -> Dataset:
        """The same documents with features added at the end, where a sparse file does not mention them."""
        if self.n_features == n_features:
            return self
        X = np.full((self.n_docs, n_features), undefined, np.float32)
        X[:, : self.n_features] = self._X
        names = (*self.feature_names, *numbered(n_features)[self.n_features :])
        n_undefined = self.n_undefined
        if n_undefined is not None:
            n_undefined += self.n_docs * (n_features - self.n_features)
        return self._with(X=X, feature_names=names, n_undefined=n_undefined)

    def with_features(self, names: Sequence[str]) -> Dataset:
        """The same documents with the features in the order of these names, those of a model, say.

        Features that nobody named (`f1, f2, …`) are known by their place alone. Refused are data that lack
        a feature, or have others.

        >>> data = Dataset([[1.0, 2.0]], [0], [7], feature_names=["bm25", "clicks"])
        >>> data.with_features(["clicks", "bm25"]).X.tolist()
        [[2.0, 1.0]]
        """
        wanted = tuple(names)
        if self.feature_names == wanted:
            return self
        place = {name: j for j, name in enumerate(self.feature_names)}
        if place.keys() == set(wanted) and len(place) == self.n_features == len(wanted):
            X = np.ascontiguousarray(np.asarray(self._X)[:, [place[name] for name in wanted]])
            old = ((j, place[name]) for j, name in enumerate(wanted))
            categories = {j: self.categories[at] for j, at in old if at in self.categories}
            return self._with(X=X, feature_names=wanted, categories=categories)
        is_numbered = self.feature_names == numbered(self.n_features) or wanted == numbered(len(wanted))
        if is_numbered and self.n_features == len(wanted):
            return self.replace(feature_names=wanted)
        if is_numbered:
            raise InputError(f"found {self.n_features} features, expected {len(wanted)}")
        known = set(wanted)
        missing = [name for name in wanted if name not in place]
        strange = [name for name in self.feature_names if name not in known]
        lists = {"missing": missing, "not expected": strange}
        differences = "; ".join(f"{what}: {_some(which)}" for what, which in lists.items() if which)
        raise InputError(f"the features are not those expected ({differences or 'some name stands twice'})")

    def fingerprint(self) -> str:
        """A digest of all that could change a number: what is the same data has the same one, anywhere.

        It covers, row by row in the order in which the rows came, the features (float32), the labels, the
        query and the document id, and the weight if the dataset has some; and the names of features and of
        categories. One NaN is like another, and −0 is 0. Left out is what changes no number: comments,
        whether ids are kept as numbers or texts, the names of files, and how the arrays lie in memory. It
        is the same on every machine and in every version of Pomona.

        >>> one = Dataset([[1.0], [2.0]], [0, 1], [7, 7])
        >>> one.fingerprint() == Dataset(np.array([[1], [2]]), [0.0, 1.0], ["7", "7"]).fingerprint()
        True
        >>> one.fingerprint() == Dataset([[1.0], [2.0]], [0, 2], [7, 7]).fingerprint()
        False
        """
        digest = hashlib.blake2b(b"pomona dataset 1", digest_size=16)
        order = None if self.input_order is None else np.argsort(self.input_order)
        digest.update(np.array([self.n_docs, self.n_features, self.n_queries], "<i8").tobytes())
        for first in range(0, self.n_docs, _ROWS_HASHED):
            rows = slice(first, first + _ROWS_HASHED)
            digest.update(_plain_bytes(self._X[rows if order is None else order[rows]], "<f4"))
        for values, dtype in ((self.y, "<f8"), (self.weight, "<f8")):
            digest.update(b"none" if values is None else b"some" + _plain_bytes(values, dtype))
        query = np.repeat(np.arange(self.n_queries), self.query_lengths)
        ids = self.qids.tolist()
        if order is not None:  # queries by their first row, as if the rows had been gathered now
            _, begins = np.unique(query[order], return_index=True)
            present = np.argsort(begins)
            query = np.argsort(present)[query[order]]
            ids = [ids[q] for q in present.tolist()]
        digest.update(query.astype("<i8").tobytes())
        texts = [[str(qid) for qid in ids], self.feature_names]
        for place, names in sorted(self.categories.items()):
            texts.append([str(place), *names])
        if self.doc_ids is not None and any(self.doc_ids.to_bytes()):
            texts.append(["document ids"])
            column = self.doc_ids
            digest.update(np.diff(column.offsets).astype("<i8").tobytes() + b"".join(column.to_bytes()))
        for some in texts:
            encoded = [text.encode(errors="surrogatepass") for text in some]
            digest.update(np.array([len(encoded), *map(len, encoded)], "<i8").tobytes() + b"".join(encoded))
        return digest.hexdigest()

    def describe(self) -> Statistics:
        """The row of the dataset table: queries, documents, labels, undefined values.

        >>> Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], [7, 5, 7]).describe().mean_docs
        1.5
        """
        from pomona.data.statistics import describe

        return describe(self)

    def _repr_html_(self) -> str:
        return self.describe()._repr_html_()

    def __repr__(self) -> str:
        n_unjudged = int(np.isnan(self._y).sum())
        documents = f"{self.n_docs} documents" + f" ({n_unjudged} not judged)" * (n_unjudged > 0)
        return f"Dataset({self.n_queries} queries, {documents}, {self.n_features} features)"


@cache
def numbered(n_features: int) -> tuple[str, ...]:
    """The names of features that nobody named."""
    return tuple(f"f{j}" for j in range(1, n_features + 1))


def _plain_bytes(values: NDArray[Any], dtype: str) -> bytes:
    """Numbers as bytes: one for all NaN, and no minus before a zero."""
    plain = np.asarray(values, dtype) + np.zeros(1, dtype)
    plain[np.isnan(plain)] = np.nan
    return plain.tobytes()


def _some(names: Sequence[str]) -> str:
    """The first names of a list."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
