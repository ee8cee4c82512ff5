"""RankSVM (Herbrich et al. 2000; Joachims 2002), in the primal (Chapelle & Keerthi 2010).

    min_w  ½‖w‖² + C Σ_{i above j} c_ij max(0, 1 − (z_i − z_j))²,   z = Xw

over all pairs of documents of a query of which i has the higher label; c is 1, or what the weights of the two
make of it. It is minimized by a truncated Newton
method: SciPy's trust region with conjugate gradients, which is also LIBLINEAR's. The hinge that is not
squared has no second derivative; it is minimized by `cutting_planes`, as SVMrank does.

Pairs are never listed. With l⁺_i and γ⁺_i the number and the summed scores of the documents of higher label
that are less than 1 above i, and l⁻_i, γ⁻_i of those of lower label that are less than 1 below it,

    u_i = (l⁺_i + l⁻_i) z_i − γ⁺_i − γ⁻_i,   e_i = l⁻_i − l⁺_i
    squared hinge = Σ_i z_i (u_i − 2 e_i) + l⁻_i,   ∇ = w + 2C Xᵀ(u − e)
    Hv = v + 2C Xᵀ((l⁺ + l⁻) ∘ a − γ⁺(a) − γ⁻(a)),   a = Xv
    hinge = Σ_i l⁻_i − z_i e_i,   ∇ = w − C Xᵀe

and a sweep over the sorted scores of a query with a tree of sums over the labels gives all of these in
O(n log n + n log K) for K distinct labels (Lee & Lin 2014).

Every pair counts alike (by weights, the product of its documents' beside those of their query), hence long
queries more than short ones. Labels need not be integers. C multiplies
the sum over pairs, as in LIBLINEAR; the grid that is searched is laid out by the number of pairs.

A kernel makes features of its own of the documents (`nystroem`), of which the rest is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.data.rows import read_only
from pomona.errors import InputError, NothingToLearnError
from pomona.rankers.base import SearchRange
from pomona.rankers.inputs import documents_that_count, weights_in_queries
from pomona.rankers.learnt import FINITE, Array
from pomona.rankers.linear.margin_ranker import MarginRanker, Problem
from pomona.rankers.linear.solvers.cutting_planes import CuttingPlanes
from pomona.rankers.linear.solvers.nystroem import Kernel, NystroemFeatures
from pomona.rankers.linear.sums.feature_sums import feature_sums, weighted_sums
from pomona.rankers.linear.sums.label_sums import grades
from pomona.rankers.linear.sums.pair_hinge import sum_above, sum_below
from pomona.rankers.linear.sums.ranking import Ranking
from pomona.rankers.movable import Movable
from pomona.rankers.parameter import NonNegativeInt, PositiveFloat, PositiveInt


@kernel
def _sum_partners(first, last, scores, rows, grades, query_ptr, relative, values, above, below, total):
    """Over the pairs within the margin: a document's partners above and below, and the sum of their values.

    relative (n_docs,) what a partner counts · scores, values (n_docs,) · rows (n_docs,) by falling score in
    each query · grades (n_docs,) from 1 in each query · above, below, total (n_docs,) are written to.
    """
    for q in range(first, last):
        ranked = rows[query_ptr[q] : query_ptr[q + 1]]
        s, y = scores[ranked], grades[ranked]
        terms, sums = np.empty((ranked.size, 2)), np.empty((ranked.size, 2))
        for at in range(ranked.size):
            counts = relative[ranked[at]]
            terms[at, 0], terms[at, 1] = counts, counts * values[ranked[at]]
        sum_below(s, y, terms, sums)
        for at in range(ranked.size):
            below[ranked[at]], total[ranked[at]] = sums[at]
        sum_above(s, y, terms, sums)
        for at in range(ranked.size):
            above[ranked[at]] = sums[at, 0]
            total[ranked[at]] += sums[at, 1]


class PairLoss:
    """Σ over the pairs of max(0, 1 − (z_i − z_j))², and without the square; documents may have weights."""

    def __init__(self, data: Dataset, weights: Values | None = None) -> None:
        data, weights = documents_that_count(data, weights)
        self._data, self._lengths = data, np.diff(data.query_ptr)
        self._grades, _ = grades(data.y, data.query_ptr)
        by_query, relative = weights_in_queries(weights, data)
        self._relative = np.ones(data.n_docs) if relative is None else relative
        self._weights = np.repeat(by_query, self._lengths) * self._relative
        self._ranking = Ranking(data.query_ptr)
        self._scores = np.zeros(data.n_docs)
        self._rows = self._ranking.by(self._scores)
        _, below, _ = self._partners(self._scores)  # of equal scores every pair is within the margin
        self.n_pairs = float((self._weights * below).sum())

    def at(self, w: Values) -> tuple[float, Values]:
        """The squared loss and its gradient."""
        z = self._rank(w)
        above, below, total = self._partners(z)
        u, e = (above + below) * z - total, below - above
        loss = float((self._weights * (z * (u - 2 * e) + below)).sum())
        return max(loss, 0.0), feature_sums(self._data.X, 2 * self._weights * (u - e))

    def tangent(self, w: Values) -> tuple[Values, float]:
        """(slope, offset) of the mean hinge, not squared: offset − slope · w, which is nowhere above it."""
        above, below, _ = self._partners(self._rank(w))
        slope = feature_sums(self._data.X, self._weights * (below - above))
        return slope / self.n_pairs, float((self._weights * below).sum()) / self.n_pairs

    def product(self, v: Values) -> Values:
        """The Hessian of the squared loss at the w of the last `at`, times v."""
        a = self._centered(v)
        above, below, total = self._partners(a)
        return feature_sums(self._data.X, 2 * self._weights * ((above + below) * a - total))

    def _rank(self, w: Values) -> Scores:
        """The scores of w, by which documents are now ranked."""
        self._scores = self._centered(w)
        self._rows = self._ranking.by(self._scores)
        return self._scores

    def _centered(self, w: Values) -> Scores:
        """Scores less the mean of their query: differences stay, and large sums lose fewer digits."""
        scores = weighted_sums(self._data.X, w)
        means = np.add.reduceat(scores, self._data.query_ptr[:-1]) / self._lengths
        return scores - np.repeat(means, self._lengths)

    def _partners(self, values: Values) -> tuple[Values, Values, Values]:
        """Of each document, its partners above and below within the margin, and the sum of their values."""
        data, n = self._data, self._data.n_docs
        lists = self._scores, self._rows, self._grades, read_only(data.query_ptr), self._relative
        sums = np.empty(n), np.empty(n), np.empty(n)
        over_chunks(_sum_partners, data.n_queries, *lists, values, *sums, smallest=16)
        return sums


class _Newton:
    """½‖w‖² + C · loss(w), divided by C |P| so that its numbers are near 1 for any data, and its minimum."""

    def __init__(self, loss: PairLoss, n_features: int, tolerance: float, max_iterations: int) -> None:
        self._loss, self._tolerance, self._max_iterations = loss, tolerance, max_iterations
        self.typical_c = 100.0 / loss.n_pairs
        self.coef, self.converged = np.zeros(n_features), False
        self._penalty, self._at = 0.0, self.coef
        self._steepest = float(np.linalg.norm(self.value(self.coef)[1]))

    def solve(self, C: float) -> None:
        """Minimize for this C, from the solution of the last."""
        self.converged = self._steepest == 0  # no feature tells the documents of any pair apart: w stays 0
        if self.converged:
            return
        _check_size(C, C * self._loss.n_pairs)
        self._penalty = 1.0 / (C * self._loss.n_pairs)
        solution = minimize(
            self.value,
            self.coef,
            jac=True,
            hessp=self.product,
            method="trust-ncg",
            callback=self._keep,
            options={
                "gtol": self._tolerance * self._steepest,
                "maxiter": self._max_iterations,
                "max_trust_radius": 1e12,  # features may be small, and weights large
            },
        )
        self.coef, self.converged = solution.x, bool(solution.success)

    def value(self, w: Values) -> tuple[float, Values]:
        """What is minimized, and its gradient."""
        self._at = w.copy()
        loss, gradient = self._loss.at(w)
        n_pairs = self._loss.n_pairs
        return loss / n_pairs + 0.5 * self._penalty * float(w @ w), gradient / n_pairs + self._penalty * w

    def product(self, w: Values, v: Values) -> Values:
        """The Hessian at w, times v."""
        if not np.array_equal(w, self._at):  # a step was tried, and taken back
            self.value(w)
        return self._loss.product(v) / self._loss.n_pairs + self._penalty * v

    def _keep(self, xk: Values) -> None:
        self.coef = xk.copy()


class _Planes(CuttingPlanes):
    """½‖w‖² + C · hinge(w), of which the planes see the mean over the pairs."""

    def __init__(self, loss: PairLoss, n_features: int, tolerance: float, max_iterations: int) -> None:
        self._n_pairs = loss.n_pairs
        super().__init__(
            loss.tangent,
            n_features,
            typical_c=100.0 / loss.n_pairs,
            tolerance=tolerance,
            max_iterations=max_iterations,
        )

    def solve(self, C: float) -> None:
        """Minimize for this C, from the solution of the last."""
        _check_size(C, C * self._n_pairs)
        super().solve(C * self._n_pairs)


class RankSVM(MarginRanker):
    """RankSVM: a margin between every two documents of different label, linear or by a kernel.

    Parameters
    ----------
    loss : of a pair whose margin is short of 1: `squared_hinge`, or `hinge`.
    C : the weight of the loss of a pair: a number, or `validate` to try 0.1 … 100000 over the number
        of pairs and keep the one that ranks the validation queries best (100 over it without any).
    kernel : `linear`, `rbf` for exp(−gamma ‖x − x'‖²), or `poly` for (gamma x·x' + 1)^degree.
    gamma : of the kernel; None for one over the number of features times the variance of their values.
    degree : of the kernel `poly`.
    n_components : of a kernel, how many training documents stand for all of them: more are nearer to the
        exact machine, and slower.
    seed : draws them.
    max_iterations : the most Newton steps (of the hinge, cutting planes) for each C.
    tolerance : stop when the gradient is so small beside the one at w = 0, LIBLINEAR's default; of the hinge,
        when the mean over pairs could fall by no more than this, SVMrank's.

    Attributes
    ----------
    landmarks_, dual_coef_, gamma_ : of a kernel: the documents that stand for all, as they are normalized,
        the weight of each in the score, and the gamma used.
    coef_ : of a kernel, how the score grows with each feature, on average over these documents.

    Departures
    ----------
    - The hinge is squared by default (Chapelle & Keerthi), where Herbrich et al. and Joachims have the hinge
      itself: `loss="hinge"`. The objective is then theirs; the solver is SVMrank's, without its program.
    - A kernel is approximated by Nyström's features of `n_components` documents; Joachims' is exact.
    - Features are scaled inside each query (`normalize`).
    - C is chosen on the validation queries, from a grid over the number of pairs. No pair is weighted by the
      length of its query, as Cao et al. (2006) do.
    """

    name = "ranksvm"
    aliases = ("rank_svm",)
    family = "pair-wise"
    optimizes = "surrogate"
    paper = "Joachims, KDD 2002; Chapelle & Keerthi, Information Retrieval 2010"
    search_space = {"C": (1e-7, 1.0, "log")}
    learnt_attributes = {
        "landmarks_": Array("n_landmarks", "n_features", dtype=np.float32),
        "dual_coef_": Array("n_landmarks"),
        "gamma_": FINITE,
    }

    loss: Literal["squared_hinge", "hinge"] = "squared_hinge"
    kernel: Literal["linear", "rbf", "poly"] = "linear"
    gamma: PositiveFloat | None = None
    degree: PositiveInt = 3
    n_components: PositiveInt = 200
    seed: NonNegativeInt = 0
    tolerance: PositiveFloat = 1e-3

    @classmethod
    def space_for(cls, parameters: Mapping[str, Any]) -> Mapping[str, SearchRange]:
        """What is worth searching in a ranker of these parameters: with a kernel, its gamma too."""
        is_linear = parameters.get("kernel", cls.kernel) == "linear"
        return cls.search_space if is_linear else {**cls.search_space, "gamma": (1e-3, 10.0, "log")}

    def make_problem(self, train: Dataset, weights: Values | None) -> Problem:
        loss = PairLoss(train, weights)
        if loss.n_pairs == 0:
            raise NothingToLearnError("no query that counts has two documents of different labels")
        solver = _Newton if self.loss == "squared_hinge" else _Planes
        return solver(loss, train.n_features, self.tolerance, self.max_iterations)

    def learn_weights(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        self.landmarks_ = np.empty((0, train.n_features), np.float32)
        self.dual_coef_, self.gamma_ = np.empty(0), 0.0
        if self.kernel == "linear":
            super().learn_weights(train, valid, weights)
            return

        def mapped(data: Dataset) -> Dataset:
            return data.replace(X=features.of(data.X))

        def finish() -> None:
            self.landmarks_, self.dual_coef_ = features.landmarks, features.landmark_weights(self.coef_)
            self.coef_ = self._kernel.mean_slope(self.landmarks_, self.dual_coef_)

        self.gamma_ = _usual_gamma(train.X) if self.gamma is None else float(self.gamma)
        features = NystroemFeatures(self._kernel, train.X, self.n_components, self.seed)
        self._watched = self._watched.changed(mapped)
        self._solve(mapped(train), None if valid is None else mapped(valid), weights, finish)

    @property
    def is_weighted_sum(self) -> bool:
        return self.kernel == "linear"

    def predict_rows(self, X: Features) -> Scores:
        if self.kernel == "linear":
            return super().predict_rows(X)
        return self._kernel.sums(X, self.landmarks_, self.dual_coef_)

    def movable_queries(self, data: Dataset) -> Movable:
        if self.kernel == "linear":
            return super().movable_queries(data)
        X, kernel, landmarks = self.prepared(data).X, self._kernel, self.landmarks_
        return Movable(
            self.dual_coef_,
            "weights of documents",
            lambda coef: kernel.sums(X, landmarks, coef),
            is_affine=True,
            is_free_of_scale=True,
        )

    @property
    def _kernel(self) -> Kernel:
        return Kernel("rbf" if self.kernel == "rbf" else "poly", self.gamma_, self.degree)


def _check_size(C: float, weight: float) -> None:
    """Refuse a C whose weight of the mean loss, or what is divided by it, overflows."""
    if not 1e-150 < weight < 1e150:
        raise InputError(f"C = {C:g} is too {'large' if C > 1 else 'small'} to compute with: take one near 1")


def _usual_gamma(X: Features) -> float:
    spread = float(X.var(dtype=np.float64)) * X.shape[1]
    return 1.0 / spread if spread > 0 else 1.0
