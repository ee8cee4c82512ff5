"""Relevance inferred from the value of a measure (Yilmaz & Robertson 2009, Figure 2), by SciPy's SLSQP.

A list of n documents holds r of the R relevant documents of its query; those that it misses stand at
infinity. p (n,) is the chance of each rank, P (n, grades) that of each grade at each rank.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import entr


def average_precision(labels, n_relevant):
    """AP of a ranked list, of a query with so many relevant documents."""
    hits, total = 0, 0.0
    for rank, label in enumerate(labels, 1):
        if label >= 1:
            hits += 1
            total += hits / rank
    return total / n_relevant


def ndcg(labels, judged):
    """NDCG of a ranked list, of a query whose judged documents have these labels."""

    def dcg(ranked):
        return sum((2.0**g - 1) / np.log2(r + 1) for r, g in enumerate(ranked, 1) if g > 0)

    return dcg(labels) / dcg(sorted(judged, reverse=True))


def from_average_precision(value, n_docs, in_list, n_relevant):
    """(n,) The p of largest entropy with E[AP] = value."""

    def expected(p):
        return sum(p[n] / (n + 1) * (1 + sum(p[:n])) for n in range(n_docs)) / n_relevant

    rules = [lambda p: expected(p) - value, lambda p: p.sum() - in_list]
    starts = (
        np.linspace(a, b, n_docs) * 2 * in_list / n_docs for a, b in ((0.1, 0.9), (0.9, 0.1), (0.5, 0.5))
    )
    found = [_largest_entropy(lambda p: entr(p).sum() + entr(1 - p).sum(), p, rules) for p in starts]
    return max((one for one in found if one.success), key=lambda one: -one.fun).x


def from_ndcg(value, counts, judged):
    """(n,) The chances of relevance of largest entropy with E[NDCG] = value; counts {grade: in the list}."""
    grades, n_docs = sorted(counts), sum(counts.values())
    gain = np.array([2.0 ** max(grade, 0) - 1 for grade in grades])
    discount = 1 / np.log2(np.arange(n_docs) + 2)
    ideal = sum((2.0**g - 1) / np.log2(r + 1) for r, g in enumerate(sorted(judged, reverse=True), 1))

    def matrix(p):
        return p.reshape(n_docs, len(grades))

    rules = [lambda p: discount @ matrix(p) @ gain / ideal - value, lambda p: matrix(p).sum(axis=1) - 1]
    rules.append(lambda p: matrix(p).sum(axis=0)[1:] - [counts[grade] for grade in grades[1:]])
    start = np.tile([counts[grade] / n_docs for grade in grades], n_docs)
    best = matrix(_largest_entropy(lambda p: entr(p).sum(), start, rules).x)
    return best[:, [grade >= 1 for grade in grades]].sum(axis=1)


def _largest_entropy(entropy, start, rules):
    return minimize(
        lambda p: -entropy(p),
        np.clip(start, 0.01, 0.99),
        method="SLSQP",
        bounds=[(1e-9, 1 - 1e-9)] * len(start),
        constraints=[{"type": "eq", "fun": rule} for rule in rules],
        options={"maxiter": 500, "ftol": 1e-12},
    )
