"""AdaRank (Xu & Li 2007): single features, boosted on the queries that the ranking so far serves badly.

With E(f; q) the measure of query q ranked by f, each round takes the feature h of the largest
φ = Σ_q P(q) E(h; q):

    f ← f + α h,   α = ½ ln(Σ_q P(q) (1 + E(h; q)) / Σ_q P(q) (1 − E(h; q))),   P(q) ∝ exp(−E(f; q))

Every feature is judged once on every query before the first round, so a round costs a weighted mean of these
values and one judging of f.
"""

from __future__ import annotations

import numpy as np

from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.rankers.evaluator import (
    best_and_worst,
    judged_rankings,
    queries_that_count,
    with_fair_ties,
)
from pomona.rankers.feature_values import query_values
from pomona.rankers.inputs import means_of_queries
from pomona.rankers.learnt import Array
from pomona.rankers.linear.linear_ranker import LinearRanker
from pomona.rankers.linear.sums.feature_sums import weighted_sums
from pomona.rankers.parameter import NonNegativeFloat, PositiveInt

_LEAST_ERROR = 1e-12
_ROUNDING = 1e-9


class AdaRank(LinearRanker):
    """AdaRank: single features, boosted on the queries that the ranking so far serves badly.

    Parameters
    ----------
    measure : E, and what `score` reports; any measure with values in [−1, 1], any convention.
    n_rounds : the most rounds.
    allow_reversed : whether a feature may also rank from its lowest value to its highest; the paper's
        may not.
    rising : whether every step must raise the training measure; the paper's need not.
    repeats : whether a step may change no query's value, as when a feature wins twice running. The paper's
        may, and its loop then takes the same step for ever.
    all_queries : whether queries whose value no ranking changes have a share in P; the paper's have. Their
        value, 0 or 1 as the convention says of queries without a relevant document, then decides how long
        each step is.
    multiplied : RankLib's P, multiplied by exp(−α E(f; q)) from round to round, instead of the paper's.
    tolerance : without `rising`, end at the first step that would lower the training measure by more than
        this, as RankLib does with 0.002; None goes on.
    early_stopping : stop after so many rounds without a better measure (of the validation data, or else the
        training data); None never stops.
    verbose : show a progress bar.

    Attributes
    ----------
    features_, alphas_ : of each step its feature and α, below 0 for a reversed one. The first
        `best_iteration_` of them are the model.

    Departures
    ----------
    `AdaRank(all_queries=True, repeats=True, rising=False, allow_reversed=False, early_stopping=None)` is the
    published loop, step by step. In all folds of MQ2007 and MQ2008 it never leaves its first feature, so
    that its ranking is that of the best single one. By default:

    - A step must raise the training measure; the feature of one that does not is left out until another's
      has, and learning ends when none is left (`rising`). P hardly changes from round to round, so the
      paper's loop soon takes one step for ever, or swings between two.
    - Features may rank from their lowest value (`allow_reversed`).
    - P leaves out the queries whose value no ranking changes, which would only gather weight
      (`all_queries`). So training under `yahoo` and under `ranklib` gives one model; with the paper's P,
      steps differ, and without `repeats` the models do.

    In either case:

    - A measure that names no tie rule is judged in training by its mean over all orders of tied documents:
      few features tell all documents apart.
    - Features are scaled inside each query (`normalize`), and constant ones are left out.
    - The round that is kept is the best by the validation measure (without validation data, by the training
      measure), not the last.
    - A feature that ranks every query perfectly would get an infinite α: the denominator is at least 1e-12.

    RankLib leaves out what wins twice running, stops at the first step that loses 0.002 (`tolerance`), and
    multiplies P (`multiplied`): without the step rule of `rising` that did worse on MQ2007, and no better on
    MQ2008.

    Notes
    -----
    `rising` and `allow_reversed` were chosen inside the training and validation folds of LETOR 4.0. With
    NDCG@10 as E the mean NDCG rises from 0.479 to 0.490 by `rising` and to 0.493 by `allow_reversed` on
    MQ2007, from 0.482 to 0.483 and 0.484 on MQ2008; with AP from 0.478 to 0.487 and 0.488, and from 0.482 to
    0.482 and 0.484.

    Under the LETOR conventions NDCG@10 is 0 for a query of fewer than ten documents, which therefore teaches
    nothing: to be judged by them, rather train towards `ndcg@10` or AP.
    """

    name = "adarank"
    aliases = ("ada_rank", "ada-rank")
    family = "list-wise"
    optimizes = "bound"
    paper = "Xu & Li, SIGIR 2007"
    search_space = {
        "n_rounds": (10, 500, "log int"),
        "allow_reversed": [True, False],
        "rising": [True, False],
    }
    learnt_attributes = {
        "features_": Array("n_steps", dtype=np.int64, below="n_features"),
        "alphas_": Array("n_steps"),
    }

    n_rounds: PositiveInt = 300
    allow_reversed: bool = True
    rising: bool = True
    repeats: bool = False
    all_queries: bool = False
    multiplied: bool = False
    tolerance: NonNegativeFloat | None = None
    early_stopping: PositiveInt | None = 50
    verbose: bool = False

    def learn_weights(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        if self.tolerance is not None and self.rising:
            raise InputError("tolerance says which loss ends the training: rising=True takes no loss")
        measure = with_fair_ties(self.parsed_measure)
        by_query = means_of_queries(weights, train, type(self).__name__, "its P is over whole queries")
        extremes = best_and_worst(train, self.parsed_measure)
        _check_range(extremes, self.parsed_measure)
        counting = queries_that_count(extremes, self.parsed_measure, by_query)
        if self.all_queries:
            counting = by_query > 0
        values = self._values_of_features(train)[:, counting]
        weight = by_query[counting]
        left_out = np.tile(
            train.X.max(axis=0) == train.X.min(axis=0), len(values) // max(train.n_features, 1)
        )
        coef = self.coef_ = np.zeros(train.n_features)
        constant = left_out.copy()
        distribution = query_distribution(np.zeros(len(weight)), weight)
        before, reached = np.full(len(weight), np.nan), -np.inf
        steps: list[tuple[int, float]] = []
        log = self.start_training(self.n_rounds, unit="round")
        judge = self.curve_judge(valid, train, always=True)

        def finish() -> None:
            self.features_ = np.array([feature for feature, _ in steps], np.int64)
            self.alphas_ = np.array([alpha for _, alpha in steps], np.float64)

        log.finish_by(finish)
        with log.watch():
            while not left_out.all():
                means = np.where(left_out, -np.inf, (values * distribution).sum(axis=1))
                best = int(np.argmax(means))
                if means[best] <= 0:
                    break
                side, feature = divmod(best, train.n_features)
                alpha = step_size(values[best], distribution)
                stepped = coef.copy()
                stepped[feature] += -alpha if side else alpha
                judged = judged_rankings(train, weighted_sums(train.X, stepped)[None], measure)[0]
                height = float(np.average(judged, weights=by_query))
                if self.tolerance is not None and height < reached - self.tolerance - _ROUNDING:
                    break
                if not self._may_step(height - reached, judged[counting], before):
                    left_out[best] = True
                    continue
                coef, before, reached, left_out = stepped, judged[counting], height, constant.copy()
                if self.multiplied:
                    distribution = query_distribution(alpha * before, distribution)
                else:
                    distribution = query_distribution(before, weight)
                steps.append((feature, -alpha if side else alpha))
                self.keep_if_best(log, coef, judge(coef), decides=height if valid is None else None)
                if log.should_stop or log.iteration == self.n_rounds:
                    break
        finish()

    def _may_step(self, rise: float, judged: Values, before: Values) -> bool:
        """Whether a step may be taken that raises the mean so, and queries from `before` to `judged`."""
        if self.rising:
            return rise > _ROUNDING
        return self.repeats or not np.array_equal(judged, before)

    def _values_of_features(self, train: Dataset) -> Values:
        """(n_features, n_queries) E of every feature; with reversed ones, as many rows again below."""
        values = np.empty((1 + self.allow_reversed, train.n_features, train.n_queries))
        pieces = query_values(train, self.parsed_measure, allow_reversed=self.allow_reversed)
        for features, side, judged in pieces:
            values[side, features] = judged
        return values.reshape(-1, train.n_queries)


def step_size(values: Values, distribution: Values) -> float:
    """α of a ranking with these values of queries that have this distribution."""
    gain, error = float(np.sum(distribution * (1.0 + values))), float(np.sum(distribution * (1.0 - values)))
    return 0.5 * float(np.log(gain / max(error, _LEAST_ERROR)))


def query_distribution(values: Values, weights: Values) -> Values:
    """P ∝ weight · exp(−E): the worse a query is ranked, the more it counts.

    >>> query_distribution(np.array([0.8, 0.6]), np.ones(2)).round(6)
    array([0.450166, 0.549834])
    """
    unscaled = weights * np.exp(-values)
    shares: Values = unscaled / unscaled.sum()
    return shares


def _check_range(extremes: Values, measure: Measure) -> None:
    for value in (extremes.max(), extremes.min()):
        if abs(value) > 1.0 + _ROUNDING:
            raise InputError(
                f"AdaRank needs a measure with values in [-1, 1], {measure} gives {value:.6g}: "
                "take a normalized one, such as ndcg for dcg"
            )
