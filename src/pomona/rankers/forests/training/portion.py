"""What this machine holds of the training data: everything, or on a cluster some whole queries of it.

The loops of training ask here for whatever depends on the queries elsewhere, so that they are written once,
and a cluster comes to the same bits as one machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.objectives.base import Objective
from pomona.rankers.evaluator import RankingEvaluator, mean_of_queries
from pomona.rankers.inputs import query_weights
from pomona.trees.binning import Bins, Rows, find_nan, sampled_rows
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grow_oblivious import ObliviousGrower
from pomona.trees.grow_shared import SharedLeafwiseGrower, SharedObliviousGrower
from pomona.trees.grower import Grower, GrowthRules
from pomona.trees.histogram import IN_PLACE
from pomona.trees.peers import Peers

GROWTHS = {
    "leafwise": (LeafwiseGrower, SharedLeafwiseGrower),
    "oblivious": (ObliviousGrower, SharedObliviousGrower),
}
"""What grows trees, on one machine and on several."""

_SAMPLED_TOGETHER = 16  # features whose sampled values are brought together at a time


class Portion:
    """All of the data: what a single machine holds."""

    doc_numbers: NDArray[np.int64] = IN_PLACE
    """Of the training documents here among all; empty, if these are all."""

    def add(self, sums: NDArray[np.int64]) -> None:
        """Replace integers by their sums over all machines."""

    def n_queries(self, train: Dataset) -> int:
        """How many training queries there are in all."""
        return train.n_queries

    def count_docs(self, train: Dataset) -> int:
        """How many training documents there are in all."""
        return train.n_docs

    def here(self, of_all: NDArray[Any]) -> NDArray[Any]:
        """Of one value for each of all training queries, those of the queries here."""
        return of_all

    def any(self, is_here: bool) -> bool:
        """Whether something is so on any machine."""
        return is_here

    def join(self, objective: Objective) -> None:
        """Let an objective of the queries here be a part of that of all."""

    def grower(
        self,
        growth: str,
        X: Rows,
        rules: GrowthRules,
        max_bins: int,
        seed: int,
        *,
        on_gpu: bool = False,
        categorical: Sequence[int] = (),
    ) -> Grower:
        """What grows trees on the documents here."""
        bins = Bins.of(X, max_bins=max_bins, seed=seed, categorical=categorical)
        if on_gpu:
            if categorical:
                raise InputError("a GPU cannot split on categories so far: use device='cpu'")
            if rules.limits_nodes:
                raise InputError(
                    "a GPU cannot draw features by level or node, or keep to interactions, so far: "
                    "use device='cpu'"
                )
            from pomona.trees.cuda.grower import CUDA_GROWTHS

            return CUDA_GROWTHS[growth](bins, np.asarray(X), rules)
        return GROWTHS[growth][0](bins, bins.codes(X), rules)

    def mean(
        self,
        values: Values,
        part: str,
        by_query: Values | None = None,
        wanted: NDArray[np.bool_] | None = None,
    ) -> float:
        """The mean over all queries of `train` or `valid`, or those wanted, of values of the queries here.

        by_query : the weights of the queries here; None where all queries of the part count alike.
        """
        chosen = slice(None) if wanted is None else wanted
        if not len(values[chosen]):
            return float("nan")
        return mean_of_queries(values[chosen], None if by_query is None else by_query[chosen])

    def evaluator(self, data: Dataset, measure: Measure, part: str) -> PortionEvaluator:
        """What judges the queries of a part, `train` or `valid`, at ever new scores."""
        return PortionEvaluator(data, measure, part, self)


class PortionEvaluator:
    """The mean of a measure over all queries of a part, from scores of the documents here."""

    def __init__(self, data: Dataset, measure: Measure, part: str, portion: Portion) -> None:
        self._evaluator = RankingEvaluator(data, measure) if data.n_queries else None
        self._by_query = None if data.weight is None else np.empty(0)
        if data.weight is not None and data.n_queries:
            self._by_query = query_weights(data.weight, data)
        self._part, self._portion = part, portion

    def mean(self, scores: Scores, wanted: NDArray[np.bool_] | None = None) -> float:
        """At these scores, of all queries or of those wanted."""
        values = np.empty(0) if self._evaluator is None else self._evaluator.values(scores)
        return self._portion.mean(values, self._part, self._by_query, wanted)


class PeerPortion(Portion):
    """Some whole queries, where peers hold the others.

    Parameters
    ----------
    query_ptr : of the training queries here.
    numbers : by part, where the queries here stand among all of the part; those of `train` ascend.
    counts : by part, how many queries there are in all.
    watched : what is made of the grower of trees, if anybody watches it.
    """

    def __init__(
        self,
        peers: Peers,
        query_ptr: NDArray[np.int64],
        numbers: dict[str, NDArray[np.int64]],
        counts: dict[str, int],
        watched: Callable[[Grower, Features], Grower] = lambda grower, X: grower,
    ) -> None:
        self.peers, self._numbers, self._counts, self._watched = peers, numbers, counts, watched
        self.query_numbers, lengths = numbers["train"], np.diff(query_ptr)
        sizes = peers.placed(lengths, self.query_numbers, counts["train"])
        self.n_docs = int(sizes.sum())
        starts = (np.cumsum(sizes) - sizes)[self.query_numbers]
        self.doc_numbers = np.repeat(starts - query_ptr[:-1], lengths) + np.arange(query_ptr[-1])

    def add(self, sums: NDArray[np.int64]) -> None:
        self.peers.add(sums)

    def n_queries(self, train: Dataset) -> int:
        return self._counts["train"]

    def count_docs(self, train: Dataset) -> int:
        return self.n_docs

    def here(self, of_all: NDArray[Any]) -> NDArray[Any]:
        return of_all[self.query_numbers]

    def any(self, is_here: bool) -> bool:
        return bool(self.peers.gather(np.array([int(is_here)])).any())

    def join(self, objective: Objective) -> None:
        objective.join(self)

    def grower(
        self,
        growth: str,
        X: Rows,
        rules: GrowthRules,
        max_bins: int,
        seed: int,
        *,
        on_gpu: bool = False,
        categorical: Sequence[int] = (),
    ) -> Grower:
        if categorical:
            raise InputError("a cluster cannot split on categories so far: leave client or categorical out")
        if on_gpu:
            raise InputError("a cluster grows trees on CPUs only so far: leave device out")
        if not rules.newton_splits:
            raise InputError("a cluster cannot choose splits by gradients alone so far: leave splits out")
        table = np.asarray(X)
        bins = self._bins(table, max_bins, seed)
        grower = GROWTHS[growth][1](bins, bins.codes(table), rules, self.peers, self.doc_numbers)
        return self._watched(grower, table)

    def _bins(self, X: Features, max_bins: int, seed: int) -> Bins:
        """As `Bins.of` all documents: the documents drawn are brought together, some features at a time."""
        has_nan = find_nan(X).astype(np.int64)
        self.peers.add(has_nan)
        rows = sampled_rows(self.n_docs, seed)
        places = np.searchsorted(rows, self.doc_numbers)
        is_drawn = rows[np.minimum(places, len(rows) - 1)] == self.doc_numbers
        edges: list[Features] = []
        for first in range(0, X.shape[1], _SAMPLED_TOGETHER):
            some = slice(first, first + _SAMPLED_TOGETHER)
            n_features = len(has_nan[some])
            # An even number of columns: two numbers of 32 bits travel as one of 64.
            own = np.zeros((int(is_drawn.sum()), n_features + n_features % 2), np.float32)
            own[:, :n_features] = X[is_drawn, some]
            sample = self.peers.placed(own.view(np.int64), places[is_drawn], len(rows)).view(np.float32)
            edges += Bins.of(sample[:, :n_features], max_bins, has_nan=has_nan[some] > 0).edges
        return Bins(tuple(edges), has_nan > 0)

    def mean(
        self,
        values: Values,
        part: str,
        by_query: Values | None = None,
        wanted: NDArray[np.bool_] | None = None,
    ) -> float:
        numbers, count = self._numbers[part], self._counts[part]
        of_all = self.peers.placed(np.asarray(values, np.float64), numbers, count)
        is_wanted = np.ones(len(values), np.int64) if wanted is None else wanted.astype(np.int64)
        among = None if wanted is None else self.peers.placed(is_wanted, numbers, count) > 0
        weights = None if by_query is None else self.peers.placed(by_query, numbers, count)
        return Portion.mean(self, of_all, part, weights, among)
