"""Mini-batches of whole queries, each of queries of about the same length.

Queries are put in buckets by length (eight to a doubling), in random order inside a bucket, and cut into
batches in that order, so that the steps of an epoch see one kind of query after another. Documents stand in
random order inside their query: where a sort breaks ties by place, it leaks no label. The batches are made
once; every epoch visits them in a new order.

For networks that see whole lists, all lists of a batch are made as long as its longest: a shorter one repeats
its first document, which nobody sees, at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pomona._types import Offsets


@dataclass(frozen=True)
class Batch:
    """Some queries that are trained on together.

    Attributes
    ----------
    queries : their positions in the training data.
    begin, end : their rows among the laid out documents.
    query_ptr : offsets of the queries, as if their documents stood one after the other.
    places : where those stand, from `begin`; None where no list is padded.
    """

    queries: Offsets
    begin: int
    end: int
    query_ptr: Offsets
    places: Offsets | None = None

    @property
    def lengths(self) -> Offsets:
        """How many documents each query has."""
        return np.diff(self.query_ptr)


@dataclass(frozen=True)
class Layout:
    """The training documents in the order of their batches.

    Attributes
    ----------
    rows : the row of the training data that stands at each place.
    documents : the places of the documents themselves, and not of repetitions.
    """

    rows: Offsets
    batches: list[Batch]
    documents: Offsets


def lay_out(
    query_ptr: Offsets, batch_size: int, random: np.random.Generator, *, padded: bool = False
) -> Layout:
    """Batches of `batch_size` queries, their lists of one length where `padded`.

    >>> layout = lay_out(np.array([0, 2, 102, 104, 204]), 2, np.random.default_rng(0))
    >>> [sorted(batch.queries.tolist()) for batch in layout.batches]
    [[0, 2], [1, 3]]
    """
    lengths = np.diff(query_ptr)
    bucket = np.ceil(8 * np.log2(np.maximum(lengths, 1)))
    order = np.lexsort((random.random(len(lengths)), bucket))
    order = order[lengths[order] > 0]
    batches, rows, documents = [], [], []
    begin = 0
    for first in range(0, len(order), batch_size):
        queries = order[first : first + batch_size]
        lists = [query_ptr[query] + random.permutation(lengths[query]) for query in queries]
        offsets = np.concatenate(([0], np.cumsum(lengths[queries]))).astype(np.int64)
        places = np.arange(offsets[-1])
        if padded:
            longest = lengths[queries].max()
            places += np.repeat(np.arange(len(queries)) * longest - offsets[:-1], lengths[queries])
            lists = [np.append(one, np.repeat(one[:1], longest - len(one))) for one in lists]
        end = begin + sum(map(len, lists))
        batches.append(Batch(queries, begin, end, offsets, places if padded else None))
        rows += lists
        documents.append(begin + places)
        begin = end
    return Layout(np.concatenate(rows).astype(np.int64), batches, np.concatenate(documents))
