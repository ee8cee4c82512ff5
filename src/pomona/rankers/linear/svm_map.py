"""SVMmap (Yue, Finley, Radlinski & Joachims 2007): a structural SVM whose loss bounds 1 − AP.

A ranking ŷ of a query with p relevant and m other documents is described by

    Ψ(ŷ) = 1/(p m) Σ_{i relevant} Σ_{j not} (x_i − x_j if ŷ puts i above j, else x_j − x_i)

so that sorting by w · x is the ranking with the largest w · Ψ. With y a perfect ranking, the loss is

    mean over queries of  max_ŷ  1 − AP(ŷ) − w · (Ψ(y) − Ψ(ŷ))

The maximum is found exactly. In it relevant documents stand in the order of their scores s⁺_1 ≥ s⁺_2 …, and
the others in that of theirs; the j-th of these goes directly above the relevant k for which the sum of δ_j
from k to p is largest, or below all where no sum is above 0:

    δ_j(k) = 1/p (j/(j + k) − (j − 1)/(j + k − 1)) − 2/(p m) (s⁺_k − s⁻_j)

As these places only move down with j, the search for j ends at the place of j − 1, and ends for good with the
first that stays below all; that is O(p m) at worst. The solver is `cutting_planes`, in its 1-slack form. C is
divided by the number of queries that have both relevant and other documents; the rest teach nothing.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.data.rows import read_only
from pomona.errors import NothingToLearnError
from pomona.measures.base import Measure
from pomona.measures.lists import longest_query
from pomona.rankers.inputs import documents_that_count, means_of_queries
from pomona.rankers.linear.margin_ranker import MarginRanker
from pomona.rankers.linear.solvers.cutting_planes import CuttingPlanes
from pomona.rankers.linear.sums.feature_sums import feature_sums, weighted_sums
from pomona.rankers.linear.sums.ranking import Ranking
from pomona.rankers.parameter import PositiveInt


@kernel
def _most_violated(first, last, scores, rows, relevant, query_ptr, out_loss, out_pull):
    """The ranking with the largest 1 − AP(ŷ) + w · Ψ(ŷ) of every query.

    rows (n_docs,) by descending score in each query · relevant (n_docs,) bool · out_loss (n_queries,)
    1 − AP(ŷ) · out_pull (n_docs,) such that Ψ(y) − Ψ(ŷ) = Σ pull_i x_i.
    """
    longest = longest_query(first, last, query_ptr)
    good, bad = np.empty(longest, np.int64), np.empty(longest, np.int64)
    entered = np.empty(longest + 1, np.int64)
    for q in range(first, last):
        p, m = 0, 0
        for i in rows[query_ptr[q] : query_ptr[q + 1]]:
            out_pull[i] = 0.0
            if relevant[i]:
                good[p] = i
                p += 1
            else:
                bad[m] = i
                m += 1
        out_loss[q] = 0.0
        if p == 0 or m == 0:
            continue
        share = 2.0 / (p * m)
        entered[: p + 1] = 0  # how many others go directly above the k-th relevant
        highest = 1
        for j in range(1, m + 1):
            i = bad[j - 1]
            total, best, place = 0.0, 0.0, p + 1
            for k in range(p, highest - 1, -1):
                change = j / (j + k) - (j - 1) / (j + k - 1)
                total += change / p - share * (scores[good[k - 1]] - scores[i])
                if total > best:
                    best, place = total, k
            if place > p:
                break
            entered[place] += 1
            out_pull[i] = -share * (p + 1 - place)
            highest = place
        precision, above = 0.0, 0
        for k in range(1, p + 1):
            above += entered[k]
            precision += k / (k + above)
            out_pull[good[k - 1]] = share * above
        out_loss[q] = 1.0 - precision / p


class APLoss:
    """The mean over queries of the hinge that bounds 1 − AP, by its tangents."""

    def __init__(
        self, data: Dataset, relevant: float, weights: Values | None = None, ranker: str = "SVMMap"
    ) -> None:
        data, weights = documents_that_count(data, weights)
        self._data, self._relevant = data, data.y >= np.float32(relevant)  # as measures compare
        self._lengths = np.diff(data.query_ptr)
        n_relevant = np.add.reduceat(self._relevant.astype(np.int64), data.query_ptr[:-1])
        given = means_of_queries(weights, data, ranker, "average precision is of a whole ranking")
        self._weights = np.where((n_relevant > 0) & (n_relevant < self._lengths), given, 0.0)
        if not self._weights.any():
            raise NothingToLearnError(
                f"no query has documents with a label of at least {relevant:g} and others below"
            )
        self._weights /= self._weights.sum()
        self._ranking = Ranking(data.query_ptr)

    def most_violated(self, w: Values) -> tuple[Values, Values]:
        """1 − AP of each query's most violated ranking, and the weights of its documents in Ψ(y) − Ψ(ŷ)."""
        data = self._data
        scores = weighted_sums(data.X, w)
        loss, pull = np.empty(data.n_queries), np.empty(data.n_docs)
        lists = scores, self._ranking.by(scores), self._relevant, read_only(data.query_ptr)
        over_chunks(_most_violated, data.n_queries, *lists, loss, pull, smallest=16)
        return loss, pull

    def tangent(self, w: Values) -> tuple[Values, float]:
        """The plane that touches the loss at w."""
        loss, pull = self.most_violated(w)
        slope = feature_sums(self._data.X, pull * np.repeat(self._weights, self._lengths))
        return slope, float((self._weights * loss).sum())


class SVMMap(MarginRanker):
    """SVMmap: a structural SVM towards average precision.

    Parameters
    ----------
    measure : what `score` reports, and what C is chosen by; average precision is trained whatever it is.
    C : the weight of the mean loss of a query: a number, or `validate` to try 0.01 … 10000 and keep the one
        that ranks the validation queries best (10 without any).
    max_iterations : the most cutting planes for each C.
    tolerance : stop when the mean loss could fall by no more than this.
    relevant : the smallest relevant label.

    Departures
    ----------
    - The cutting planes are averaged over queries into one a round (1-slack, Joachims et al. 2009); the paper
      has constraints for each query. Same optimum, and the tangents are found a quarter of the way to the
      bound's minimum.
    - Labels of at least `relevant` are relevant; the paper's are binary.
    - C is chosen on the validation queries, and features are scaled inside each query (`normalize`).
    """

    name = "svmmap"
    aliases = ("svm_map",)
    family = "list-wise"
    optimizes = "bound"
    paper = "Yue, Finley, Radlinski & Joachims, SIGIR 2007"
    search_space = {"C": (1e-2, 1e4, "log")}

    measure: str | Measure = "ap"
    max_iterations: PositiveInt = 2000
    relevant: float = 1.0

    def make_problem(self, train: Dataset, weights: Values | None) -> CuttingPlanes:
        return CuttingPlanes(
            APLoss(train, self.relevant, weights, type(self).__name__).tangent,
            train.n_features,
            typical_c=10.0,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        )
