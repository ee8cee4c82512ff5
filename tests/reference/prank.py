"""PRank and its average, as the paper tells it (Crammer & Singer 2001)."""


def prank(stream, n_ranks, n_features):
    """Learn from (x, rank) pairs, ranks from 1; the (weights, thresholds) after each of them."""
    weights, thresholds = [0.0] * n_features, [0.0] * (n_ranks - 1)
    states = []
    for x, rank in stream:
        score = sum(w * v for w, v in zip(weights, x, strict=True))
        above = [r for r in range(1, n_ranks) if score - thresholds[r - 1] < 0]
        predicted = min([*above, n_ranks])
        if predicted != rank:
            moves = []
            for r in range(1, n_ranks):
                side = -1 if rank <= r else 1
                moves.append(side if (score - thresholds[r - 1]) * side <= 0 else 0)
            weights = [w + sum(moves) * v for w, v in zip(weights, x, strict=True)]
            thresholds = [b - move for b, move in zip(thresholds, moves, strict=True)]
        states.append((weights, thresholds))
    return states


def mean(states):
    """The average of all (weights, thresholds)."""
    return tuple(
        [sum(column) / len(states) for column in zip(*parts, strict=True)]
        for parts in zip(*states, strict=True)
    )
