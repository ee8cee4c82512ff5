"""DART the slow way (Rashmi & Gilad-Bachrach 2015, Algorithm 1, with a learning rate): squared error, each
score summed anew over all trees in every round."""

import numpy as np

from reference.tree import Data, Rules


def boosted(codes, n_bins, has_nan, y, dropped_of_round, rate, rules=None):
    """After every round: the scores of all documents. dropped_of_round: the trees left out in each round."""
    rules = rules or Rules()
    base, steps, weights, curve = float(np.mean(y)), [], [], []
    for dropped in dropped_of_round:
        kept = sum((w * s for t, (w, s) in enumerate(zip(weights, steps, strict=True)) if t not in dropped))
        gradient = base + kept - y
        tree = Data(codes, n_bins, has_nan, gradient, np.ones(len(y)), rules).leafwise(np.arange(len(y)))
        step = np.zeros(len(y))
        for cell, value in zip(tree.cells, tree.value, strict=True):
            step[cell.rows] = rate * value
        k = len(dropped)
        for t in dropped:
            weights[t] *= k / (k + 1)
        steps.append(step)
        weights.append(1 / (k + 1))
        curve.append(base + sum(w * s for w, s in zip(weights, steps, strict=True)))
    return curve
