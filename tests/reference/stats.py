"""Statistics as textbooks write them: slow, plain, importing nothing of Pomona."""

import itertools
import math
import random
from statistics import NormalDist

_MASK = 2**64 - 1
_NORMAL = NormalDist()


def splitmix(key, resample, place):
    x = (key + 0x9E3779B97F4A7C15 * ((resample << 32) + place + 1)) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def exact_randomization(d):
    """The share of all sign patterns whose sum is as far from 0."""
    far = abs(math.fsum(d)) - 1e-9
    sums = [
        math.fsum(s * x for s, x in zip(signs, d, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(d))
    ]
    return sum(abs(total) >= far for total in sums) / len(sums)


def randomization(d, n_resamples, key):
    """Signs are the bits of the random words, a set bit meaning plus."""
    far = abs(math.fsum(d)) - 1e-9
    count = 0
    for b in range(n_resamples):
        words = [splitmix(key, b, place) for place in range(-(-len(d) // 64))]
        signs = [1 if words[q // 64] >> (q % 64) & 1 else -1 for q in range(len(d))]
        count += abs(math.fsum(s * x for s, x in zip(signs, d, strict=True))) >= far
    return (1 + count) / (1 + n_resamples)


def resampled_means(values, n_resamples, key):
    """Each random word draws two queries: by its lower and by its upper half."""
    n, means = len(values), []
    for b in range(n_resamples):
        drawn = []
        for draw in range(0, n, 2):
            word = splitmix(key, b, draw)
            drawn += [(word & 0xFFFFFFFF) * n >> 32, (word >> 32) * n >> 32]
        means.append(math.fsum(values[q] for q in drawn[:n]) / n)
    return means


def bca(values, means, level):
    """Efron's interval, with the acceleration by the jackknife."""
    n, observed = len(values), math.fsum(values) / len(values)
    left_out = [(math.fsum(values) - x) / (n - 1) for x in values]
    center = math.fsum(left_out) / n
    cubes, squares = (math.fsum((center - x) ** power for x in left_out) for power in (3, 2))
    acceleration = cubes / (6 * squares**1.5)
    below = sum(m < observed for m in means) + sum(m <= observed for m in means)
    bias = _NORMAL.inv_cdf(below / (2 * len(means)))
    ordered, ends = sorted(means), []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + _NORMAL.inv_cdf(tail)
        place = _NORMAL.cdf(bias + z / (1 - acceleration * z)) * (len(means) - 1)
        low = int(place)
        ends.append(ordered[low] + (place - low) * (ordered[min(low + 1, len(means) - 1)] - ordered[low]))
    return tuple(ends)


def sign_test(d):
    wins, losses = sum(x > 0 for x in d), sum(x < 0 for x in d)
    n = wins + losses
    tail = sum(math.comb(n, i) for i in range(min(wins, losses) + 1)) / 2**n
    return min(1.0, 2 * tail)


def exact_wilcoxon(d):
    """All sign patterns of the ranks 1 … n of the nonzero differences, which must not tie."""
    sizes = sorted(abs(x) for x in d if x != 0)
    rank = {size: i for i, size in enumerate(sizes, 1)}
    observed = sum(rank[abs(x)] for x in d if x > 0)
    middle = sum(rank.values()) / 2
    patterns = list(itertools.product((0, 1), repeat=len(sizes)))
    far = sum(
        abs(sum(r for r, on in zip(rank.values(), pattern, strict=True) if on) - middle)
        >= abs(observed - middle)
        for pattern in patterns
    )
    return far / len(patterns)


def normal_wilcoxon(d):
    """The normal approximation with mid-ranks and tie correction."""
    kept = [x for x in d if x != 0]
    n = len(kept)
    sizes = [abs(x) for x in kept]
    rank = {s: sum(t < s for t in sizes) + (sizes.count(s) + 1) / 2 for s in set(sizes)}
    plus = sum(rank[abs(x)] for x in kept if x > 0)
    ties = sum(sizes.count(s) ** 3 - sizes.count(s) for s in set(sizes))
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    return 2 * _NORMAL.cdf(-abs(plus - n * (n + 1) / 4) / math.sqrt(variance))


def holm(p_values):
    """Step down: the i-th smallest is compared with α / (m − i + 1), and stops at the first failure."""
    m, adjusted, largest = len(p_values), [0.0] * len(p_values), 0.0
    for i, place in enumerate(sorted(range(m), key=lambda j: p_values[j])):
        largest = max(largest, min(1.0, (m - i) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def winning_numbers(table, reading):
    """WN and IWN of each row; None is an absent result."""
    n_rows, n_columns = len(table), len(table[0])
    wins = [[0] * n_columns for _ in range(n_rows)]
    for i, j, k in itertools.product(range(n_rows), range(n_columns), range(n_rows)):
        if table[i][j] is not None and table[k][j] is not None:
            wins[i][j] += table[i][j] > table[k][j]
    ideal = [0] * n_rows
    for i, j in itertools.product(range(n_rows), range(n_columns)):
        others = [k for k in range(n_rows) if k != i and table[k][j] is not None]
        if table[i][j] is not None and others:
            ideal[i] += len(others) if reading == "pairs" else max(row[j] for row in wins)
    return [sum(row) for row in wins], ideal


def nested_values(rng_seed, sizes, n_seeds, spreads):
    """Values drawn from fold + query + seed + rest, with the spreads given in that order."""
    draw = random.Random(rng_seed).gauss
    folds = []
    for size in sizes:
        fold, trainings = draw(0, spreads[0]), [draw(0, spreads[2]) for _ in range(n_seeds)]
        queries = [draw(0, spreads[1]) for _ in range(size)]
        folds.append([[fold + q + s + draw(0, spreads[3]) for s in trainings] for q in queries])
    return folds
