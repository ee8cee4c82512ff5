"""Losses of ranked lists as their papers have them: every pair, every permutation, every rank in turn."""

import itertools
import math


def pairwise_cross_entropy(labels, scores, sigma=1.0):
    """Burges et al. 2005: Σ −log P over pairs of different labels, P = 1 / (1 + exp(−σ (s_i − s_j)))."""
    return sum(
        -math.log(1 / (1 + math.exp(-sigma * (s - t))))
        for y, s in zip(labels, scores, strict=True)
        for z, t in zip(labels, scores, strict=True)
        if y > z
    )


def chance_of_prefix(prefix, scores):
    """The chance that these documents come first, in this order (Plackett 1975, Luce 1959)."""
    left, chance = list(range(len(scores))), 1.0
    for i in prefix:
        chance *= math.exp(scores[i]) / sum(math.exp(scores[j]) for j in left)
        left.remove(i)
    return chance


def top_k_cross_entropy(labels, scores, k):
    """Cao et al. 2007, over all n! / (n − k)! prefixes."""
    prefixes = itertools.permutations(range(len(labels)), min(k, len(labels)))
    return -sum(chance_of_prefix(p, labels) * math.log(chance_of_prefix(p, scores)) for p in prefixes)


def order_likelihood(order, scores, k=None):
    """Xia et al. 2008: −log of the chance of an order, or of its first k places."""
    return -math.log(chance_of_prefix(order[:k], scores))


def stands_above(s, t, sigma):
    """Φ((s − t) / (√2 σ))."""
    return 0.5 * (1 + math.erf((s - t) / (2 * sigma)))


def rank_distribution(j, scores, sigma):
    """Taylor et al. 2008: chances of ranks 0, 1, … of document j."""
    chances = [1.0]
    for i in range(len(scores)):
        if i != j:
            above = stands_above(scores[i], scores[j], sigma)
            chances = [
                (chances[r - 1] * above if r > 0 else 0.0)
                + (chances[r] * (1 - above) if r < len(chances) else 0.0)
                for r in range(len(chances) + 1)
            ]
    return chances


def soft_sum(values, weights, scores, sigma):
    """Σ_j v_j Σ_r w_r p_j(r): SoftNDCG with gains over the ideal DCG, SoftPC with values of 1/k."""
    return sum(
        value * sum(w * p for w, p in zip(weights, rank_distribution(j, scores, sigma), strict=False))
        for j, value in enumerate(values)
    )


def soft_average_precision(relevant, scores, sigma):
    """Yilmaz & Robertson 2009: the ratio of expectations."""
    total = 0.0
    for j, rel in enumerate(relevant):
        others = [i for i in range(len(scores)) if i != j]
        above = {i: stands_above(scores[i], scores[j], sigma) for i in others}
        found = 1 + sum(above[i] for i in others if relevant[i])
        total += rel * found / (1 + sum(above.values()))
    return total / sum(relevant)


def slopes(loss, scores, step=1e-5):
    """Central differences."""
    found = []
    for i in range(len(scores)):
        up, down = list(scores), list(scores)
        up[i] += step
        down[i] -= step
        found.append((loss(up) - loss(down)) / (2 * step))
    return found


def bends(loss, scores, step=1e-3):
    """Second differences."""
    found = []
    for i in range(len(scores)):
        up, down = list(scores), list(scores)
        up[i] += step
        down[i] -= step
        found.append((loss(up) - 2 * loss(scores) + loss(down)) / step**2)
    return found
