"""Gradient boosting of trees towards any objective, stopped by any measure: the loop behind every forest.

Each round: gradients at the current scores, a tree grown on them, its leaf values times the learning
rate added to the scores. The measure of the validation queries decides when to stop and which round was best.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pomona._types import Offsets, Scores
from pomona.data.dataset import Dataset
from pomona.measures.base import Measure
from pomona.measures.judge import judge
from pomona.measures.lists import Judged
from pomona.trees.forest import Forest
from pomona.trees.grower import GrownTree
from pomona.trees.walk import leaves_of


class Objective(Protocol):
    """What boosting needs to know of a loss."""

    def start(self) -> float:
        """The score every document starts from."""

    def gradients(
        self, scores: Scores, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> None:
        """First and second derivatives of the loss in each score."""


class Grower(Protocol):
    """Whatever grows a tree on gradients."""

    def grow(
        self,
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        rows: NDArray[np.int32] | None,
        rng: np.random.Generator,
    ) -> GrownTree:
        """One tree, learnt from `rows` (all when None)."""


@dataclass(frozen=True)
class Rounds:
    """How long to boost, and on what."""

    n_trees: int
    learning_rate: float
    early_stopping: int | None
    query_fraction: float = 1.0
    seed: int = 0


@dataclass
class Boosted:
    """What boosting leaves behind."""

    forest: Forest
    evals: dict[str, list[float]] = field(default_factory=dict)
    best_iteration: int = 0
    interrupted: bool = False


def boost(
    train: Dataset,
    valid: Dataset | None,
    objective: Objective,
    grower: Grower,
    measure: Measure,
    rounds: Rounds,
    *,
    start: Forest | None = None,
    on_round: Callable[[int, dict[str, float]], None] | None = None,
) -> Boosted:
    """Boost up to `n_trees` trees in all, continuing from `start` when given.

    Ctrl-C ends the training with the best model so far instead of losing it.
    """
    rng = np.random.default_rng(rounds.seed)
    base = objective.start() if start is None else start.base
    trees = [] if start is None else [start]
    n_before = 0 if start is None else start.n_trees
    boosted = Boosted(Forest.empty(train.n_features, base), best_iteration=n_before)
    watched = _Watched.of(train, valid, measure, start, base)
    scores = watched.train_scores
    gradient, hessian = np.empty(train.n_docs, np.float32), np.empty(train.n_docs, np.float32)
    best = -np.inf
    try:
        for iteration in range(n_before + 1, rounds.n_trees + 1):
            objective.gradients(scores, gradient, hessian)
            rows = _bag(train.query_ptr, rounds.query_fraction, rng)
            tree = grower.grow(gradient, hessian, rows, rng)
            value = tree.value * rounds.learning_rate
            scores += value[tree.leaf_of_row]
            trees.append(tree_forest(tree, value, train.n_features, base))
            now = watched.after(tree, value, boosted.evals)
            if on_round is not None:
                on_round(iteration, now)
            if valid is None or now["valid"] > best:
                best, boosted.best_iteration = now.get("valid", best), iteration
            elif rounds.early_stopping and iteration - boosted.best_iteration >= rounds.early_stopping:
                break
    except KeyboardInterrupt:
        boosted.interrupted = True
        warnings.warn(f"interrupted: keeping the best {boosted.best_iteration} trees", stacklevel=2)
    boosted.forest = Forest.join(trees, train.n_features, base).head(boosted.best_iteration)
    return boosted


def tree_forest(tree: GrownTree, value: Scores, n_features: int, base: float) -> Forest:
    """One grown tree, with these leaf values, as a forest."""
    return Forest(
        tree.feature,
        tree.threshold,
        tree.nan_left,
        tree.left,
        tree.right,
        tree.gain,
        np.array([0, len(tree.feature)], np.int64),
        value,
        np.array([0, len(value)], np.int64),
        n_features,
        base,
    )


def _bag(query_ptr: Offsets, fraction: float, rng: np.random.Generator) -> NDArray[np.int32] | None:
    """The rows of a random share of the queries, without replacement; None for all."""
    if fraction >= 1.0:
        return None
    n_queries = len(query_ptr) - 1
    kept = np.zeros(n_queries, bool)
    kept[rng.permutation(n_queries)[: max(1, round(fraction * n_queries))]] = True
    return np.flatnonzero(np.repeat(kept, np.diff(query_ptr))).astype(np.int32)


@dataclass
class _Watched:
    """The scores that are followed from round to round, and the measure of them."""

    train: Dataset
    valid: Dataset | None
    measure: Measure
    train_scores: Scores
    valid_scores: Scores | None

    @classmethod
    def of(
        cls, train: Dataset, valid: Dataset | None, measure: Measure, start: Forest | None, base: float
    ) -> _Watched:
        def first(data: Dataset) -> Scores:
            return np.full(data.n_docs, base) if start is None else start.score(data.X)

        return cls(train, valid, measure, first(train), None if valid is None else first(valid))

    def after(self, tree: GrownTree, value: Scores, evals: dict[str, list[float]]) -> dict[str, float]:
        """Judge both parts after another tree; without validation data nothing is judged."""
        if self.valid is None or self.valid_scores is None:
            return {}
        leaf = leaves_of(self.valid.X, tree.feature, tree.threshold, tree.nan_left, tree.left, tree.right)
        self.valid_scores += value[leaf]
        now = {
            "train": _mean(self.train, self.train_scores, self.measure),
            "valid": _mean(self.valid, self.valid_scores, self.measure),
        }
        for part, mean in now.items():
            evals.setdefault(part, []).append(mean)
        return now


def _mean(data: Dataset, scores: Scores, measure: Measure) -> float:
    return judge(Judged(data.y, scores, data.query_ptr, data.doc_ids), [measure])[0].mean
