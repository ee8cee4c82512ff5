"""RankBoost, as the paper tells it (Freund et al. 2003): every pair and every threshold looked at."""

import math


def pairs_of(labels, queries):
    """(better, worse) rows of each query."""
    n = range(len(labels))
    return [(i, j) for i in n for j in n if queries[i] == queries[j] and labels[i] > labels[j]]


def rank_boost(rows, labels, queries, n_rounds):
    """The rounds' (feature, threshold, r, α, Z), the scores and the distribution over pairs at the end."""
    pairs = pairs_of(labels, queries)
    shares = [1 / len(pairs)] * len(pairs)
    scores, rounds = [0.0] * len(rows), []
    for _ in range(n_rounds):
        best = (0.0, 0, 0.0, None)
        for feature in range(len(rows[0])):
            for threshold in sorted({row[feature] for row in rows})[-2::-1]:
                passed = [float(row[feature] > threshold) for row in rows]
                r = sum(d * (passed[i] - passed[j]) for d, (i, j) in zip(shares, pairs, strict=True))
                if abs(r) > abs(best[0]) + 1e-12:
                    best = (r, feature, threshold, passed)
        r, feature, threshold, passed = best
        least = 1 / (2 * len(pairs))
        r = max(least - 1, min(1 - least, r))
        alpha = 0.5 * math.log((1 + r) / (1 - r))
        shares = [
            d * math.exp(-alpha * (passed[i] - passed[j])) for d, (i, j) in zip(shares, pairs, strict=True)
        ]
        z = sum(shares)
        shares = [d / z for d in shares]
        scores = [s + alpha * p for s, p in zip(scores, passed, strict=True)]
        rounds.append((feature, threshold, r, alpha, z))
    return rounds, scores, shares
