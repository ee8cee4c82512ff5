"""Coordinate Ascent (Metzler & Croft 2007): the measure itself, maximized one weight at a time.

One pass visits the features in random order and moves each weight to where the training measure is
highest with all others fixed; passes repeat until one gains next to nothing, and the whole is repeated from
other starting points. Only the ratios of weights matter, so their sizes are kept summing to 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.measures.base import Measure
from pomona.rankers.evaluator import best_and_worst, judged_rankings, queries_that_count
from pomona.rankers.inputs import means_of_queries
from pomona.rankers.linear.linear_ranker import LinearRanker
from pomona.rankers.linear.solvers.line_search import LineSearch, line_search, weight_at
from pomona.rankers.linear.sums.feature_sums import weighted_sums
from pomona.rankers.linear.sums.ranking import shuffled
from pomona.rankers.parameter import NonNegativeFloat, NonNegativeInt, PositiveInt

_GAIN = 1e-10
"""A move must gain more than what rounding makes of equal sums."""


class CoordinateAscent(LinearRanker):
    """Coordinate Ascent: the measure itself, maximized one weight at a time.

    Parameters
    ----------
    measure : what is maximized, and what `score` reports; any measure, any convention.
    n_restarts : how many starting points.
    max_iterations : the most passes over all features from each of them.
    tolerance : a pass that raises the training measure by less is the last of its restart.
    seed : of the starting points, the order of the features, and the order of documents with equal scores.
    verbose : show a progress bar.

    Departures
    ----------
    RankLib, whose is the usual program, tries up to 25 steps to either side of a weight. Here:

    - The line search is exact, over all crossings of two documents (`line_search`), for position measures
      (NDCG, DCG, precision, recall, RBP, WTA), average precision and cascade measures (ERR, pFound,
      reciprocal rank); any other measure is searched by steps.
    - Restarts begin at different points: the first with equal weights, the others with random ones.
    - A pass that gains less than `tolerance` ends its restart; RankLib compares with the restart's first
      score.
    - The best pass of all is kept by the validation measure, where there are validation data.
    - While training, documents with equal scores are ranked in an order drawn from the seed, whatever the
      convention says of ties: files are often sorted by label, and input order would tell.
    - Features are scaled inside each query (`normalize`).
    """

    name = "coordinateascent"
    aliases = ("coordinate_ascent", "coordinate-ascent", "ca")
    family = "list-wise"
    optimizes = "direct"
    paper = "Metzler & Croft, Information Retrieval 2007"
    search_space = {"n_restarts": (1, 20, "log int")}

    n_restarts: PositiveInt = 5
    max_iterations: PositiveInt = 25
    tolerance: NonNegativeFloat = 1e-4
    seed: NonNegativeInt = 0
    verbose: bool = False

    def learn_weights(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        random = np.random.default_rng(self.seed)
        measure = replace(self.parsed_measure, ties="stable")
        judge = self.curve_judge(valid, train, always=True)
        reason = "a measure is of a whole ranking"
        by_query = means_of_queries(weights, train, type(self).__name__, reason)
        by_query /= by_query.sum()
        order = shuffled(train.query_ptr, random)
        train = train.take_rows(order, train.query_ptr, train.qids)
        queries_that_count(best_and_worst(train, self.parsed_measure), self.parsed_measure, by_query)
        ascent = _Ascent(train, line_search(measure, train.y, train.query_ptr, by_query))
        self.coef_ = np.zeros(train.n_features)
        total = self.n_restarts * self.max_iterations
        log = self.start_training(total)
        with log.watch():
            for restart in range(self.n_restarts if ascent.varying.size else 0):
                coef = ascent.start(None if restart == 0 else random)
                before = _weighted(train, ascent.scores(coef), measure, by_query)
                for _ in range(self.max_iterations):
                    ascent.climb(coef, before, random)
                    height = _weighted(train, ascent.scores(coef), measure, by_query)
                    decides = height if valid is None else None
                    self.keep_if_best(log, coef, judge(coef), decides=decides)
                    if height - before < self.tolerance:
                        break
                    before = height


class _Ascent:
    """Passes over the features of one training set."""

    def __init__(self, train: Dataset, search: LineSearch) -> None:
        self._X, self._search = train.X, search
        self._columns = np.ascontiguousarray(train.X.T)
        self.varying = np.flatnonzero(self._columns.max(axis=1) > self._columns.min(axis=1))

    def start(self, random: np.random.Generator | None) -> Values:
        """Weights to start from: equal, or random."""
        coef, n = np.zeros(len(self._columns)), len(self.varying)
        coef[self.varying] = np.full(n, 1.0 / n) if random is None else random.dirichlet(np.ones(n))
        return coef

    def scores(self, coef: Values) -> Values:
        return weighted_sums(self._X, coef)

    def climb(self, coef: Values, height: float, random: np.random.Generator) -> None:
        """One pass from where the measure has this height: each weight in turn to where it is highest."""
        scores = self.scores(coef)
        for j in random.permutation(self.varying):
            column, now = self._columns[j], float(coef[j])
            # A feature that is alone has any scale.
            spread = float(np.abs(coef).sum() - abs(now)) or 1.0
            place, highest = self._search.best(scores, column, now, spread)
            if highest > height + _GAIN:
                coef[j] = weight_at(place, spread)
                scores += (coef[j] - now) * column
                height = highest
        coef /= np.abs(coef).sum()


def _weighted(train: Dataset, scores: Values, measure: Measure, by_query: Values) -> float:
    return float(np.sum(judged_rankings(train, scores[None], measure)[0] * by_query))
