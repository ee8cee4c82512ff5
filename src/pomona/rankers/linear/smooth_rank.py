"""SmoothRank (Chapelle & Wu 2010): the measure itself, smoothed ever less.

    h_ij = exp(−(s_i − s_d(j))² / σ) / Σ_k exp(−(s_k − s_d(j))² / σ),    d(j) the document at rank j

is how much document i belongs to rank j. Rank j then holds v̄_j = Σ_i v_i h_ij of what the measure looks at
(gain, relevance, the chance to satisfy), and the smoothed measure is the measure of v̄:

    position measures     Σ_j w(j) v̄_j                              NDCG, DCG, precision, RBP …
    average precision     Σ_j v̄_j (v̄_1 + … + v̄_j) / j
    cascade measures      Σ_j w(j) v̄_j Π_{t<j} (1 − v̄_t)            ERR, pFound, reciprocal rank

As σ → 0 it is the measure, as σ → ∞ it is flat. From a least-squares line w₀ whose scores spread by 1 inside
queries, l2 ‖w − w₀‖² − (the mean smoothed measure) is minimized by L-BFGS for a large σ, from there for half
of it, and so on. The validation queries choose σ and l2; without any, the last σ is taken.

*Reconstructed*, as `SmoothRank` tells. Cost: O(n·k) a query for a cut-off k, O(n²) without; only documents
near a rank count when σ is small.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Labels, Offsets, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.closed_form import POSITION, PRECISION, ClosedForm
from pomona.measures.judge import sum_in_order
from pomona.measures.lists import RankedLists
from pomona.rankers.inputs import means_of_queries, weights_in_queries
from pomona.rankers.linear.linear_ranker import LinearRanker
from pomona.rankers.linear.solvers.least_squares import least_squares
from pomona.rankers.linear.sums.feature_sums import feature_sums, weighted_sums
from pomona.rankers.parameter import NonNegativeFloat, PositiveFloat, PositiveInt

PENALTIES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
FARTHEST = 40.0
"""Where exp(−x) is taken for 0: beside the document at the rank itself, which counts 1, it cannot show."""


@kernel
def _move_window(s, j, reach, low, high):
    """The documents low … high − 1 that are near rank j, from those near the rank above."""
    while s[low] > s[j] + reach:
        low += 1
    while high < s.size and s[high] >= s[j] - reach:
        high += 1
    return low, high


@kernel
def _soften(s, value, j, low, high, sigma, out_near):
    """How near documents low … high − 1 are to rank j; returns their sum and their mean value."""
    total, mean = 0.0, 0.0
    for i in range(low, high):
        far = s[i] - s[j]
        near = math.exp(-far * far / sigma)
        out_near[i] = near
        total += near
        mean += near * value[i]
    return total, mean / total


@kernel
def _slopes(family, held, weight, out_slope):
    """The measure of values held at the ranks, and its derivatives by them."""
    value = 0.0
    if family == PRECISION:
        above, below = 0.0, 0.0
        for j in range(held.size):
            above += held[j]
            out_slope[j] = weight[j] * above
            value += held[j] * weight[j] * above
        for j in range(held.size - 1, -1, -1):
            below += held[j] * weight[j]
            out_slope[j] += below
    else:
        for j in range(held.size - 1, -1, -1):  # value: of reading on from rank j
            out_slope[j] = weight[j] - value
            value = weight[j] * held[j] + (1.0 - held[j]) * value
        reading = 1.0
        for j in range(held.size):
            out_slope[j] *= reading
            reading *= 1.0 - held[j]
    return value


@kernel
def _smooth(first, last, scores, query_ptr, value, weight, family, factor, sigma, out_value, out_gradient):
    """value, out_gradient (n_docs,) · weight (depth,) of the ranks · factor, out_value (n_queries,)."""
    for q in range(first, last):
        begin, n = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
        out_value[q] = 0.0
        out_gradient[begin : begin + n] = 0.0
        if factor[q] == 0.0:
            continue
        depth = min(n, weight.size)
        order = np.argsort(-scores[begin : begin + n])
        s, v = scores[begin : begin + n][order], value[begin : begin + n][order]
        near, pull, held = np.empty(n), np.zeros(n), np.empty(depth)
        slope = weight[:depth].copy()
        reach = math.sqrt(FARTHEST * sigma)
        if family != POSITION:
            low, high = 0, 0
            for j in range(depth):
                low, high = _move_window(s, j, reach, low, high)
                held[j] = _soften(s, v, j, low, high, sigma, near)[1]
            out_value[q] = factor[q] * _slopes(family, held, weight, slope)
        low, high = 0, 0
        for j in range(depth):
            low, high = _move_window(s, j, reach, low, high)
            total, mean = _soften(s, v, j, low, high, sigma, near)
            if family == POSITION:
                out_value[q] += factor[q] * slope[j] * mean
            share, back = -2.0 * factor[q] * slope[j] / (sigma * total), 0.0
            for i in range(low, high):
                push = share * near[i] * (v[i] - mean) * (s[i] - s[j])
                pull[i] += push
                back += push
            pull[j] -= back
        for i in range(n):
            out_gradient[begin + order[i]] = pull[i]


class SmoothedMeasure:
    """The mean of a measure over queries, smoothed.

    Parameters
    ----------
    measure : a position measure, average precision, or a cascade measure.
    labels, query_ptr : documents grouped by query.
    weights : one a query; 1 when None.
    relative : of a position measure, one a document beside the others of its query: what its term counts.

    >>> from pomona.measures.parse import measure
    >>> smoothed = SmoothedMeasure(measure("ndcg"), np.array([0, 1, 2], np.float32), np.array([0, 3]))
    >>> value, gradient = smoothed.gradient(np.array([1.0, 0.5, 0.0]), 1.0)
    >>> round(value, 6), (gradient * (3 + 1 / np.log2(3))).round(6).tolist()
    (0.710591, [-0.220044, -0.39379, 0.613834])
    """

    def __init__(
        self,
        measure: Measure,
        labels: Labels,
        query_ptr: Offsets,
        weights: Values | None = None,
        relative: Values | None = None,
    ) -> None:
        lists = RankedLists.of_documents(labels, np.array(query_ptr, np.int64))
        form = _closed_form(measure, lists)
        normalizer = form.normalizer
        self.value: Values = form.level_values[lists.codes]
        """What the measure looks at in each document: a gain, relevance, or the chance of satisfaction."""
        counts = slice(None) if relative is None else relative > 0
        highest, lowest = np.full_like(self.value, -np.inf), np.full_like(self.value, np.inf)
        highest[counts] = lowest[counts] = self.value[counts]
        varies = np.maximum.reduceat(highest, query_ptr[:-1]) > np.minimum.reduceat(lowest, query_ptr[:-1])
        counted = np.where(varies & (normalizer > 0) & np.isfinite(normalizer), 1.0, 0.0)
        if weights is not None:
            counted *= weights
        if not counted.any():
            raise InputError(
                f"there is nothing to learn: {measure} tells no two documents of a query that counts apart"
            )
        self._factor = np.divide(counted, normalizer, out=np.zeros(len(counted)), where=counted > 0)
        self._factor /= counted.sum()
        terms = self.value if relative is None else self.value * relative
        self._rules = (lists.query_ptr, terms, form.weight, form.kind, self._factor)

    def gradient(self, scores: Values, sigma: float) -> tuple[float, Values]:
        """The mean smoothed measure, and its derivative by the score of each document."""
        values, gradient = np.empty(len(self._factor)), np.empty(len(scores))
        over_chunks(_smooth, len(values), scores, *self._rules, sigma, values, gradient, smallest=8)
        return sum_in_order(values), gradient


class SmoothRank(LinearRanker):
    """SmoothRank (reconstructed): a line towards a smoothed measure, smoothed ever less.

    Parameters
    ----------
    measure : what is smoothed, judges the validation queries, and is what `score` reports: a position
        measure, average precision or a cascade measure, under any convention.
    l2 : how strongly weights are held to those of the least-squares line. None lets the validation queries
        choose among 1e-2, 1e-3, …, 1e-6; without any it is 1e-4.
    sigma_max, sigma_min : the first and the last σ, in squared units of the spread of the line's scores.
    max_iterations : of L-BFGS, for each σ.
    tolerance : L-BFGS stops when an iteration gains less than this.
    verbose : show a progress bar.

    `normalize` is that of every `LinearRanker`. After `fit`, `sigma_` and `l2_` are those chosen; an
    iteration of `evals_` is a σ.

    Departures
    ----------
    *Reconstructed*: of the paper we know the abstract (smoothed NDCG and AP, annealing); h, the start, the
    penalty and the halving are from memory. Our choices:

    - The range of σ and of `l2`, both chosen on the validation queries.
    - The mean over queries instead of their sum, so that `l2` does not depend on their number.
    - An intercept for each query in the line that training starts from.
    - The form for AP, and cascade measures. SeznamRank is refused where some queries hold its top grade and
      others do not; its ceiling on a query's sum is not smoothed.
    """

    name = "smoothrank"
    aliases = ("smooth_rank", "smooth-rank")
    family = "list-wise"
    optimizes = "direct"
    paper = "Chapelle & Wu, Information Retrieval 2010 (reconstructed)"

    learnt_attributes = {"l2_": float, "sigma_": float}
    search_space = {"l2": (1e-6, 1e-2, "log")}

    l2: NonNegativeFloat | None = None
    sigma_max: PositiveFloat = 2.0**6
    sigma_min: PositiveFloat = 2.0**-6
    max_iterations: PositiveInt = 50
    tolerance: PositiveFloat = 1e-5
    verbose: bool = False

    def learn_weights(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        if self.sigma_min > self.sigma_max:
            raise InputError(
                f"expected sigma_min ≤ sigma_max, found {self.sigma_min!r} and {self.sigma_max!r}"
            )
        by_query, relative = weights_in_queries(weights, train)
        lists = RankedLists.of_documents(train.y, train.query_ptr)
        in_terms = relative
        if _closed_form(self.parsed_measure, lists).kind != POSITION:
            reason = f"{self.parsed_measure} is no sum with a term for each document"
            means_of_queries(weights, train, type(self).__name__, reason)
            in_terms = None
        smoothed = SmoothedMeasure(self.parsed_measure, train.y, train.query_ptr, by_query, in_terms)
        line = least_squares(train.X, smoothed.value, train.query_ptr, by_query, relative=relative)
        start = _spread_by_one(line, train, by_query)
        penalties = (self.l2,) if self.l2 is not None else (1e-4,) if valid is None else PENALTIES
        n_sigmas = 1 + int(np.log2(self.sigma_max / self.sigma_min))
        log, judge = self.start_training(n_sigmas, unit="sigma"), self.curve_judge(valid, train)
        # L-BFGS works on vectors of a few dozen numbers: threads inside it only take the kernels' cores.
        with log.watch(), threadpool_limits(1, "blas"):
            for l2 in penalties:
                log.start_path(f"l2 {l2:g}, ")
                coef, sigma = start, self.sigma_max
                while sigma >= self.sigma_min:
                    coef = self._minimize(smoothed, train.X, coef, start, l2, sigma)
                    self.keep_if_best(log, coef, judge(coef), l2=l2, sigma=sigma)
                    sigma /= 2

    def _minimize(
        self, smoothed: SmoothedMeasure, X: Features, coef: Values, start: Values, l2: float, sigma: float
    ) -> Values:
        """From `coef`, the weights that are best for one σ."""

        def loss(w: Values) -> tuple[float, Values]:
            value, by_score = smoothed.gradient(weighted_sums(X, w), sigma)
            away = w - start
            return l2 * float(away @ away) - value, 2 * l2 * away - feature_sums(X, by_score)

        solution: Values = minimize(
            loss,
            coef,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iterations, "ftol": self.tolerance, "gtol": 0.0},
        ).x
        return solution


def _closed_form(measure: Measure, lists: RankedLists) -> ClosedForm:
    form = measure.closed_form(lists)
    if form is None:
        raise InputError(
            f"SmoothRank can smooth position measures (ndcg, p, rbp …), ap, err, pfound and rr, not {measure}"
        )
    return form


def _spread_by_one(coef: Values, data: Dataset, by_query: Values) -> Values:
    """The weights, scaled so that scores have a deviation of 1 inside queries; 0 stays 0."""
    lengths = np.diff(data.query_ptr)
    scores = weighted_sums(data.X, coef)
    apart = scores - np.repeat(np.add.reduceat(scores, data.query_ptr[:-1]) / lengths, lengths)
    variance = np.average(apart**2, weights=np.repeat(by_query, lengths))
    return coef / np.sqrt(variance) if variance > 0 else np.zeros(len(coef))
