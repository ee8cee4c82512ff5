"""AdaRank, as the paper tells it (Xu & Li 2007); features without ties."""

import math


def ranked(scores, labels):
    """Labels from the highest score to the lowest."""
    return [labels[i] for i in sorted(range(len(scores)), key=lambda i: -scores[i])]


def ada_rank(queries, measure, n_rounds, signs=(1,), rising=False, tolerance=None):
    """Learn from (rows, labels) of queries; the weights after each round.

    A step that changes no query's value (`rising`: does not raise their mean) is taken back, its feature left
    out until another's does. The first that lowers their mean by more than `tolerance` ends it.
    """
    n_features = len(queries[0][0][0])

    def values_of(weights):
        scores = [
            [sum(w * x for w, x in zip(weights, row, strict=True)) for row in rows] for rows, _ in queries
        ]
        return [measure(ranked(s, labels)) for s, (_, labels) in zip(scores, queries, strict=True)]

    def alone(sign, feature):
        return [float(sign) if j == feature else 0.0 for j in range(n_features)]

    weak = [(sign, j) for sign in signs for j in range(n_features)]
    weights, history, left_out, before = [0.0] * n_features, [], set(), None
    shares = [1 / len(queries)] * len(queries)
    while len(history) < n_rounds and len(left_out) < len(weak):
        means = {
            (sign, j): sum(p * e for p, e in zip(shares, values_of(alone(sign, j)), strict=True))
            for sign, j in weak
            if (sign, j) not in left_out
        }
        sign, feature = max(means, key=lambda one: means[one])
        mean = means[sign, feature]
        alpha = 0.5 * math.log((1 + mean) / (1 - mean))
        step = [w + alpha * e for w, e in zip(weights, alone(sign, feature), strict=True)]
        values = values_of(step)
        lost = 0.0 if before is None else (sum(before) - sum(values)) / len(values)
        if tolerance is not None and lost > tolerance + 1e-9:
            break
        if before is not None and (sum(values) <= sum(before) + 1e-9 if rising else values == before):
            left_out.add((sign, feature))
            continue
        weights, before, left_out = step, values, set()
        history.append(weights)
        shares = [math.exp(-e) for e in values]
        shares = [p / sum(shares) for p in shares]
    return history


def published(values_of_feature, values_of, n_rounds):
    """The loop of the paper, word for word; (feature, α) of every round.

    values_of_feature[j][q] is E of query q ranked by feature j, values_of(f) those of the combination f, a
    dict of weights by feature.
    """
    n_queries = len(values_of_feature[0])
    P, f, steps = [1 / n_queries] * n_queries, {}, []
    for _ in range(n_rounds):
        phi = [sum(p * e for p, e in zip(P, E, strict=True)) for E in values_of_feature]
        h = phi.index(max(phi))
        E = values_of_feature[h]
        numerator = sum(p * (1 + e) for p, e in zip(P, E, strict=True))
        denominator = sum(p * (1 - e) for p, e in zip(P, E, strict=True))
        alpha = 0.5 * math.log(numerator / denominator)
        f[h] = f.get(h, 0.0) + alpha
        Z = [math.exp(-e) for e in values_of(f)]
        P = [z / sum(Z) for z in Z]
        steps.append((h, alpha))
    return steps
