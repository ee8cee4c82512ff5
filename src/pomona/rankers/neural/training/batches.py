"""Mini-batches of whole queries, each of queries of about the same length.

Queries are put in buckets by length (eight to a doubling), in random order inside a bucket, and cut into
batches in that order, so that the steps of an epoch see one kind of query after another. Documents stand in
random order inside their query: where a sort breaks ties by place, it leaks no label. The batches are made
once; every epoch visits them in a new order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pomona._types import Offsets


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
    """Batches of `batch_size` queries.

    >>> layout = lay_out(np.array([0, 2, 102, 104, 204]), 2, np.random.default_rng(0))
    >>> [sorted(batch.queries.tolist()) for batch in layout.batches]
    [[0, 2], [1, 3]]
    """
    lengths = np.diff(query_ptr)
    bucket = np.ceil(8 * np.log2(np.maximum(lengths, 1)))
    order = np.lexsort((random.random(len(lengths)), bucket))
    order = order[lengths[order] > 0]
    batches, rows = [], []
    begin = 0
    for first in range(0, len(order), batch_size):
        queries = order[first : first + batch_size]
        offsets = np.concatenate(([0], np.cumsum(lengths[queries]))).astype(np.int64)
        rows += [query_ptr[query] + random.permutation(lengths[query]) for query in queries]
        batches.append(Batch(queries, begin, begin + int(offsets[-1]), offsets))
        begin += int(offsets[-1])
    return Layout(np.concatenate(rows).astype(np.int64), batches)
