"""RankBoost (Freund, Iyer, Schapire & Singer 2003): single features, boosted on pairs.

Lowers Σ exp(H(worse) − H(better)) over all pairs of differently labelled documents of a query. Each round
weighs the pairs by D ∝ c exp(H(worse) − H(better)), c being 1 or what the weights of the two documents make
of a pair. It takes the stump h = [x_f > θ] with the largest

    |r|,   r = Σ_pairs D (h(better) − h(worse)),       and adds α h,   α = ½ ln((1 + r) / (1 − r)),

so the loss shrinks by a factor of at most √(1 − r²). A negative α turns the stump around.

No pair is ever looked at. r = Σ_x π(x) h(x) with the potentials

    π(x) ∝ e^{−H(x)} Σ_{x' of lower label} e^{H(x')} − e^{H(x)} Σ_{x' of higher label} e^{−H(x')},

which sums by label give in O(n · K) a query, and one sweep over the potentials in the order of a feature's
values tries all of its thresholds. Sums are kept as logarithms: no margin is too large for them.

With `weak="value"` h is a feature itself, on [0, 1], as in the paper's third method; r and α are the same.

D is normalized over all pairs of all queries, as published, so a query with many pairs weighs more;
`balance_queries` gives every query the same weight. An undefined value passes a stump or not (of a value, is
1 or 0), whichever makes |r| larger (section 3.2 of the paper).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError, NothingToLearnError
from pomona.measures.base import Measure
from pomona.measures.lists import longest_query
from pomona.rankers.base import Ranker
from pomona.rankers.boosting.stumps.stump_sum import GrowingStumpSum, StumpSum
from pomona.rankers.boosting.stumps.value_sum import ScaledFeatures, ValueSum
from pomona.rankers.inputs import documents_that_count, weights_in_queries
from pomona.rankers.linear.sums.label_sums import grades
from pomona.rankers.parameter import PositiveInt
from pomona.trees.forest import Forest

_Stump = tuple[int, int, bool]
_CHANCE = 1e-12
"""An |r| that rounding alone may leave."""


@kernel
def _log_add(a, b):
    """log(e^a + e^b), b finite."""
    return max(a, b) + np.log1p(np.exp(-abs(a - b)))


@kernel
def _pair_sums(first, last, scores, grade, query_ptr, weight, relative, log_scale, out_potential, out_loss):
    """scores, grade, relative, out_potential (n_docs,) · weight, out_loss (n_queries,).

    relative is above 0 · out_potential and out_loss are divided by e^log_scale.
    """
    longest = longest_query(first, last, query_ptr)
    highest, lowest = np.empty(longest), np.empty(longest)
    worse, better = np.empty(longest), np.empty(longest)
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        out_loss[q] = 0.0
        if weight[q] == 0.0:
            out_potential[begin:end] = 0.0
            continue
        n_grades = 0
        for i in range(begin, end):
            g = grade[i]
            if g >= n_grades:
                highest[n_grades : g + 1], lowest[n_grades : g + 1] = -np.inf, np.inf
                worse[n_grades : g + 1], better[n_grades : g + 1] = 0.0, 0.0
                n_grades = g + 1
            highest[g], lowest[g] = max(highest[g], scores[i]), min(lowest[g], scores[i])
        for i in range(begin, end):
            g = grade[i]
            worse[g] += relative[i] * np.exp(scores[i] - highest[g])
            better[g] += relative[i] * np.exp(lowest[g] - scores[i])
        # From sums over each label to the logarithms of the sums over all lower, and all higher, labels.
        sum_below, sum_above = -np.inf, -np.inf
        for g in range(n_grades):
            grade_sum = np.log(worse[g]) + highest[g]
            worse[g], sum_below = sum_below, _log_add(sum_below, grade_sum)
        for g in range(n_grades - 1, -1, -1):
            grade_sum = np.log(better[g]) - lowest[g]
            better[g], sum_above = sum_above, _log_add(sum_above, grade_sum)
        for i in range(begin, end):
            as_better = weight[q] * relative[i] * np.exp(worse[grade[i]] - scores[i] - log_scale)
            as_worse = weight[q] * relative[i] * np.exp(better[grade[i]] + scores[i] - log_scale)
            out_potential[i] = as_better - as_worse
            out_loss[q] += as_better


@kernel
def _best_stumps(first, last, codes, n_values, potential, out_r, out_code, out_undefined):
    """The stump of every feature with the largest |r|.

    codes (n_features, n_docs): the place of a value among the feature's distinct values, ascending, and their
    number where it is undefined · out_code: documents pass from this code on · out_undefined: whether
    undefined ones do.
    """
    for f in range(first, last):
        undefined = n_values[f]
        sums = np.zeros(undefined + 1)
        for i in range(potential.size):
            sums[codes[f, i]] += potential[i]
        out_r[f], out_code[f], out_undefined[f] = 0.0, 0, False
        passed = 0.0
        for code in range(undefined - 1, 0, -1):
            passed += sums[code]
            if abs(passed) > abs(out_r[f]):
                out_r[f], out_code[f], out_undefined[f] = passed, code, False
            if abs(passed + sums[undefined]) > abs(out_r[f]):
                out_r[f], out_code[f], out_undefined[f] = passed + sums[undefined], code, True
        if abs(sums[undefined]) > abs(out_r[f]):  # all that are defined pass: what is left of a sum of 0
            out_r[f], out_code[f], out_undefined[f] = -sums[undefined], 0, False


class RankBoost(Ranker):
    """RankBoost: features, thresholded or as they are, boosted on pairs.

    Parameters
    ----------
    measure : chooses the number of rounds on the validation queries, and is what `score` reports; any
        measure, any convention.
    weak : what is added each round: `threshold`, a feature above a threshold or not, or `value`, a feature
        scaled to [0, 1] by its least and greatest training value.
    n_rounds : the most of them.
    n_thresholds : how many thresholds of a feature are tried, at equal shares of the documents; None
        tries all.
    balance_queries : weigh each query's pairs by one over their number, so that all queries count alike.
    early_stopping : stop after so many rounds without a better validation measure; None never stops.
    verbose : show a progress bar.

    Attributes
    ----------
    evals_ : after each round the `loss`, 1 before the first, and as for every ranker.

    Departures
    ----------
    - A weak ranker that orders all pairs rightly would get an infinite α: |r| is cut at
      1 − 1 / (2 · number of pairs).
    - The number of rounds is chosen on the validation queries, as for the LETOR baselines.
    - The weak ranker has the largest |r|, so α may be below 0; RankLib takes the largest r.
    """

    name = "rankboost"
    aliases = ("rank_boost", "rank-boost")
    family = "pair-wise"
    optimizes = "surrogate"
    paper = "Freund, Iyer, Schapire & Singer, JMLR 2003"
    search_space = {
        "n_rounds": (30, 1000, "log int"),
        "balance_queries": [False, True],
    }

    measure: str | Measure = "ndcg@10"
    weak: Literal["threshold", "value"] = "threshold"
    n_rounds: PositiveInt = 300
    n_thresholds: PositiveInt | None = None
    balance_queries: bool = False
    early_stopping: PositiveInt | None = None
    verbose: bool = False

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        sets = self._watched.beside(valid)
        judge = self._watched.judge(sets, self.parsed_measure, train=train if sets else None)
        counting, weights = documents_that_count(train, weights)
        pairs = _Pairs(counting, weights, self.balance_queries)
        weak: _WeakRankers = (
            _CodedFeatures(counting.X, train.feature_names, self.n_thresholds)
            if self.weak == "threshold"
            else ScaledFeatures(counting.X, train.feature_names)
        )
        watched = {
            name: weak.growing(data.X) for name, data in ({"train": train, **sets} if sets else {}).items()
        }
        steps: list[tuple[Any, float]] = []
        log = self.start_training(self.n_rounds, unit="round")

        def finish() -> None:
            self.model_ = weak.sum_of(steps[: log.best_iteration])

        log.finish_by(finish)
        with log.watch():
            for _ in range(self.n_rounds):
                best, r = weak.best(pairs.potential)
                if abs(r) < _CHANCE:
                    break
                r = float(np.clip(r, pairs.least_error - 1.0, 1.0 - pairs.least_error))
                alpha = 0.5 * float(np.log((1.0 + r) / (1.0 - r)))
                pairs.add(alpha * weak.values(best))
                steps.append((best, alpha))
                scores = {name: with_step(best, alpha) for name, with_step in watched.items()}
                log.record(loss=pairs.loss, **judge(scores))
                if log.should_stop:
                    break
        if not steps:
            warnings.warn(
                f"no {self.weak} of any feature orders pairs better than chance, "
                "so all documents score alike",
                stacklevel=3,
            )
        finish()

    def predict_rows(self, X: Features) -> Scores:
        return self.model_.score(X)

    def portable(self) -> Forest:
        """A tree for each feature, whose leaves are the steps of all its stumps."""
        self.check_fitted()
        if not isinstance(self.model_, StumpSum):
            raise InputError('RankBoost of feature values is no forest: train it with weak="threshold"')
        return self.model_.forest()

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, self.model_.arrays()

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        kind = StumpSum if self.weak == "threshold" else ValueSum
        self.model_ = kind.of_arrays(arrays, self.feature_names_)


class _WeakRankers(Protocol):
    """All weak rankers of the training documents."""

    def best(self, potential: Values) -> tuple[Any, float]:
        """The one of largest |r|, and its r."""

    def values(self, weak: Any) -> Scores:
        """h of every training document."""

    def sum_of(self, steps: Sequence[tuple[Any, float]]) -> StumpSum | ValueSum:
        """The sum of weak rankers with these weights."""

    def growing(self, X: Features) -> Callable[[Any, float], Scores]:
        """What takes step after step and scores these rows, as the sum of the steps does.

        Another order of the same additions would round otherwise, and part documents that tie.
        """


class _Pairs:
    """All pairs of differently labelled documents of a query, as sums over documents.

    Attributes
    ----------
    scores : H of every document.
    potential : π of every document, D normalized to 1.
    loss : the weighted mean of exp(H(worse) − H(better)).
    least_error : the share of pairs that a stump is taken to order wrongly at least.
    """

    def __init__(self, train: Dataset, weights: Values | None, balance_queries: bool) -> None:
        grade, n_pairs = grades(train.y, train.query_ptr)
        self._grade = grade - 1
        by_query, relative = weights_in_queries(weights, train)
        self._relative = np.ones(train.n_docs) if relative is None else relative
        self._weight = np.where(n_pairs > 0, by_query, 0.0)
        if not self._weight.any():
            raise NothingToLearnError("no query that counts has two documents of different labels")
        self.least_error = 0.5 / float(n_pairs[self._weight > 0].sum())
        if balance_queries:
            self._weight /= np.maximum(n_pairs, 1.0)
        self._query_ptr = train.query_ptr
        self.scores: Scores = np.zeros(train.n_docs)
        self.potential: Values = np.empty(train.n_docs)
        self._losses = np.empty(train.n_queries)
        self._log_loss = 0.0
        self._sum_up()
        self._log_start = self._log_loss

    @property
    def loss(self) -> float:
        return float(np.exp(self._log_loss - self._log_start))

    def add(self, scores: Scores) -> None:
        self.scores += scores
        self._sum_up()

    def _sum_up(self) -> None:
        documents = self.scores, self._grade, self._query_ptr
        arguments = *documents, self._weight, self._relative, self._log_loss
        # The loss only falls, so divided by the last one nothing overflows.
        over_chunks(_pair_sums, len(self._losses), *arguments, self.potential, self._losses, smallest=16)
        total = float(self._losses.sum())
        self.potential /= total
        self._log_loss += float(np.log(total))


class _CodedFeatures:
    """Every feature's values as places among the distinct values that a threshold may lie at."""

    def __init__(self, X: Features, feature_names: tuple[str, ...], n_thresholds: int | None) -> None:
        self._names = feature_names
        n_docs, n_features = X.shape
        self._codes = np.empty((n_features, n_docs), np.int32)
        self._values = []
        for j in range(n_features):
            defined = X[~np.isnan(X[:, j]), j]
            values = np.unique(defined)
            if n_thresholds is not None and len(values) > n_thresholds + 1:
                shares = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
                cuts = np.unique(np.quantile(defined, shares, method="inverted_cdf"))
                values = np.append(cuts[cuts < values[-1]], values[-1])
            self._codes[j] = np.where(np.isnan(X[:, j]), len(values), np.searchsorted(values, X[:, j]))
            self._values.append(values)
        self._n_values = np.array([len(values) for values in self._values], np.int64)

    def best(self, potential: Values) -> tuple[_Stump, float]:
        """(feature, code from which on documents pass, whether undefined ones do), r; the first of equals."""
        n = len(self._codes)
        r, code, undefined = np.empty(n), np.empty(n, np.int64), np.empty(n, np.bool_)
        over_chunks(_best_stumps, n, self._codes, self._n_values, potential, r, code, undefined)
        best = int(np.argmax(np.abs(r)))
        return (best, int(code[best]), bool(undefined[best])), float(r[best])

    def values(self, weak: _Stump) -> Scores:
        """1 of every training document that passes."""
        feature, code, undefined = weak
        codes = self._codes[feature]
        passed: NDArray[np.bool_] = codes >= code
        if not undefined:
            passed &= codes < self._n_values[feature]
        return passed.astype(np.float64)

    def sum_of(self, steps: Sequence[tuple[_Stump, float]]) -> StumpSum:
        """The sum of stumps with these weights."""
        stumps = [
            (feature, self._threshold(feature, code), alpha, undefined)
            for (feature, code, undefined), alpha in steps
        ]
        return StumpSum.of(stumps, self._names)

    def growing(self, X: Features) -> Callable[[_Stump, float], Scores]:
        """What takes step after step and scores these rows."""
        growing = GrowingStumpSum(X)

        def with_step(weak: _Stump, alpha: float) -> Scores:
            feature, code, undefined = weak
            return growing.add(feature, self._threshold(feature, code), alpha, undefined)

        return with_step

    def _threshold(self, feature: int, code: int) -> float:
        return float(self._values[feature][code - 1]) if code else -np.inf
