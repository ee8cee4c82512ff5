"""PermuRank (Xu, Liu, Lu, Li & Ma 2008), reconstructed: a structural SVM towards any measure.

A ranking π of a query of n documents is described by

    Φ(π) = 1/(n (n − 1)) Σ_{k above l in π} (x_k − x_l),   F(π) = w · Φ(π)

so that sorting by w · x is the ranking with the largest F. With E the measure, the loss is

    mean over queries of  max_{π* perfect, π not}  [E(π*) − E(π) − (F(π*) − F(π))]₊

where π runs over a working set, as there are too many rankings. The set begins with wrong rankings. Then, in
rounds, the SVM over the sets is solved and every query's set takes in the model's own ranking where that has
a larger loss than any it holds, until none has. So the model's own ranking always costs at least its
E(π*) − E(π); but it need not be the most violated one, and the result need not be SVMmap's for E = AP.

The SVM is solved by `cutting_planes`, in its 1-slack form: a tangent is the mean over queries of the worst
ranking in each set. Sets and planes are kept from one C to the next.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Offsets, Scores, Values
from pomona.data.dataset import Dataset
from pomona.data.rows import read_only
from pomona.errors import NothingToLearnError
from pomona.measures.base import Measure
from pomona.measures.lists import RankedLists, longest_query
from pomona.rankers.inputs import documents_that_count, means_of_queries
from pomona.rankers.linear.margin_ranker import MarginRanker
from pomona.rankers.linear.solvers.cutting_planes import CuttingPlanes
from pomona.rankers.linear.sums.feature_sums import feature_sums, weighted_sums
from pomona.rankers.linear.sums.label_sums import grades
from pomona.rankers.linear.sums.ranking import Ranking
from pomona.rankers.parameter import NonNegativeInt, PositiveInt


@kernel
def _to_perfect(first, last, X, rows, grades, query_ptr, out):
    """Φ(π*) − Φ(π), π* the perfect ranking that keeps π's order among equal labels.

    X (n_docs, n_features) float32 · rows (n_docs,) π, query by query · grades (n_docs,) 1 … K in each
    query · out (n_queries, n_features) float32.
    """
    longest = longest_query(first, last, query_ptr)
    next_rank, total = np.empty(longest + 1, np.int64), np.empty(X.shape[1])
    for q in range(first, last):
        ranked = rows[query_ptr[q] : query_ptr[q + 1]]
        n, top = ranked.size, 0
        for i in ranked:
            top = max(top, grades[i])
        next_rank[: top + 1] = 0
        for i in ranked:
            next_rank[grades[i]] += 1
        higher = 0
        for grade in range(top, -1, -1):
            higher, next_rank[grade] = higher + next_rank[grade], higher
        total[:] = 0.0
        for rank in range(n):
            i = ranked[rank]
            rise = rank - next_rank[grades[i]]
            next_rank[grades[i]] += 1
            if rise != 0:
                for j in range(total.size):
                    total[j] += rise * np.float64(X[i, j])
        for j in range(total.size):
            out[q, j] = np.float32(2.0 * total[j] / (n * (n - 1))) if n > 1 else np.float32(0)


class WorkingSets:
    """Wrong rankings of every query, each as the plane of its hinge.

    Attributes
    ----------
    query, slopes, offsets : of each ranking its query (ascending), Φ(π*) − Φ(π), and E(π*) − E(π).
    """

    def __init__(
        self,
        data: Dataset,
        measure: Measure,
        *,
        n_random: int,
        seed: int,
        weights: Values | None = None,
        ranker: str = "PermuRank",
    ) -> None:
        data, weights = documents_that_count(data, weights)
        self._data, self._measure = data, measure
        self._lists = RankedLists.of_documents(data.y, data.query_ptr)
        self._perfect = measure.of_lists(replace(self._lists, codes=self._lists.pool_codes))
        self._grades, _ = grades(data.y, data.query_ptr)
        random = np.random.default_rng(seed)
        self._ranking = Ranking(data.query_ptr, random)
        self._weights = means_of_queries(weights, data, ranker, "a measure is of a whole ranking")
        self.query, self.offsets = np.empty(0, np.int64), np.empty(0)
        self.slopes: Features = np.empty((0, data.n_features), np.float32)
        reversed_list = -data.y.astype(np.float64)
        for scores in (reversed_list, *(random.random(data.n_docs) for _ in range(n_random))):
            slopes, lost = self._planes(scores)
            self._add(np.flatnonzero(lost > 0), slopes, lost)
        self._weights[np.setdiff1d(np.arange(data.n_queries), self.query)] = 0.0
        if not self._weights.any():
            raise NothingToLearnError(f"by {measure} no ranking is worse than the order of the labels")
        self._weights /= self._weights.sum()

    def tangent(self, w: Values) -> tuple[Values, float]:
        """The plane that touches the mean loss over the sets at w."""
        worst, slack = self._worst(w)
        weights = np.zeros(len(self.offsets))
        weights[worst] = np.where(slack > 0, self._weights[self.query[worst]], 0.0)
        return feature_sums(self.slopes, weights), float((weights * self.offsets).sum())

    def take_in(self, w: Values, tolerance: float) -> bool:
        """Add w's own rankings whose loss exceeds that of their set; False if that hardly matters."""
        slopes, lost = self._planes(weighted_sums(self._data.X, w))
        excess = np.where(lost > 0, lost - weighted_sums(slopes, w), 0.0)
        worst, slack = self._worst(w)
        excess[self.query[worst]] -= slack
        if float((self._weights * np.maximum(excess, 0.0)).sum()) <= tolerance:
            return False
        self._add(np.flatnonzero(excess > 0), slopes, lost)
        return True

    def _worst(self, w: Values) -> tuple[Offsets, Values]:
        """Of each set the first ranking of largest hinge, and that hinge."""
        hinges = np.maximum(self.offsets - weighted_sums(self.slopes, w), 0.0)
        begins = np.flatnonzero(np.diff(self.query, prepend=-1))
        slack: Values = np.maximum.reduceat(hinges, begins)
        is_worst = hinges == np.repeat(slack, np.diff(begins, append=len(hinges)))
        worst = np.flatnonzero(is_worst)
        return worst[np.flatnonzero(np.diff(self.query[worst], prepend=-1))], slack

    def _planes(self, scores: Scores) -> tuple[Features, Values]:
        """Of the ranking of each query by these scores, Φ(π*) − Φ(π) and E(π*) − E(π)."""
        data, rows = self._data, self._ranking.by(scores)
        lost = self._perfect - self._measure.of_lists(replace(self._lists, codes=self._lists.codes[rows]))
        slopes = np.empty((data.n_queries, data.n_features), np.float32)
        query_ptr = read_only(data.query_ptr)
        over_chunks(
            _to_perfect, data.n_queries, read_only(data.X), rows, self._grades, query_ptr, slopes, smallest=16
        )
        return slopes, np.where(lost > 1e-12, lost, 0.0)

    def _add(self, queries: Offsets, slopes: Features, offsets: Values) -> None:
        queries = queries[self._weights[queries] > 0]
        query = np.concatenate((self.query, queries))
        order = np.argsort(query, kind="stable")
        self.query = query[order]
        self.slopes = np.concatenate((self.slopes, slopes[queries]))[order]
        self.offsets = np.concatenate((self.offsets, offsets[queries]))[order]


class _GrowingSets(CuttingPlanes):
    """The SVM over the sets, solved again as they grow."""

    def __init__(self, sets: WorkingSets, n_rounds: int, n_features: int, **rules: Any) -> None:
        super().__init__(sets.tangent, n_features, **rules)
        self._sets, self._n_rounds = sets, n_rounds

    def solve(self, C: float) -> None:
        """Solve and grow until the model's own rankings are all in the sets, or as good as."""
        super().solve(C)
        for _ in range(self._n_rounds - 1):
            if not self.converged or not self._sets.take_in(self.coef, self._tolerance):
                return
            super().solve(C)


class PermuRank(MarginRanker):
    """PermuRank (reconstructed): a structural SVM towards any measure, on the model's own rankings.

    Parameters
    ----------
    measure : what is trained, what C is chosen by, and what `score` reports; any measure, any convention.
    C : the weight of the mean loss of a query: a number, or `validate` to try 1 … 1000000 and keep the one
        that ranks the validation queries best (1000 without any).
    max_iterations : the most cutting planes each time that the SVM is solved.
    tolerance : stop when the mean loss could fall by no more than this, and grow the sets only for more.
    n_rounds : the most rounds for each C: the SVM is solved, the model's own rankings join the sets.
    n_random : random rankings that each set begins with, beside the reversed list.
    seed : of those, and of the order of equal scores.

    Departures
    ----------
    *Reconstructed*: the body of the paper was not at hand. These are our choices, where it may differ:

    - The sets begin with the reversed list and a few random ones.
    - Each π is compared with one perfect ranking, that which keeps π's order among equal labels. For the
      model's own ranking it is the perfect one of largest F. Then Φ(π*) − Φ(π) holds only pairs of different
      labels, and nothing is demanded of documents that are equally good.
    - The measure's convention and cut-off hold; how it breaks ties does not matter, a ranking has none.
    - C is chosen on the validation queries, and features are scaled inside each query (`normalize`).
    """

    name = "permurank"
    aliases = ("perm_rank", "permu_rank")
    family = "list-wise"
    optimizes = "bound"
    paper = "Xu, Liu, Lu, Li & Ma, SIGIR 2008 (reconstructed)"
    search_space = {"C": (1.0, 1e6, "log")}

    max_iterations: PositiveInt = 2000
    n_rounds: PositiveInt = 50
    n_random: NonNegativeInt = 3
    seed: NonNegativeInt = 0

    def make_problem(self, train: Dataset, weights: Values | None) -> CuttingPlanes:
        sets = WorkingSets(
            train,
            self.parsed_measure,
            n_random=self.n_random,
            seed=self.seed,
            weights=weights,
            ranker=type(self).__name__,
        )
        rules = {"tolerance": self.tolerance, "max_iterations": self.max_iterations}
        return _GrowingSets(sets, self.n_rounds, train.n_features, typical_c=1000.0, **rules)
