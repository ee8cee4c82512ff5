"""Scores of documents that have traded their values of one feature: what permutation importance needs.

A code depends on the value alone, so the documents are coded once and codes are traded instead of values; and
trees that do not split on the feature give what they gave before, so only the others are walked again.

What those others gave is taken off the score. So that documents of the same leaves tie whatever was taken off
and added, leaf values are rounded to multiples of a power of two that is small enough for the last digits
only, and large enough for every sum to be exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from pomona._types import Features, Offsets, Scores
from pomona.trees.coded import CodedForest
from pomona.trees.lanes import N_LANES
from pomona.trees.score import add_trees, encoded

_EXACT_BITS = 52


class PermutedScorer:
    """Scores the same documents with one feature after another permuted."""

    def __init__(self, coded: CodedForest, X: Features, base: float) -> None:
        largest = (
            abs(base) + np.maximum.reduceat(np.abs(coded.value), coded.leaf_ptr[:-1].astype(np.int64)).sum()
        )
        unit = 2.0 ** (np.frexp(largest)[1] - _EXACT_BITS)
        value = np.round(coded.value / unit) * unit
        value.flags.writeable = False
        self._coded, self._n_docs = replace(coded, value=value), len(X)
        self._codes = encoded(coded, X)
        self._scores = np.full(len(X), np.round(base / unit) * unit)
        add_trees(self._coded, self._codes, 0, coded.n_trees, self._scores)

    @property
    def scores(self) -> Scores:
        """The scores of the documents as they are."""
        return self._scores

    def permuted(self, feature: int, orders: Iterable[Offsets]) -> Iterator[Scores]:
        """The scores when document i has the feature's value of document order[i], for each order."""
        planes = np.flatnonzero(self._coded.plane_owner == feature)
        if not len(planes):
            yield from (self.scores for _ in orders)
            return
        part = self._coded.trees_on(feature)
        rest = self._scores - self._walked(part)
        kept = self._codes[:, planes]
        by_document = kept.transpose(0, 2, 1).reshape(-1, len(planes))
        try:
            for order in orders:
                traded = by_document.copy()
                traded[: self._n_docs] = by_document[order]
                self._codes[:, planes] = traded.reshape(-1, N_LANES, len(planes)).transpose(0, 2, 1)
                yield rest + self._walked(part)
        finally:
            self._codes[:, planes] = kept

    def _walked(self, trees: CodedForest) -> Scores:
        """What trees give the documents."""
        out = np.zeros(self._n_docs)
        add_trees(trees, self._codes, 0, trees.n_trees, out)
        return out
