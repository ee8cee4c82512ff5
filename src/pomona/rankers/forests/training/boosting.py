"""Gradient boosting of trees towards any objective, stopped by any measure: the loop behind every forest.

Each round: gradients at the current scores, a tree grown on them, its leaf values times the learning
rate added to the scores. The measure of the validation queries decides when to stop and which round was
best. An objective with several outputs (one for each class, say) grows a tree for each of them every round.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import NothingToLearnError
from pomona.measures.base import Measure
from pomona.objectives.base import Objective
from pomona.rankers.forests.training.outputs import Outputs
from pomona.rankers.forests.training.portion import Portion
from pomona.rankers.training_log import TrainingLog
from pomona.trees.forest import Forest
from pomona.trees.grower import Grower, GrownTree
from pomona.trees.walk import leaves_of

_NO_ROWS = np.empty(0, np.int32)
"""Of a tree that is kept: the leaves of all documents, tree after tree, would outgrow the data."""


@dataclass(frozen=True)
class BoostingConfig:
    """How long to boost, and on what: parameters of `ForestRanker`, explained there."""

    n_trees: int
    learning_rate: float
    query_fraction: float = 1.0
    seed: int = 0


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
) -> list[Forest]:
    """A forest for each output, boosted up to `n_trees` rounds in all and cut at the best of the log.

    `start` has forests to go on from; `combine` makes one score a document of (n_outputs, n_docs) outputs.
    The trees are added to the scores `base` and `valid_base`, where there are such: the objective then does
    not say where to start. `portion` says what there is on other machines.
    """
    portion = Portion() if portion is None else portion
    portion.join(objective)
    rng = np.random.default_rng(config.seed)
    constant = objective.start() if base is None else 0.0
    earlier = list(start) or [Forest.empty(train.n_features, constant)] * objective.n_outputs
    grown: list[list[tuple[GrownTree, Values]]] = [[] for _ in earlier]
    outputs = Outputs.of(_outputs(earlier, train, base), objective, grower)
    held_out = None if valid is None else _outputs(earlier, valid, valid_base)
    parts = {} if valid is None else {"train": train, "valid": valid}
    evaluators = {part: portion.evaluator(data, measure, part) for part, data in parts.items()}
    log.follow(train, lambda: combine(outputs.in_memory()), lambda: objective)
    with log.watch():
        for iteration in range(earlier[0].n_trees + 1, config.n_trees + 1):
            outputs.differentiate()
            if iteration == 1 and not portion.any(not outputs.is_flat()):
                raise NothingToLearnError(
                    f"no pair of documents of a query would change {measure} "
                    "(all labels of each query are equal, or count alike)"
                )
            rows = _bag(train, config.query_fraction, rng, portion)
            for k, trees in enumerate(grown):
                tree = grower.grow(outputs.gradient[k], outputs.hessian[k], rows, rng)
                value = tree.value * config.learning_rate
                outputs.add(k, tree, value)
                if valid is not None and held_out is not None:
                    held_out[k] += value[leaves_in(valid, tree)]
                trees.append((replace(tree, leaf_of_row=_NO_ROWS), value))
            if held_out is None:
                log.record()
            else:
                scores = {"train": combine(outputs.in_memory()), "valid": combine(held_out)}
                log.record(**{part: evaluators[part].mean(scores[part]) for part in parts})
            if log.should_stop:
                break
    if not any(len(tree.feature) for trees in grown for tree, _ in trees) and not start:
        warnings.warn(
            "no tree found a split, so all documents score alike: lower min_docs, or give more data",
            stacklevel=2,
        )
    return [
        forest_of(trees, forest).head(log.best_iteration)
        for trees, forest in zip(grown, earlier, strict=True)
    ]


def forest_of(grown: Sequence[tuple[GrownTree, Values]], after: Forest) -> Forest:
    """Grown trees, each with its leaf values, as one forest that begins with the trees of `after`."""
    node_ptr = np.cumsum([0, *(len(tree.feature) for tree, _ in grown)])
    leaf_ptr = np.cumsum([0, *(len(value) for _, value in grown)])
    arrays: dict[str, NDArray[np.generic]] = {"node_ptr": node_ptr, "leaf_ptr": leaf_ptr}
    for name in ("feature", "threshold", "nan_left", "left", "right", "gain"):
        arrays[name] = np.concatenate([getattr(after, name)[:0], *(getattr(tree, name) for tree, _ in grown)])
    arrays["value"] = np.concatenate([np.empty(0), *(value for _, value in grown)])
    for name in ("leaf_count", "leaf_weight"):
        known = [getattr(tree, name) for tree, _ in grown]
        if known and all(array is not None for array in known):
            arrays[name] = np.concatenate(known)
    return after.extended(Forest.of_arrays(arrays, after.n_features, 0.0))


def _outputs(forests: Sequence[Forest], data: Dataset, base: Scores | None) -> Values:
    outputs = np.stack(
        [forest.score(data.X) if forest.n_trees else np.full(data.n_docs, forest.base) for forest in forests]
    )
    return outputs if base is None else outputs + base


def leaves_in(data: Dataset, tree: GrownTree) -> NDArray[np.int32]:
    """The leaf of a tree that each document falls into."""
    return leaves_of(data.X, tree.feature, tree.threshold, tree.nan_left, tree.left, tree.right)


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
