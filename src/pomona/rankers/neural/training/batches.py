"""Mini-batches of whole queries, each of queries of about the same length.

Queries are put in buckets by length (eight to a doubling, so that padding a batch to its longest query
costs little), in random order inside a bucket, and cut into batches in that order. Documents stand in
random order inside their query: where a sort breaks ties by place, it leaks no label. The batches are made
once; every epoch visits them in a new order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pomona._types import Offsets

MOST_PAIRS = 2**26
"""Of a padded batch: queries × longest², so that pairwise losses fit into memory however long a query is."""


@dataclass(frozen=True)
class Batch:
    """Some queries that are trained on together.

    Attributes
    ----------
    queries : their positions in the training data.
    begin, end : their rows among the laid out documents.
    query_ptr : offsets of the queries, from `begin`.
    """

    queries: Offsets
    begin: int
    end: int
    query_ptr: Offsets


@dataclass(frozen=True)
class Layout:
    """The training documents in the order of their batches.

    Attributes
    ----------
    rows : the row of the training data that stands at each place.
    """

    rows: Offsets
    batches: list[Batch]

    @cached_property
    def query_ptr(self) -> Offsets:
        """Offsets of all queries, in the order of the batches."""
        ends = [batch.begin + batch.query_ptr[1:] for batch in self.batches]
        return np.concatenate([[0], *ends]).astype(np.int64)


def lay_out(query_ptr: Offsets, batch_size: int, random: np.random.Generator) -> Layout:
    """Batches of `batch_size` queries, fewer where they are very long.

    >>> layout = lay_out(np.array([0, 2, 102, 104, 204]), 2, np.random.default_rng(0))
    >>> [sorted(batch.queries.tolist()) for batch in layout.batches]
    [[0, 2], [1, 3]]
    """
    lengths = np.diff(query_ptr)
    bucket = np.ceil(8 * np.log2(np.maximum(lengths, 1)))
    order = np.lexsort((random.random(len(lengths)), bucket))
    order = order[lengths[order] > 0]
    batches, rows = [], []
    first = begin = 0
    while first < len(order):
        some = lengths[order[first : first + batch_size]]
        n_pairs = np.arange(1, len(some) + 1) * np.maximum.accumulate(some) ** 2
        last = first + max(1, int((n_pairs <= MOST_PAIRS).sum()))
        queries = order[first:last]
        offsets = np.concatenate(([0], np.cumsum(lengths[queries]))).astype(np.int64)
        rows += [query_ptr[query] + random.permutation(lengths[query]) for query in queries]
        batches.append(Batch(queries, begin, begin + int(offsets[-1]), offsets))
        first, begin = last, begin + int(offsets[-1])
    return Layout(np.concatenate(rows).astype(np.int64), batches)
