"""Margin losses of one query, plainly: over every pair, and over every ranking."""

import itertools


def pairs(labels):
    """(i, j) for every pair of documents of which i has the higher label."""
    return [(i, j) for i, a in enumerate(labels) for j, b in enumerate(labels) if a > b]


def pair_loss(scores, labels):
    """Σ max(0, 1 − (s_i − s_j))², and its derivative by every score."""
    loss, slope = 0.0, [0.0] * len(scores)
    for i, j in pairs(labels):
        short = max(0.0, 1 - (scores[i] - scores[j]))
        loss += short**2
        slope[i] -= 2 * short
        slope[j] += 2 * short
    return loss, slope


def pair_curvature(scores, labels):
    """The second derivatives of `pair_loss`, as a matrix."""
    n = len(scores)
    bend = [[0.0] * n for _ in range(n)]
    for i, j in pairs(labels):
        if scores[i] - scores[j] < 1:
            bend[i][i] += 2
            bend[j][j] += 2
            bend[i][j] -= 2
            bend[j][i] -= 2
    return bend


def average_precision(ranking, relevant):
    found, total = 0, 0.0
    for rank, document in enumerate(ranking, 1):
        if relevant[document]:
            found += 1
            total += found / rank
    return total / found


def psi(ranking, X, relevant):
    """SVMmap: the mean over pairs (relevant, not) of the difference, turned where the order is wrong."""
    n_relevant = sum(relevant)
    weight = 1 / (n_relevant * (len(ranking) - n_relevant))
    total = [0.0] * len(X[0])
    for i, j in itertools.product(ranking, ranking):
        if relevant[i] and not relevant[j]:
            sign = 1 if ranking.index(i) < ranking.index(j) else -1
            total = [t + weight * sign * (a - b) for t, a, b in zip(total, X[i], X[j], strict=True)]
    return total


def phi(ranking, X):
    """PermuRank: the sum over all pairs of (the upper − the lower), over n (n − 1)."""
    n = len(ranking)
    total = [0.0] * len(X[0])
    for upper, lower in itertools.combinations(ranking, 2):
        total = [t + (a - b) / (n * (n - 1)) for t, a, b in zip(total, X[upper], X[lower], strict=True)]
    return total


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def perfect(labels):
    return sorted(range(len(labels)), key=lambda i: -labels[i])


def ap_constraints(X, relevant):
    """Of every ranking ŷ of a query (1 − AP(ŷ), Ψ(y) − Ψ(ŷ))."""
    best = psi(perfect(relevant), X, relevant)
    for ranking in itertools.permutations(range(len(X))):
        worse = psi(ranking, X, relevant)
        yield 1 - average_precision(ranking, relevant), [a - b for a, b in zip(best, worse, strict=True)]
