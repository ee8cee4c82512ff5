"""What features do in a forest: LambdaMART towards the measure, trained and tested on each fold.

    gain share     the feature's share of the summed gain of all splits, a mean over folds
    splits         how many splits are on it, in the trees of all folds
    drop within    how much the measure of the test queries falls when its values are shuffled inside queries
    drop across    … and when they are shuffled across all queries; both means over shuffles and queries
    interaction    of features f and g: the summed gain of splits on g that lie below a split on f

Gain is what the training queries say, so it flatters features with many values; drops are of queries that no
tree has seen. What shuffling inside queries leaves is what the feature tells of queries.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from pomona._types import Offsets, Values
from pomona.data.dataset import Dataset
from pomona.data.folds import Fold
from pomona.measures.base import Measure
from pomona.rankers.evaluator import RankingEvaluator, with_fair_ties
from pomona.rankers.forests.lambdamart import LambdaMART

N_INTERACTIONS = 20


@dataclass
class ForestShares:
    """What the folds that are done have shown, to be joined by more.

    value : the measure of the test queries as they are, a mean over queries.
    """

    feature_names: Sequence[str]
    gain_shares: list[Values] = field(default_factory=list)
    splits: list[Values] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    drops: list[Values] = field(default_factory=list)
    interactions: list[Values] = field(default_factory=list)
    n_queries: list[int] = field(default_factory=list)

    @property
    def value(self) -> float:
        """The measure of the test queries, features as they are."""
        return float(np.average(self.values, weights=self.n_queries))

    @property
    def table(self) -> pl.DataFrame:
        """A row a feature."""
        drops = np.average(self.drops, axis=0, weights=self.n_queries)
        return pl.DataFrame(
            {
                "number": np.arange(1, len(self.feature_names) + 1),
                "gain_share": np.mean(self.gain_shares, axis=0),
                "splits": np.sum(self.splits, axis=0).astype(np.int64),
                "drop_within": drops[:, 0],
                "drop_across": drops[:, 1],
            }
        )

    @property
    def interaction_table(self) -> pl.DataFrame:
        """The pairs of features with the largest summed gain of one below the other."""
        gains = np.sum(self.interactions, axis=0)
        order = np.argsort(-gains, axis=None, kind="stable")[:N_INTERACTIONS]
        pairs = [(int(f), int(g)) for f, g in zip(*np.unravel_index(order, gains.shape), strict=True)]
        chosen = [(f, g) for f, g in pairs if gains[f, g] > 0]
        return pl.DataFrame(
            {
                "above": [self.feature_names[f] for f, _ in chosen],
                "below": [self.feature_names[g] for _, g in chosen],
                "gain": [float(gains[f, g]) for f, g in chosen],
            },
            schema={"above": pl.String, "below": pl.String, "gain": pl.Float64},
        )

    def add_fold(
        self,
        fold: Fold,
        measure: Measure,
        *,
        n_trees: int,
        n_shuffles: int,
        seed: int = 0,
        watch: Callable[[float], Any] = lambda share: None,
    ) -> None:
        """Train on a fold, and judge its test queries; `watch` hears the share that is done."""
        ranker = LambdaMART(measure=measure, n_trees=n_trees, early_stopping=None, seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an interruption, which is told below
            ranker.fit(fold.train)
        if ranker.interrupted_:
            raise KeyboardInterrupt
        watch(0.5)
        forest, test = ranker.model_, fold.test.with_features(fold.train.feature_names).gathered()
        evaluator = RankingEvaluator(test, with_fair_ties(measure))
        scorer, orders = forest.permuted_scorer(test.X), shuffled_orders(test, n_shuffles, seed)
        value, drops = evaluator.mean(scorer.scores), np.zeros((test.n_features, 2))
        for feature in np.flatnonzero(forest.importance("split")):
            judged = [evaluator.mean(scores) for scores in scorer.permuted(int(feature), orders)]
            drops[feature] = value - np.mean(np.reshape(judged, (2, n_shuffles)), axis=1)
            watch(0.5 + 0.5 * (feature + 1) / test.n_features)
        self.gain_shares.append(ranker.feature_importances_)
        self.splits.append(forest.importance("split"))
        self.values.append(value)
        self.drops.append(drops)
        self.interactions.append(_interactions(forest))
        self.n_queries.append(test.n_queries)
        watch(1.0)


def shuffled_orders(data: Dataset, n_shuffles: int, seed: int) -> list[Offsets]:
    """Seeded orders of the documents, the same for every feature: inside queries, then across all."""
    random = np.random.default_rng(seed)
    query = np.repeat(np.arange(data.n_queries), np.diff(data.query_ptr))
    within = [np.lexsort((random.random(data.n_docs), query)) for _ in range(n_shuffles)]
    return [*within, *(random.permutation(data.n_docs) for _ in range(n_shuffles))]


def _interactions(forest: Any) -> Values:
    """(n_features, n_features) summed gain of splits on the second feature below a split on the first."""
    gains = np.zeros((forest.n_features, forest.n_features))
    feature, gain = forest.feature.tolist(), forest.gain.astype(np.float64).tolist()
    left, right = forest.left.tolist(), forest.right.tolist()
    for begin, end in itertools.pairwise(forest.node_ptr.tolist()):
        above: dict[int, frozenset[int]] = {begin: frozenset()}
        for node in range(begin, end):  # a child's number is greater than its parent's
            ancestors = above.pop(node)
            for f in ancestors - {feature[node]}:
                gains[f, feature[node]] += gain[node]
            with_this = ancestors | {feature[node]}
            above.update({begin + child: with_this for child in (left[node], right[node]) if child >= 0})
    return gains
