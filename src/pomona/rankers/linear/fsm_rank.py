"""FSMRank (Lai, Pan, Tang & Yu 2013): selects features while it learns, important ones that differ.

    min_{v ≥ 0}  F(v) + (lambda1 / 2) vᵀ A v − lambda2 v·s

F is the mean squared hinge over pairs of documents; A is how similar features are, so that lambda1 makes
similar ones compete for weight; s is how important each is by itself. Solved by Nesterov's accelerated
gradient.

Pairs are never formed: O(n log n) a query, and for s also O(n log n) a query and feature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Labels, Offsets, Values
from pomona.data.dataset import Dataset
from pomona.data.rows import read_only
from pomona.errors import InputError
from pomona.rankers.evaluator import judged_rankings, with_fair_ties
from pomona.rankers.inputs import documents_that_count, means_of_queries, weights_in_queries
from pomona.rankers.linear.linear_ranker import LinearRanker
from pomona.rankers.linear.sums.feature_sums import (
    feature_covariance,
    feature_sums,
    sum_of_pieces,
    varying_features,
    weighted_sums,
)
from pomona.rankers.linear.sums.label_sums import grades, insert_terms, pair_weights, sum_terms
from pomona.rankers.linear.sums.pair_hinge import SquaredPairHinge
from pomona.rankers.parameter import NonNegativeFloat, PositiveFloat, PositiveInt

LAMBDAS = (10.0, 1.0, 0.1, 0.01, 0.001)
LEAST_EIGENVALUE = 1e-3


@kernel
def _dominate(first, last, X, grade, query_ptr, pairs, relative, out):
    """Chance of the better document's larger value less that of its smaller · out (n_queries, n_features).

    relative (n_docs,) and pairs (n_queries,), the sum of the products of two of them.
    """
    own, below, here = np.ones(1), np.empty(1), np.empty(1)
    for q in range(first, last):
        out[q] = 0.0
        if pairs[q] == 0.0:
            continue
        begin, end = query_ptr[q], query_ptr[q + 1]
        y, r = grade[begin:end], relative[begin:end]
        for j in range(X.shape[1]):
            x = X[begin:end, j]
            order = np.argsort(x)
            tree, total, a = np.zeros((y.max() + 1, 1)), 0.0, 0
            while a < order.size:  # blocks of equal values: half of their pairs count
                b = a
                while b < order.size and x[order[b]] == x[order[a]]:
                    sum_terms(tree, y[order[b]] - 1, below)
                    total += 0.5 * r[order[b]] * below[0]
                    b += 1
                for i in range(a, b):
                    own[0] = r[order[i]]
                    insert_terms(tree, y[order[i]], own)
                for i in range(a, b):
                    sum_terms(tree, y[order[i]] - 1, here)
                    total += 0.5 * r[order[i]] * here[0]
                a = b
            out[q, j] = 2.0 * total / pairs[q] - 1.0


def dominance(
    X: Features, labels: Labels, query_ptr: Offsets, weights: Values, relative: Values | None = None
) -> Values:
    """How a feature alone orders pairs, from −1 (all wrong) to 1 (all right), as the mean over queries.

    `weights` has one a query; a pair counts the product of what its documents have in `relative`.

    >>> X = np.array([[1, 3], [2, 3], [0, 3]], np.float32)
    >>> dominance(X, np.array([2, 1, 0], np.float32), np.array([0, 3]), np.ones(1)) * 3
    array([1., 0.])
    """
    grade, pairs = grades(labels, query_ptr)
    if relative is None:
        relative = np.ones(len(grade))
    else:
        pairs = pair_weights(grade, query_ptr, relative)
    out = np.empty((len(pairs), X.shape[1]))
    lists = read_only(X), grade, read_only(query_ptr), pairs, read_only(relative)
    over_chunks(_dominate, len(pairs), *lists, out, smallest=8)
    counted = np.where(pairs > 0, weights, 0.0)
    mean: Values = sum_of_pieces(out * counted[:, None]) / counted.sum()
    return mean


def similarity(X: Features, query_ptr: Offsets, weights: Values, relative: Values | None = None) -> Values:
    """The absolute correlation of features inside queries, made positive definite."""
    covariance = feature_covariance(X, query_ptr, weights, relative)
    deviation = np.sqrt(np.diag(covariance))
    eigenvalues, vectors = np.linalg.eigh(np.abs(covariance / np.outer(deviation, deviation)))
    definite: Values = (vectors * np.maximum(eigenvalues, LEAST_EIGENVALUE)) @ vectors.T
    return definite


@dataclass(frozen=True)
class PenalizedHinge:
    """What is minimized over v = (v⁺, v⁻) ≥ 0."""

    hinge: SquaredPairHinge
    X: Features
    similarity: Values
    importance: Values
    lambda1: float = 0.0
    lambda2: float = 0.0

    def value(self, v: Values) -> float:
        """The objective."""
        return self.hinge.value(self._scores(v)) + self._penalty(v)[0]

    def gradient(self, v: Values) -> tuple[float, Values]:
        """The objective and its gradient."""
        value, by_score = self.hinge.gradient(self._scores(v))
        penalty, slope = self._penalty(v)
        pull = feature_sums(self.X, by_score)
        return value + penalty, slope + np.concatenate((pull, -pull))

    def _scores(self, v: Values) -> Values:
        return weighted_sums(self.X, signed(v))

    def _penalty(self, v: Values) -> tuple[float, Values]:
        total = v.reshape(2, -1).sum(0)
        resisted = self.lambda1 * (self.similarity @ total)
        value = 0.5 * float(total @ resisted) - self.lambda2 * float(self.importance @ v)
        return value, np.concatenate((resisted, resisted)) - self.lambda2 * self.importance


def signed(v: Values) -> Values:
    """The weights v⁺ − v⁻."""
    positive, negative = v.reshape(2, -1)
    weights: Values = positive - negative
    return weights


def minimize(problem: PenalizedHinge, start: Values, tolerance: float, max_iterations: int) -> Values:
    """Nesterov's accelerated projected gradient; the step size is found by halving."""
    now, before, momentum, bound = start, start, 1.0, 1.0
    reached = problem.value(start)
    for _ in range(max_iterations):
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = now + (momentum - 1) / next_momentum * (now - before)
        value, gradient = problem.gradient(ahead)
        while bound < np.inf:  # numbers too large to compute with end it
            new = np.maximum(0.0, ahead - gradient / bound)
            moved = new - ahead
            expected = value + float(gradient @ moved) + bound / 2 * float(moved @ moved)
            new_value = problem.value(new)
            if new_value <= expected + 1e-12 * max(1.0, abs(expected)):  # as far as rounding lets us tell
                break
            bound *= 2
        gained = reached - new_value
        before, now, reached = now, new, new_value
        momentum = next_momentum if gained >= 0 else 1.0
        if abs(gained) <= tolerance * max(1.0, abs(new_value)):
            break
    return now


class FSMRank(LinearRanker):
    """FSMRank (reconstructed): selects important features that differ while it learns from pairs.

    Parameters
    ----------
    lambda1 : how strongly similar features compete for weight; larger selects fewer.
    lambda2 : how strongly features that are important by themselves are preferred.
        None lets the validation queries choose each among 10, 1, 0.1, 0.01, 0.001; without any both are 0.01.
    importance : of a single feature: `dominance`, how it orders pairs, or `measure`, what the measure makes
        of it, less what it makes of its negative.
    tolerance : stop when an iteration changes the objective (1 at the start) by less than this share.
    max_iterations : the most iterations for one choice.
    verbose : show a progress bar.

    `measure` and `normalize` are those of every `LinearRanker`. After `fit`, `lambda1_` and `lambda2_` are
    those used; an iteration of `evals_` is a value of lambda1, which falls.

    Departures
    ----------
    *Reconstructed*: of the paper we know the abstract (a convex problem that minimizes ranking errors while
    it selects features, any importance and similarity, Nesterov's method); the formula is remembered from a
    secondary description. Published numbers need not be comparable. Our choices:

    - Every feature comes with its negative, v = (v⁺, v⁻) and w = v⁺ − v⁻, so that a feature may count against
      a document; the two are as similar as the feature to itself.
    - A is the absolute correlation inside queries, its eigenvalues raised to at least 1e-3: the problem stays
      convex, and bounded where importance pulls along features that repeat each other.
    - s is Vargha and Delaney's measure of dominance, the chance that the better document of a pair has the
      larger value, put on [−1, 1] so that a useless feature has 0 and a negative the opposite of its feature.
      (On [0, 1] a useless feature, at ½, would be paid for having weight.)
    - The method starts over from its last point whenever the objective rises.
    - The validation queries choose `lambda1` and `lambda2`.
    """

    name = "fsmrank"
    aliases = ("fsm_rank", "fsm-rank")
    family = "pair-wise"
    optimizes = "surrogate"
    paper = "Lai, Pan, Tang & Yu, IEEE TNNLS 2013 (reconstructed)"

    learnt_attributes = {"lambda1_": float, "lambda2_": float}
    search_space = {
        "lambda1": (1e-3, 10.0, "log"),
        "lambda2": (1e-3, 10.0, "log"),
    }

    lambda1: NonNegativeFloat | None = None
    lambda2: NonNegativeFloat | None = None
    importance: Literal["dominance", "measure"] = "dominance"
    tolerance: PositiveFloat = 1e-4
    max_iterations: PositiveInt = 1000
    verbose: bool = False

    def learn_weights(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        self._check()
        counting, of_counting = documents_that_count(train, weights)
        by_query, relative = weights_in_queries(of_counting, counting)
        hinge = SquaredPairHinge(counting.y, counting.query_ptr, by_query, relative)
        used = varying_features(counting.X, counting.query_ptr, by_query)
        X = np.ascontiguousarray(counting.X[:, used])
        if self.importance == "dominance":
            importance = dominance(X, counting.y, counting.query_ptr, by_query, relative)
        else:
            importance = self._gains_over_negatives(train, used, weights)
        problem = PenalizedHinge(
            hinge,
            X,
            similarity(X, counting.query_ptr, by_query, relative),
            np.concatenate((importance, -importance)),
        )
        choices = LAMBDAS if valid is not None else (0.01,)
        lambdas1 = choices if self.lambda1 is None else (self.lambda1,)
        log, judge = self.start_training(len(lambdas1), unit="choice"), self.curve_judge(valid, train)
        coef = np.zeros(train.n_features)
        with log.watch():
            for lambda2 in choices if self.lambda2 is None else (self.lambda2,):
                log.start_path(f"lambda2 {lambda2:g}, ")
                v = np.zeros(2 * len(used))
                for lambda1 in lambdas1:
                    chosen = replace(problem, lambda1=lambda1, lambda2=lambda2)
                    v = minimize(chosen, v, self.tolerance, self.max_iterations)
                    coef[used] = signed(v)
                    self.keep_if_best(log, coef, judge(coef), lambda1=lambda1, lambda2=lambda2)

    def _check(self) -> None:
        if self.lambda1 == 0 and self.lambda2 != 0:
            raise InputError(
                "with lambda1=0 nothing bounds the weights that lambda2 pays for: set lambda2=0 too"
            )

    def _gains_over_negatives(self, train: Dataset, used: Offsets, weights: Values | None) -> Values:
        """What ranking by each feature has over ranking by its negative; ties count as their mean."""
        reason = "importance='measure' judges whole queries"
        by_query = means_of_queries(weights, train, type(self).__name__, reason)
        measure = with_fair_ties(self.parsed_measure)

        def gain(feature: int) -> float:
            values = train.X[:, feature].astype(np.float64)
            up, down = judged_rankings(train, np.stack((values, -values)), measure)
            return float(np.average(up - down, weights=by_query))

        return np.array([gain(feature) for feature in used])
