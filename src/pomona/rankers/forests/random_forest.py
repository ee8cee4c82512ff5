"""Random forest (Breiman 2001) over bags of queries, point-wise or list-wise.

Each bag draws as many queries as there are, or a share of that, with replacement, and grows `trees_per_bag`
boosted trees on them from a random share of the features; the score is the mean over bags. Bags of *queries*,
as in RankLib: rows of one query are not independent. With `objective="lambda"` every bag is a small
LambdaMART.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pomona._team import rounds
from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.objectives.base import Objective
from pomona.objectives.lambdas import LambdaObjective
from pomona.objectives.regression import RegressionObjective
from pomona.rankers.forests.forest_ranker import ForestRanker
from pomona.rankers.forests.training.grown import forest_of, leaves_in
from pomona.rankers.forests.training.portion import Portion
from pomona.rankers.inputs import weights_in_queries
from pomona.rankers.parameter import NonNegativeFloat, PositiveInt, Share
from pomona.rankers.watched import Watched
from pomona.trees.forest import Forest
from pomona.trees.grower import GrownTree

_N_LEAVES = 100
_RATE = 0.1  # of the trees of a bag that has several
_FORMER = frozenset(
    ("averaged", "dropout", "dropout_skip", "early_stopping", "rest_fraction", "top_fraction", "warm_start")
)
"""Parameters of earlier versions, which did nothing."""


class RandomForest(ForestRanker):
    """Random forest: trees on bags of queries, averaged.

    Parameters
    ----------
    n_trees : the number of bags.
    query_fraction : how many queries a bag draws, as a share of all (RankLib's `srate`).
    trees_per_bag : boosted trees in each bag.
    learning_rate : the share of each tree's step that is taken, where a bag has several trees; None for 0.1.
        The one tree of a bag takes its whole step.
    n_leaves : leaves of a tree, when grown leaf by leaf; None for 100.
    objective : `regression` on the labels, or `lambda`: towards the measure.

    The others are those of every `ForestRanker`. All bags are kept: there is nothing to stop early.

    Departures
    ----------
    - Bags are of queries, as in RankLib, not of rows: rows of one query are not independent.
    - Features are drawn for each tree rather than each split; `feature_fraction=1,
      feature_fraction_bynode=0.3` draws them as Breiman does.
    - Trees have at most 100 leaves, of binned features; Breiman's grow to the end.
    - With `objective="lambda"` every bag is a small LambdaMART, which optimizes the measure directly.
    """

    name = "randomforest"
    aliases = ("random_forest", "random-forest", "rf")
    family = "point-wise"
    optimizes = "surrogate"
    paper = "Breiman, Machine Learning 2001"

    is_traceable = starts_from_scores = False  # its trees do not follow each other

    _left_open = ("growth", "max_depth", "n_leaves")
    learnt_attributes = {"oob_score_": float}
    search_space = {
        "n_leaves": (15, 511, "log int"),
        "min_docs": (1, 50, "log int"),
        "feature_fraction": (0.1, 0.7, "linear"),
    }

    n_trees: PositiveInt = 300
    trees_per_bag: PositiveInt = 1
    learning_rate: Share | None = None
    objective: Literal["regression", "lambda"] = "regression"
    growth: Literal["auto", "leafwise", "oblivious"] = "leafwise"
    min_docs: PositiveInt = 1
    min_hessian: NonNegativeFloat = 0.0
    feature_fraction: Share = 0.3

    @classmethod
    def parameters_of_file(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Without those that did nothing, `learning_rate` where a bag has one tree among them."""
        kept = {name: value for name, value in parameters.items() if name not in _FORMER}
        if kept.get("trees_per_bag", cls.trees_per_bag) == 1:
            kept.pop("learning_rate", None)
        return kept

    def choose(self, train: Dataset) -> dict[str, Any]:
        """As every forest, but with large trees where these grow leaf by leaf."""
        growth = super().choose(train)
        if self.n_leaves is None and growth["growth"] == "leafwise":
            growth["n_leaves"] = self.chosen_["n_leaves"] = _N_LEAVES
        return growth

    def make_objective(self, train: Dataset, weights: Values | None) -> Objective:
        if self.objective == "regression":
            return RegressionObjective(train.y, weights=weights)
        by_query, relative = weights_in_queries(weights, train)
        documents = train.y, train.query_ptr
        return LambdaObjective(
            self.parsed_measure, *documents, weights=by_query, relative=relative, seed=self.seed
        )

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        if self.trees_per_bag == 1 and self.learning_rate is not None:
            raise InputError(
                "the one tree of a bag takes its whole step: leave learning_rate out, or raise trees_per_bag"
            )
        grower = self._grower(train)
        objective = self.make_objective(train, weights)
        portion, n_queries = self._portion, self._portion.n_queries(train)
        portion.join(objective)
        base = objective.start()
        rng = np.random.default_rng(self.seed)
        sizes, bag_size = np.diff(train.query_ptr), max(1, round(self.query_fraction * n_queries))
        gradient, hessian = np.empty(train.n_docs, np.float32), np.empty(train.n_docs, np.float32)
        out_of_bag, n_out_of_bag = np.zeros(train.n_docs), np.zeros(train.n_queries)
        rate = 1.0 if self.trees_per_bag == 1 else self.learning_rate or _RATE
        grown: list[tuple[GrownTree, Values]] = []
        log = self.start_training(self.n_trees, unit="bag", deciding=())
        curves = None if valid is None else _Curves(train, valid, self.parsed_measure, portion, self._watched)

        def finish() -> None:
            n_bags = log.best_iteration  # fewer than asked for after Ctrl-C
            averaged = [(tree, value / n_bags) for tree, value in grown[: n_bags * self.trees_per_bag]]
            self.models_ = [forest_of(averaged, Forest.empty(train.n_features, base))]
            self.oob_score_ = self._judge_out_of_bag(train, out_of_bag, n_out_of_bag)

        log.finish_by(finish)
        with log.watch(), rounds():
            for _ in range(self.n_trees):
                drawn = np.bincount(rng.integers(0, n_queries, bag_size), minlength=n_queries)
                drawn = portion.here(drawn)
                times = np.repeat(drawn, sizes).astype(np.float32)
                rows = np.flatnonzero(times).astype(np.int32)
                scores: Scores = np.full(train.n_docs, base)
                for _ in range(self.trees_per_bag):
                    objective.gradients(scores, gradient, hessian)
                    tree = grower.grow(gradient * times, hessian * times, rows, rng)
                    value = tree.value * rate
                    scores += value[tree.leaf_of_row]
                    grown.append((tree, value))
                out_of_bag += np.where(times == 0, scores, 0.0)
                n_out_of_bag += drawn == 0
                log.record(**({} if curves is None else curves.after(scores, grown[-self.trees_per_bag :])))
                log.tell()
        finish()
        if curves is not None:  # sums of bags may tie, or tell apart, what their mean does not
            for part, height in curves.of(self.models_[0]).items():
                log.evals[part][-1] = height

    def _judge_out_of_bag(self, train: Dataset, sums: Scores, counts: NDArray[np.float64]) -> float:
        """The measure over queries that some bag left out, each judged by those bags alone."""
        means = sums / np.repeat(np.maximum(counts, 1), np.diff(train.query_ptr))
        return self._portion.evaluator(train, self.parsed_measure, "train").mean(means, counts > 0)


class _Curves:
    """The measure on training and validation queries of the bags so far: of the sums of their scores."""

    def __init__(
        self, train: Dataset, valid: Dataset, measure: Measure, portion: Portion, watched: Watched
    ) -> None:
        self._sets = watched.beside(valid)
        self._judge = watched.judge(self._sets, measure, portion.evaluator, train=train)
        self._data = {"train": train, **self._sets}
        self._sums = {name: np.zeros(data.n_docs) for name, data in self._data.items()}

    def after(self, scores: Scores, bag: Sequence[tuple[GrownTree, Values]]) -> dict[str, float]:
        """With one more bag, of these trees, that scores the training documents so."""
        self._sums["train"] += scores
        for name, data in self._sets.items():
            for tree, value in bag:
                self._sums[name] += value[leaves_in(data, tree)]
        return self._judge(self._sums)

    def of(self, forest: Forest) -> dict[str, float]:
        """Of the scores of the model itself."""
        return self._judge({name: forest.score(data.X) for name, data in self._data.items()})
