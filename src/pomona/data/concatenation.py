"""Several datasets as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pomona._machine import require_memory
from pomona.data.categories import Categories, with_categories
from pomona.data.dataset import Dataset
from pomona.data.rows import gather
from pomona.data.text import TextColumn


def concatenated(parts: Sequence[Dataset], undefined: float = 0.0) -> Dataset:
    """The documents of several datasets as one, as if their rows had come one after the other.

    A query that stands in several of them is gathered. The last features of a narrower one are `undefined`,
    and its weights 1, if it has none where others have some.

    >>> one, two = Dataset([[1.0]], [0], [7]), Dataset([[2.0, 3.0], [4.0, 5.0]], [1, 2], [5, 7])
    >>> data = concatenated([one, two])
    >>> data.qids.tolist(), data.X.tolist()
    ([7, 5], [[1.0, 0.0], [2.0, 3.0], [4.0, 5.0]])
    """
    if len(parts) == 1:
        return parts[0]
    width = max(part.n_features for part in parts)
    # Of everything a copy that is as wide, one end to end, and one in order.
    n_bytes = sum(part.n_docs * (4 * width + part.qids.itemsize) for part in parts)
    require_memory(3 * n_bytes, what=f"joining {len(parts)} datasets")
    first, *others = (part.widened(width, undefined) for part in parts)
    names = first.feature_names
    wide = [first, *(part.with_features(names) for part in others)]
    categories = _all_categories(wide)
    wide = [with_categories(part, categories) for part in wide]
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
    counts = [part.n_undefined for part in wide]
    weight = None
    if any(part.weight is not None for part in wide):
        each = [np.ones(part.n_docs) if part.weight is None else part.weight for part in wide]
        weight = np.concatenate(each)[rows]
    return Dataset.from_parts(
        np.concatenate([part.X for part in wide])[rows],
        np.concatenate([part.y for part in wide])[rows],
        query_ptr,
        qids,
        feature_names=names,
        input_order=order,
        categories=categories,
        weight=weight,
        n_undefined=None if None in counts else sum(filter(None, counts)),
        doc_ids=texts["doc_ids"],
        comments=texts["comments"],
    )


def _all_categories(parts: Sequence[Dataset]) -> Categories:
    """The categories of every feature of them, of all parts."""
    places = sorted({place for part in parts for place in part.categories})
    return {p: tuple(sorted({name for part in parts for name in part.categories.get(p, ())})) for p in places}
