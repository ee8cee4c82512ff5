"""Coordinate Ascent beside RankLib's published algorithm, done plainly on the same data and measure.

    POMONA_DATA=… python -m benchmarks.coordinate_ascent             # MQ2007, fold 1, NDCG@10
    python -m benchmarks.coordinate_ascent --simulated               # without the collection

The twin re-ranks all queries at every step that it tries, as RankLib does, but with our compiled kernels:
what is compared is the algorithm, not the language. The last row is the same done with NumPy's sort and sums:
the time of its first steps, scaled up to all.
"""

import argparse
import time

import numpy as np

import pomona as pm
from pomona._jit import n_threads
from pomona.data.normalize import normalize
from pomona.measures.parse import measure as parse

MEASURE = parse("ndcg@10")
PLAIN_STEPS = 50


def ranklib(columns, height, restarts, seed, *, steps=25, base=0.05, scale=2.0, tolerance=0.001):
    """RankLib's loop, defects included; `height(scores)` is the measure. Returns (weights, steps tried)."""
    random = np.random.default_rng(seed)
    n = len(columns)
    tried, best_of_all, kept = 0, -np.inf, None
    for _ in range(restarts):
        weights = np.full(n, 1.0 / n)
        scores = weights @ columns
        start = best = height(scores)
        failures = 0
        while failures < n - 1:
            for j in random.permutation(n):
                original, found = weights[j], None
                for direction in (1, -1, 0):
                    step = 0.001 * direction
                    if original != 0 and abs(step) > 0.5 * abs(original):
                        step = base * abs(original)
                    total = step if direction else -original
                    for _ in range(steps if direction else 1):
                        value = height(scores + total * columns[j])
                        tried += 1
                        if value > best:
                            best, found = value, total
                        step *= scale
                        total += step
                    if found is not None:
                        break
                if found is None:
                    failures += 1
                    continue
                failures = 0
                weights[j] = original + found
                weights /= np.abs(weights).sum()
                scores = weights @ columns
            if best - start < tolerance:
                break
        if best > best_of_all:
            best_of_all, kept = best, weights.copy()
    return kept, tried


def plain_ndcg(data, k):
    """NDCG@k of scores by NumPy alone."""
    lengths = np.diff(data.query_ptr)
    query = np.repeat(np.arange(data.n_queries), lengths)
    rank = np.arange(data.n_docs) - np.repeat(data.query_ptr[:-1], lengths)
    discount = np.where(rank < k, 1.0 / np.log2(rank + 2), 0.0)
    gain = 2.0**data.y - 1.0

    def dcg(scores):
        order = np.lexsort((-scores, query))
        return np.bincount(query, gain[order] * discount, data.n_queries)

    ideal = dcg(data.y)
    return lambda scores: np.divide(dcg(scores), ideal, out=np.zeros(len(ideal)), where=ideal > 0).mean()


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def mean_of(data, scores):
    return pm.evaluate(data, scores, MEASURE)[str(MEASURE)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--fold", type=int, default=1)
    parser.add_argument("--restarts", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.simulated:
        everything = pm.simulate(1700, docs_per_query=41, n_features=46, seed=0)
        train, valid, test = everything.split([0.6, 0.2, 0.2])
    else:
        train, valid, test = pm.load("mq2007", fold=arguments.fold)
    # The twin's documents stand in a random order: rows that tie must not tell by their labels' order.
    random = np.random.default_rng(0)
    shuffled = np.lexsort(
        (random.random(train.n_docs), np.repeat(np.arange(train.n_queries), np.diff(train.query_ptr)))
    )
    scaled = normalize(train).replace(X=normalize(train).X[shuffled], y=train.y[shuffled])
    varying = np.ptp(scaled.X, axis=0) > 0
    columns = np.ascontiguousarray(scaled.X[:, varying].T.astype(np.float64))

    ranker = pm.CoordinateAscent(n_restarts=arguments.restarts)
    pm.CoordinateAscent(n_restarts=1, max_iterations=2).fit(train.take(range(20)))  # compiles
    rows = []
    for name, held_out in (("Pomona", None), ("Pomona, passes chosen by validation", valid)):
        fitted, seconds = timed(lambda held_out=held_out: ranker.fit(train, valid=held_out))
        rows.append((name, seconds, fitted.coef_))
    (kept, tried), seconds = timed(
        lambda: ranklib(columns, lambda scores: mean_of(scaled, scores), arguments.restarts, 0)
    )
    coef = np.zeros(train.n_features)
    coef[varying] = kept
    rows.append(("RankLib's algorithm, our kernels", seconds, coef))
    height, scores = plain_ndcg(scaled, 10), columns.mean(axis=0)
    _, seconds = timed(
        lambda: [height(scores + 0.01 * columns[j % len(columns)]) for j in range(PLAIN_STEPS)]
    )
    rows.append(("RankLib's algorithm, NumPy", seconds / PLAIN_STEPS * tried, coef))

    shape = f"{train.n_docs:,} documents × {train.n_features}"
    print(f"{shape}, {arguments.restarts} restarts, {n_threads()} threads; the twin tried {tried:,} steps\n")
    print("| program | seconds | times ours | train NDCG@10 | test NDCG@10 |\n|---|---:|---:|---:|---:|")
    for name, seconds, coef in rows:
        values = [mean_of(data, normalize(data).X @ coef) for data in (train, test)]
        print(f"| {name} | {seconds:.1f} | {seconds / rows[0][1]:.1f} | {values[0]:.4f} | {values[1]:.4f} |")


if __name__ == "__main__":
    main()
