"""Gradient boosting of trees towards any objective, stopped by any measure: the loop behind every forest.

Each round: gradients at the current scores, a tree grown on them, its leaf values times the learning
rate added to the scores. The measure of the validation queries decides when to stop and which round was
best. An objective with several outputs (one for each class, say) grows a tree for each of them every round.

The highest of some hundred noisy values comes early rather than late. So what is kept is the *mean* of the
forests from the best round b to the last round l, in which the tree of round i > b weighs (l + 1 − i) /
(l + 1 − b): averages of the late iterates of a stochastic descent (Polyak & Juditsky 1992) vary less than any
of them. Where that is not asked for, the forest of the best round is kept.

With dropout (`dropout.py`) later rounds change what earlier trees weigh. The weights of the best round are
kept with it, so the forest scores as it did when it was judged.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pomona._team import rounds
from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import NothingToLearnError
from pomona.measures.base import Measure
from pomona.objectives.base import Objective
from pomona.rankers.forests.training.dropout import Dropout
from pomona.rankers.forests.training.gradient_sampling import GradientSampling
from pomona.rankers.forests.training.grown import forest_of
from pomona.rankers.forests.training.outputs import HeldOut, Outputs
from pomona.rankers.forests.training.portion import Portion
from pomona.rankers.training_log import TrainingLog
from pomona.rankers.watched import Watched
from pomona.trees.forest import Forest
from pomona.trees.grower import Grower, GrownTree

_NO_ROWS = np.empty(0, np.int32)
"""Of a tree that is added once: the leaves of all documents, tree after tree, would outgrow the data."""


@dataclass(frozen=True)
class BoostingConfig:
    """How long to boost, and on what: parameters of `BoostedForest`, explained there."""

    n_trees: int
    learning_rate: float
    query_fraction: float = 1.0
    seed: int = 0
    averaged: bool = False
    dropout: float = 0.0
    dropout_skip: float = 0.0
    top_fraction: float = 1.0
    rest_fraction: float = 0.1


def first_output(outputs: Values) -> Scores:
    """The score of a ranker with a single output."""
    single: Scores = outputs[0]
    return single


def boost(
    train: Dataset,
    valid: Dataset | None,
    objective: Objective,
    grower: Grower,
    measure: Measure,
    config: BoostingConfig,
    log: TrainingLog,
    *,
    start: Sequence[Forest] = (),
    base: Scores | None = None,
    valid_base: Scores | None = None,
    combine: Callable[[Values], Scores] = first_output,
    portion: Portion | None = None,
    watched: Watched | None = None,
    watched_bases: Mapping[str, Scores] | None = None,
    keep: Callable[[list[Forest]], None] | None = None,
) -> list[Forest]:
    """A forest for each output, boosted up to `n_trees` rounds in all, of which the best of the log is kept.

    `start` has forests to go on from; `combine` makes one score a document of (n_outputs, n_docs) outputs.
    The trees are added to the scores `base` and `valid_base`, where there are such: the objective then does
    not say where to start. `portion` says what there is on other machines, `watched` what else is judged,
    from the scores `watched_bases` of its sets; `keep` is given the forests so far, for callbacks.
    """
    portion = Portion() if portion is None else portion
    portion.join(objective)
    rng = np.random.default_rng(config.seed)
    constant = objective.start() if base is None else 0.0
    earlier = list(start) or [Forest.empty(train.n_features, constant)] * objective.n_outputs
    grown: list[list[tuple[GrownTree, Values]]] = [[] for _ in earlier]
    dropout = Dropout(config.dropout, config.dropout_skip, config.n_trees, config.seed)
    sampling = GradientSampling(config.top_fraction, config.rest_fraction, config.seed, portion)
    latest = best = dropout.weight  # after the latest round, and after the best
    outputs = Outputs.of(_outputs(earlier, train, base), objective, grower)
    sets = (watched or Watched()).beside(valid)
    bases = {"valid": valid_base, **(watched_bases or {})}
    held_out = {
        name: HeldOut(_outputs(earlier, data, bases.get(name)), data, is_revised=config.dropout > 0)
        for name, data in sets.items()
    }
    judge = (watched or Watched()).judge(sets, measure, portion.evaluator)
    of_train = None if valid is None else portion.evaluator(train, measure, "train")

    def add(rounds: Sequence[int], weight: Values) -> None:
        for k, trees in enumerate(grown):
            for tree, value, by in ((*trees[r], weight[r]) for r in rounds):
                outputs.add(k, tree, by * value)
                for other in held_out.values():
                    other.add(k, tree, by * value)

    def forests() -> list[Forest]:
        weight, last = latest if log.best_iteration == log.iteration else best, log.best_iteration
        if config.averaged and not config.dropout:
            weight, last = _mean_weight(latest, earlier[0].n_trees, log), log.iteration
        weighted = ([(t, by * v) for (t, v), by in zip(trees, weight, strict=False)] for trees in grown)
        pairs = zip(weighted, earlier, strict=True)
        return [forest_of(trees, forest).head(last) for trees, forest in pairs]

    if keep is not None:
        log.finish_by(lambda: keep(forests()))
    log.follow(train, lambda: combine(outputs.in_memory()), lambda: objective)
    with log.watch(), rounds():
        for iteration in range(earlier[0].n_trees + 1, config.n_trees + 1):
            dropped = dropout.draw(len(grown[0]))
            add(dropped, -dropout.weight)
            outputs.differentiate()
            if iteration == 1 and not portion.any(not outputs.is_flat()):
                raise NothingToLearnError(
                    f"no pair of documents of a query would change {measure} "
                    "(all labels of each query are equal, or count alike)"
                )
            rows = _bag(train, config.query_fraction, rng, portion)
            for k, trees in enumerate(grown):
                derivatives = outputs.gradient[k], outputs.hessian[k]
                tree = grower.grow(*derivatives, sampling.draw(*derivatives, rows), rng)
                trees.append((tree, tree.value * config.learning_rate))
            add(dropout.share(dropped, len(grown[0]) - 1), dropout.weight)
            if not config.dropout:
                for trees in grown:
                    trees[-1] = replace(trees[-1][0], leaf_of_row=_NO_ROWS), trees[-1][1]
            latest = dropout.weight.copy()  # callbacks may ask for the model
            if of_train is None:
                is_best = log.record()
            else:
                height = of_train.mean(combine(outputs.in_memory()))
                scores = {name: combine(other.values) for name, other in held_out.items()}
                is_best = log.record(train=height, **judge(scores))
            if is_best:
                best = latest
            if log.should_stop:
                break
    if not any(len(tree.feature) for trees in grown for tree, _ in trees) and not start:
        warnings.warn(
            "no tree found a split, so all documents score alike: lower min_docs or min_hessian, or give "
            "more data",
            stacklevel=2,
        )
    return forests()


def _mean_weight(weight: Values, n_earlier: int, log: TrainingLog) -> Values:
    """What trees weigh in the mean of the forests from the best round to the last.

    >>> log = TrainingLog()
    >>> [log.record(valid=value) for value in (0.3, 0.5, 0.4, 0.4)]
    [True, True, False, False]
    >>> _mean_weight(np.ones(5), 0, log).round(2).tolist()
    [1.0, 1.0, 0.67, 0.33, 0.0]
    """
    to_come = log.iteration + 1 - (n_earlier + np.arange(1, len(weight) + 1))
    fading: Values = weight * np.clip(to_come / (log.iteration + 1 - log.best_iteration), 0, 1)
    return fading


def _outputs(forests: Sequence[Forest], data: Dataset, base: Scores | None) -> Values:
    outputs = np.stack(
        [forest.score(data.X) if forest.n_trees else np.full(data.n_docs, forest.base) for forest in forests]
    )
    return outputs if base is None else outputs + base


def _bag(
    train: Dataset, fraction: float, rng: np.random.Generator, portion: Portion
) -> NDArray[np.int32] | None:
    """The rows of a random share of the queries, without replacement; None for all."""
    if fraction >= 1.0:
        return None
    n_queries = portion.n_queries(train)
    kept = np.zeros(n_queries, bool)
    kept[rng.permutation(n_queries)[: max(1, round(fraction * n_queries))]] = True
    return np.flatnonzero(np.repeat(portion.here(kept), np.diff(train.query_ptr))).astype(np.int32)
