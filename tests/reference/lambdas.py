"""Lambda gradients as the papers have them (Burges et al. 2006, Wu et al. 2010), pair by pair.

Every swap is made and the measure, any function of ranked labels, asked again. Documents must not tie.
"""

import math
from functools import cache


def lambdas(labels, scores, value, *, sigma=1.0, truncation=None, normalize=False):
    """(−λ, h) of one query; `value(ranked labels)` is the measure."""
    value = cache(value)
    n = len(labels)
    order = sorted(range(n), key=lambda i: -scores[i])
    ranked = tuple(labels[i] for i in order)
    gradient, hessian, total = [0.0] * n, [0.0] * n, 0.0
    for a in range(n if truncation is None else min(truncation, n)):
        for b in range(a + 1, n):
            if ranked[a] == ranked[b]:
                continue
            swapped = list(ranked)
            swapped[a], swapped[b] = ranked[b], ranked[a]
            delta = abs(value(tuple(swapped)) - value(ranked))
            i, j = (order[a], order[b]) if ranked[a] > ranked[b] else (order[b], order[a])
            if normalize and scores[order[0]] != scores[order[-1]]:
                delta /= 0.01 + abs(scores[i] - scores[j])
            rho = _logistic(-sigma * (scores[i] - scores[j]))
            push = sigma * delta * rho
            gradient[i] -= push
            gradient[j] += push
            bend = sigma**2 * delta * rho * (1 - rho)
            hessian[i] += bend
            hessian[j] += bend
            total += 2 * push
    factor = math.log2(1 + total) / total if normalize and total > 0 else 1.0
    return [factor * g for g in gradient], [factor * h for h in hessian]


def _logistic(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
