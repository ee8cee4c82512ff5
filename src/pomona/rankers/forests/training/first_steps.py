"""The first steps of a first training, in small, by a second process: their kernels are compiled early.

A first fit loads scikit-learn and compiles two dozen kernels. A process that begins while this one loads, and
with what this one needs last, meets it half way.
"""

from __future__ import annotations

from pomona._beside import call_beside
from pomona._kernel_files import is_first_run


def compile_ahead() -> None:
    """Have the kernels of a training compiled, if this machine never did."""
    if is_first_run("trees/grower.py"):
        call_beside(take_first_steps)


def take_first_steps() -> None:
    """Do once, on a few documents, what `LambdaMART` does by default: what takes longest to compile first."""
    import numpy as np

    from pomona.data.dataset import Dataset
    from pomona.measures.parse import measure
    from pomona.objectives.lambdas import LambdaObjective
    from pomona.objectives.noisy import NoisyObjective
    from pomona.rankers.evaluator import RankingEvaluator
    from pomona.trees.binning import Bins
    from pomona.trees.grow_oblivious import ObliviousGrower
    from pomona.trees.grower import GrowthRules

    rng = np.random.default_rng(0)
    X = rng.random((60, 3), np.float32)
    data = Dataset(X, np.tile([0, 1, 2], 20), np.repeat([1, 2, 3], 20))
    scores, judge_by = np.zeros(data.n_docs), measure("ndcg@10")
    gradient, hessian = np.empty((2, data.n_docs), np.float32)
    objective = LambdaObjective(judge_by, data.y, data.query_ptr)
    NoisyObjective(objective, scale=0.1).gradients(scores, gradient, hessian)
    bins = Bins.of(data.X)
    ObliviousGrower(bins, bins.codes(data.X), GrowthRules()).grow(gradient, hessian, None, rng)
    RankingEvaluator(data, judge_by).mean(scores)  # only a training with a validation set needs it
