"""The loss of RankCosine (Qin et al. 2008), query by query."""

import itertools
import math


def loss(target, scores, query_ptr, center):
    """Mean of ½ (1 − cosine) over queries; a score of length 0 is at right angles."""
    losses = []
    for begin, end in itertools.pairwise(query_ptr):
        g, h = list(target[begin:end]), list(scores[begin:end])
        if center:
            g = [value - sum(g) / len(g) for value in g]
            h = [value - sum(h) / len(h) for value in h]
        length = math.sqrt(sum(v * v for v in g) * sum(v * v for v in h))
        product = sum(a * b for a, b in zip(g, h, strict=True))
        losses.append(0.5 * (1 - (product / length if length > 1e-12 else 0.0)))
    return sum(losses) / len(losses)
