"""The measures as their papers write them: slow, plain, importing nothing of Pomona.

`ranked` is a list of labels in ranked order; a label below 0 is not judged.
"""

import itertools
import math


def dcg(ranked, k=None, gain=lambda g: 2**g - 1, discount=lambda r: 1 / math.log2(r + 1)):
    return sum(gain(g) * discount(r) for r, g in enumerate(ranked[:k], 1) if g >= 0)


def ndcg(ranked, k=None, **rules):
    ideal = dcg(sorted(ranked, reverse=True), k, **rules)
    return dcg(ranked, k, **rules) / ideal if ideal else 0.0


def precision(ranked, k=None, relevant=1):
    return sum(g >= relevant for g in ranked[:k]) / (k or len(ranked))


def recall(ranked, k=None, relevant=1):
    total = sum(g >= relevant for g in ranked)
    return sum(g >= relevant for g in ranked[:k]) / total if total else 0.0


def average_precision(ranked, k=None, relevant=1):
    total = sum(g >= relevant for g in ranked)
    hits = [r for r, g in enumerate(ranked, 1) if g >= relevant]
    return sum((i + 1) / r for i, r in enumerate(hits) if k is None or r <= k) / total if total else 0.0


def reciprocal_rank(ranked, k=None, relevant=1):
    return next((1 / r for r, g in enumerate(ranked[:k], 1) if g >= relevant), 0.0)


def success(ranked, k=None):
    return float(any(g >= 1 for g in ranked[:k]))


def err(ranked, k=None, max_grade=4):
    chance = [(2**g - 1) / 2**max_grade for g in ranked]
    return sum(
        chance[r] / (r + 1) * math.prod(1 - c for c in chance[:r])
        for r in range(min(len(ranked), k or len(ranked)))
    )


def nerr(ranked, k=None, max_grade=4):
    ideal = err(sorted(ranked, reverse=True), k, max_grade)
    return err(ranked, k, max_grade) / ideal if ideal else 0.0


def graded_average_precision(ranked, k=None, thresholds=(0.25, 0.25, 0.25, 0.25)):
    """Robertson, Kanoulas & Yilmaz 2010: over pairs of ranks m ≤ n, what both are at least."""

    def at_least(grade):
        return sum(thresholds[: int(grade)])

    total = sum(at_least(grade) for grade in ranked)
    value = sum(
        sum(at_least(min(above, grade)) for above in ranked[:n]) / n for n, grade in enumerate(ranked[:k], 1)
    )
    return value / total if total else 0.0


def pfound(ranked, k=None, p_break=0.15, p_relevant=(0, 0.07, 0.14, 0.41, 0.61)):
    chance = [p_relevant[int(g)] for g in ranked]
    return sum(
        (1 - p_break) ** r * chance[r] * math.prod(1 - c for c in chance[:r])
        for r in range(min(len(ranked), k or len(ranked)))
    )


def rbp(ranked, k=None, p=0.8, relevant=1):
    return (1 - p) * sum((g >= relevant) * p**r for r, g in enumerate(ranked[:k]))


def wta(ranked, k=None, relevant=1):
    return float(ranked[0] >= relevant)


def best(ranked, k=None):
    return float(max(ranked[:k]))


def mean_ndcg(ranked, k=None):
    n = min(len(ranked), k or len(ranked))
    return sum(ndcg(ranked, i) for i in range(1, n + 1)) / n


def seznam_rank4(ranked, k=None):
    weights = [0.702, 0.134, 0.047, 0.035, 0.020, 0.015, 0.011, 0.0083, 0.006, 0.005]
    weights += [0.0037, 0.003, 0.002, 0.0016, 0.0013, 0.0011, 0.001, 0.001, 0.001, 0.001]
    worth = [0, 0.06, 0.33, 0.60, 1.17]
    if 4 not in ranked:
        weights = [0.40, 0.16, 0.10, 0.06, 0.045, 0.035, 0.030, 0.0165, 0.0155, 0.0145]
        weights += [0.0138, 0.0135, 0.0130, 0.0127, 0.0124, 0.0121, 0.0119, 0.0116, 0.0114, 0.0111]
        worth = [0, 0.10, 0.55, 1.0]
    return min(1.0, sum(w * worth[int(g)] for w, g in zip(weights, ranked[:k], strict=False)))


def stable_order(labels, scores):
    return [labels[i] for i in sorted(range(len(labels)), key=lambda i: (-scores[i], i))]


def orders_of_ties(labels, scores):
    """Every ranking that sorts by score, each equally likely."""
    blocks = [
        [labels[i] for i in range(len(scores)) if scores[i] == s] for s in sorted(set(scores), reverse=True)
    ]
    for parts in itertools.product(*(itertools.permutations(block) for block in blocks)):
        yield [label for part in parts for label in part]


BY_NAME = {
    "dcg": dcg,
    "ndcg": ndcg,
    "p": precision,
    "recall": recall,
    "ap": average_precision,
    "rr": reciprocal_rank,
    "success": success,
    "err": err,
    "nerr": nerr,
    "gap": graded_average_precision,
    "pfound": pfound,
    "rbp": rbp,
    "wta": wta,
    "best": best,
    "meanndcg": mean_ndcg,
    "sr4": seznam_rank4,
}
