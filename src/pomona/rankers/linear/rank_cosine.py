"""RankCosine (Qin et al. 2008): scores that point where the labels point.

    L = Σ_q c_q ½ (1 − cos(g_q, H_q)),   g the labels (or gains) of the query's documents, H their scores

where the products of the cosine are Σ_i r_i g_i H_i, r_i the weight of a document beside its query's others.

Stage-wise: each round adds α times the one feature h that lowers L most. For one query L is stationary at

    α = [(g·H)(H·h) − (g·h)(H·H)] / [(g·h)(H·h) − (g·H)(h·h)]

and for many the numerators and denominators are added with weights 1/(‖g‖ ‖H‖³). Where that is no minimum, or
the step is longer than H itself, α is cut to that length, then halved until L falls: the loss never rises.
The first round takes α = ±1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.data.rows import read_only
from pomona.errors import NothingToLearnError
from pomona.measures.conventions import gains_of
from pomona.rankers.inputs import documents_that_count, weights_in_queries
from pomona.rankers.linear.linear_ranker import LinearRanker
from pomona.rankers.parameter import NonNegativeFloat, PositiveInt

_MOST_HALVINGS = 20


@kernel
def _products(first, last, X, query_ptr, values, center, out):
    """Σ value · x of each query and feature; values are the documents', times what they count.

    X (n_docs, n_features) · values (n_docs,) · out (n_queries, n_features). With `center`, values sum to 0 in
    a query, and its first row is taken from all: a feature that is constant there gives exactly 0.
    """
    base = np.zeros(X.shape[1], np.float64)
    for q in range(first, last):
        if center:
            for j in range(base.size):
                base[j] = X[query_ptr[q], j]
        out[q] = 0.0
        for i in range(query_ptr[q], query_ptr[q + 1]):
            row, value, total = X[i], values[i], out[q]
            for j in range(base.size):
                total[j] += value * (np.float64(row[j]) - base[j])


@kernel
def _squares(first, last, X, query_ptr, relative, center, out):
    """Σ r x² of each query and feature, with `center` Σ r (x − mean)²; r is relative (n_docs,)."""
    base, sums = np.zeros(X.shape[1], np.float64), np.empty(X.shape[1], np.float64)
    for q in range(first, last):
        n = 0.0
        for i in range(query_ptr[q], query_ptr[q + 1]):
            n += relative[i]
        if center:
            for j in range(base.size):
                base[j], sums[j] = X[query_ptr[q], j], 0.0
            for i in range(query_ptr[q], query_ptr[q + 1]):
                for j in range(base.size):
                    sums[j] += relative[i] * (np.float64(X[i, j]) - base[j])
            for j in range(base.size):
                base[j] += sums[j] / n
        out[q] = 0.0
        for i in range(query_ptr[q], query_ptr[q + 1]):
            for j in range(base.size):
                x = np.float64(X[i, j]) - base[j]
                out[q, j] += relative[i] * (x * x)


@kernel
def _loss_after(step, weights, gg, gH, HH, gh, hh, Hh):
    """The loss of H + step · h; all (n_queries,) products of g, H and h in each query."""
    loss = 0.0
    for q in range(gg.size):
        length = HH[q] + 2.0 * step * Hh[q] + step * step * hh[q]
        cosine = 0.0
        if length > 1e-14 * (HH[q] + step * step * hh[q]):  # else what is left is rounding
            cosine = (gH[q] + step * gh[q]) / np.sqrt(gg[q] * length)
        loss += weights[q] * 0.5 * (1.0 - min(max(cosine, -1.0), 1.0))
    return loss


@kernel
def _find_steps(first, last, before, weights, gg, gH, HH, gh, hh, Hh, out_step, out_loss):
    """Of each feature, the step along it and the loss after; gh, hh, Hh (n_features, n_queries)."""
    for j in range(first, last):
        slope, curvature, H_total, h_total = 0.0, 0.0, 0.0, 0.0
        for q in range(gg.size):
            H_total += weights[q] * HH[q]
            h_total += weights[q] * hh[j, q]
            if HH[q] > 0.0:
                weight = weights[q] / (np.sqrt(gg[q] * HH[q]) * HH[q])
                slope += weight * (gh[j, q] * HH[q] - gH[q] * Hh[j, q])
                curvature += weight * (gH[q] * hh[j, q] - gh[j, q] * Hh[j, q])
        out_step[j], out_loss[j] = 0.0, before
        if h_total == 0.0:
            continue
        if H_total == 0.0:
            for q in range(gg.size):
                if hh[j, q] > 0.0:
                    slope += weights[q] * gh[j, q] / np.sqrt(gg[q] * hh[j, q])
            longest = 1.0
        else:
            longest = np.sqrt(H_total / h_total)
        step = longest if slope > 0.0 else -longest
        if abs(slope) < curvature * longest:
            step = slope / curvature
        for _ in range(_MOST_HALVINGS):
            loss = _loss_after(step, weights, gg, gH, HH, gh[j], hh[j], Hh[j])
            if loss < before:
                out_step[j], out_loss[j] = step, loss
                break
            step *= 0.5


class RankCosine(LinearRanker):
    """RankCosine: features added one at a time so that scores point where the labels point.

    Parameters
    ----------
    n_rounds : the most features to add, counting each time a feature comes again.
    target : what the scores are compared with: the `label`, or its `gain` 2^label − 1.
    center : compare deviations from their mean in each query.
    tolerance : stop when a round lowers the mean loss by less.
    verbose : show a progress bar.

    The others are those of every `LinearRanker`.

    Attributes
    ----------
    evals_ : after each round the mean `loss` over queries, which only falls, and as for every ranker.

    Departures
    ----------
    - g and H are centered in each query (`center`), since a ranking, unlike the cosine, does not change when
      a constant is added to all scores.
    - Where the published α is no minimum, or is longer than H itself, it is cut to that length, then halved
      until the loss falls.
    - Queries whose g is 0 say nothing and are left out. The best round by the validation measure is kept.
    """

    name = "rankcosine"
    aliases = ("rank_cosine", "rank-cosine")
    family = "list-wise"
    optimizes = "surrogate"
    paper = "Qin et al., Information Processing & Management 2008"
    search_space = {
        "n_rounds": (20, 500, "log int"),
        "target": ["label", "gain"],
    }

    n_rounds: PositiveInt = 300
    target: Literal["label", "gain"] = "label"
    center: bool = True
    tolerance: NonNegativeFloat = 1e-7
    verbose: bool = False

    def learn_weights(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        lists = self._lists(train, weights)
        coef, scores = np.zeros(train.n_features), np.zeros(lists.data.n_docs)
        loss = 0.5  # a score of 0 is at right angles to everything
        self.coef_ = coef.copy()
        log, judge = self.start_training(self.n_rounds, unit="round"), self.curve_judge(valid, train)
        with log.watch():
            for _ in range(self.n_rounds):
                steps, losses = lists.steps(scores, loss)
                chosen = int(losses.argmin())
                if not losses[chosen] < loss - self.tolerance:
                    break
                loss = float(losses[chosen])
                coef[chosen] += steps[chosen]
                scores += steps[chosen] * lists.data.X[:, chosen]
                self.keep_if_best(log, coef, {"loss": loss, **judge(coef)})

    def _lists(self, train: Dataset, weights: Values | None) -> _Lists:
        """The queries that have something to say."""
        train, weights = documents_that_count(train, weights)
        by_query, relative = weights_in_queries(weights, train)
        labels = train.y.astype(np.float64)
        target = labels if self.target == "label" else gains_of(labels, "exp2")
        lists = _Lists.of(train, target, by_query, self.center, relative)
        useful = (lists.gg > 0) & (by_query > 0)
        if not useful.any():
            kind = "of different labels" if self.center else f"with a {self.target} other than 0"
            raise NothingToLearnError(f"no query has documents {kind}")
        if useful.all():
            return lists
        rows = np.repeat(useful, np.diff(train.query_ptr))
        of_rows = None if relative is None else relative[rows]
        return _Lists.of(train.take(useful), target[rows], by_query[useful], self.center, of_rows)


@dataclass(frozen=True)
class _Lists:
    """Queries with what does not change between rounds: g, and its products and those of every feature."""

    data: Dataset
    target: Values
    weights: Values
    relative: Values
    center: bool
    gg: Values
    gh: Values
    hh: Values

    @classmethod
    def of(
        cls, data: Dataset, target: Values, weights: Values, center: bool, relative: Values | None = None
    ) -> _Lists:
        relative = np.ones(data.n_docs) if relative is None else relative
        target = _centered(target, data, relative) if center else target
        squares = np.empty((data.n_queries, data.n_features))
        lists = read_only(data.X), read_only(data.query_ptr), read_only(relative)
        over_chunks(_squares, data.n_queries, *lists, center, squares)
        gg, gh = _by_query(data, relative * (target * target)), _by_feature(data, relative * target, center)
        return cls(data, target, weights / weights.sum(), relative, center, gg, gh, squares.T.copy())

    def steps(self, scores: Values, before: float) -> tuple[Values, Values]:
        """Along each feature, the step and the loss after it; `before` is the loss now."""
        H = _centered(scores, self.data, self.relative) if self.center else scores
        of_documents = self.relative * H
        gH = _by_query(self.data, self.relative * (self.target * H))
        HH, Hh = (
            _by_query(self.data, self.relative * (H * H)),
            _by_feature(self.data, of_documents, self.center),
        )
        steps, losses = np.empty(self.data.n_features), np.empty(self.data.n_features)
        products = self.weights, self.gg, gH, HH, self.gh, self.hh, Hh
        over_chunks(_find_steps, len(steps), before, *products, steps, losses)
        return steps, losses


def _by_query(data: Dataset, values: Values) -> Values:
    sums: Values = np.add.reduceat(values, data.query_ptr[:-1])
    return sums


def _centered(values: Values, data: Dataset, relative: Values) -> Values:
    """Less the query's mean; exactly 0 where all are alike."""
    firsts = np.repeat(values[data.query_ptr[:-1]], np.diff(data.query_ptr))
    means = _by_query(data, relative * (values - firsts)) / _by_query(data, relative)
    return values - firsts - np.repeat(means, np.diff(data.query_ptr))


def _by_feature(data: Dataset, values: Values, center: bool) -> Values:
    """(n_features, n_queries) products of one value a document with each feature."""
    out = np.empty((data.n_queries, data.n_features))
    lists = read_only(data.X), read_only(data.query_ptr), read_only(values)
    over_chunks(_products, data.n_queries, *lists, center, out)
    return np.ascontiguousarray(out.T)
