"""Random order, the floor of every comparison: each document's score is a hash of what it is.

    score = hash(seed, query id, features, n) / 2^64

A generator that is drawn from in turn would score a document by its place in the batch. Here it is told by
its query's id and its features, so it keeps its score in whatever order and company it comes. Documents of a
query with the very same features are told apart by their order among themselves (n), lest they tie and input
order, which in published collections often follows the labels, decide.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from pomona._splitmix import GOLDEN, mix
from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.measures.base import Measure
from pomona.rankers.base import Ranker
from pomona.rankers.parameter import NonNegativeInt

Hashes = NDArray[np.uint64]


class RandomRanker(Ranker):
    """Random order: scores that know nothing, the same for the same document.

    Parameters
    ----------
    measure : what `score` reports.
    seed : another seed, another order.

    Departures
    ----------
    None: there is no paper.
    """

    name = "random"
    aliases = ("random_ranker", "random-ranker")
    family = "baseline"
    optimizes = "nothing"
    paper = "no method: the floor of a comparison"
    reads_categories = True

    measure: str | Measure = "ndcg@10"
    seed: NonNegativeInt = 0

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        """There is nothing to learn."""

    @property
    def scores_whole_queries(self) -> bool:
        return True

    def predict_queries(self, data: Dataset) -> Scores:
        of_query = np.array([_digest(f"{self.seed} {qid}") for qid in data.qids.tolist()], np.uint64)
        hashes = np.repeat(of_query, np.diff(data.query_ptr))
        for column in np.ascontiguousarray(data.X.T) + np.float32(0.0):  # −0 becomes 0, which it equals
            column[np.isnan(column)] = np.nan  # one of the many bit patterns of NaN
            hashes = mix((hashes ^ column.view(np.uint32)) + GOLDEN)
        hashes = mix((hashes ^ _copy_number(hashes, data)) + GOLDEN)
        return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _copy_number(hashes: Hashes, data: Dataset) -> Hashes:
    """How many documents of the same query and hash stand before each document."""
    query = np.repeat(np.arange(data.n_queries), np.diff(data.query_ptr))
    order = np.lexsort((hashes, query))
    same = (hashes[order][1:] == hashes[order][:-1]) & (query[order][1:] == query[order][:-1])
    places = np.arange(data.n_docs)
    run_starts = np.maximum.accumulate(np.where(np.concatenate(([True], ~same)), places, 0))
    numbers = np.empty(data.n_docs, np.uint64)
    numbers[order] = places - run_starts
    return numbers
