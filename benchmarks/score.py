"""Scoring with 500 trees of 64 leaves on 136 features, one thread: Pomona, LightGBM, XGBoost.

    python -m benchmarks.score                 # trains the peers' models first, about a minute
    python -m benchmarks.score --queries 60    # on fewer documents: some trees have fewer leaves

Pomona scores LightGBM's own trees, so the scores must agree; XGBoost scores its own of the same size. All
take turns in one process, batches of 1,000 documents (float32 rows), and the best round of each counts, in
CPU time, so that what else runs on the machine matters little.
"""

import argparse
import itertools
import random
import time

import numpy as np
from tests.reference import forest as plain
from tests.reference.lightgbm_model import trees_of

from pomona._jit import threads
from pomona.data.simulate import simulate
from pomona.trees import score as bits
from pomona.trees.forest import Forest

N_FEATURES, BATCH = 136, 1000


def lightgbm_booster(data, n_trees, n_leaves):
    import lightgbm

    settings = {"objective": "lambdarank", "num_leaves": n_leaves, "verbose": -1, "metric": "none"}
    train = lightgbm.Dataset(data.X, data.y, group=np.diff(data.query_ptr))
    return lightgbm.train({**settings, "min_data_in_leaf": 5}, train, n_trees)


def xgboost_booster(data, n_trees, n_leaves):
    import xgboost

    settings = {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": n_leaves, "max_depth": 0}
    train = xgboost.QuantileDMatrix(data.X, data.y)
    return xgboost.train({**settings, "min_child_weight": 1}, train, n_trees)


def oblivious_forest(n_trees, n_levels, X):
    chance = np.random.default_rng(0)
    thresholds = chance.choice(X.ravel(), 20_000)
    trees = [plain.oblivious_tree(chance, n_levels, N_FEATURES, thresholds) for _ in range(n_trees)]
    return Forest(**plain.plant(chance, trees, chance.standard_normal(1000)), n_features=N_FEATURES)


def in_batches(predict, X):
    return np.concatenate([predict(X[i : i + BATCH]) for i in range(0, len(X), BATCH)])


def best_seconds(runs, rounds, clock=time.perf_counter):
    """The best round of each run, the runs taking turns."""
    best = dict.fromkeys(runs, np.inf)
    for _ in range(rounds):
        for name, run in runs.items():
            start = clock()
            run()
            best[name] = min(best[name], clock() - start)
    return best


def percentiles(calls, requests, n_calls):
    """(median, 99th percentile) of each call in microseconds; they take turns, request after request.

    In any order: whoever comes after a peer finds the caches full of its trees.
    """
    seconds, order, chance = {name: [] for name in calls}, list(calls.items()), random.Random(0)
    for turn, request in zip(range(n_calls + 20), itertools.cycle(requests), strict=False):
        chance.shuffle(order)
        for name, call in order:
            start = time.perf_counter()
            call(request)
            if turn >= 20:
                seconds[name].append(time.perf_counter() - start)
    return {name: np.percentile(taken, [50, 99]) * 1e6 for name, taken in seconds.items()}


def print_parts(forest, X, rounds):
    """What coding documents, walking the trees and all the rest take, in one batch and in ten documents."""
    coded = forest._coded
    print("| documents | coding, µs | trees, µs | all, µs |\n|---:|---:|---:|---:|")
    for rows in (X[:10], X[:100], X[:BATCH]):
        rows = forest._documents(rows)
        codes, out = bits.encoded(coded, rows), np.zeros(len(rows))
        parts = {
            "coding": lambda rows=rows: bits.encoded(coded, rows),
            "trees": lambda codes=codes, out=out: bits.add_trees(coded, codes, 0, forest.n_trees, out),
            "all": lambda rows=rows: forest.score(rows),
        }
        taken = best_seconds(parts, 20 * rounds)
        print(f"| {len(rows):,} | {' | '.join(f'{seconds * 1e6:.0f}' for seconds in taken.values())} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--leaves", type=int, default=64)
    parser.add_argument("--docs", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=200, help="of 100 documents, to train on")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()

    train = simulate(asked.queries, docs_per_query=100, n_features=N_FEATURES)
    X = simulate(asked.docs // 60, docs_per_query=100, n_features=N_FEATURES, seed=1).X[: asked.docs].copy()
    booster = lightgbm_booster(train, asked.trees, asked.leaves)
    start = time.perf_counter()
    forest = Forest(**trees_of(booster.model_to_string()), n_features=N_FEATURES)
    made = time.perf_counter()
    forest.score(X[:1])
    ready = time.perf_counter()
    theirs, ours = booster.predict(X), forest.score(X)
    print(f"{forest}, {len(forest.feature):,} nodes, {len(X):,} documents")
    print(f"converted in {made - start:.2f} s, coded (and compiled, if new) in {ready - made:.3f} s")
    print(f"largest difference from LightGBM's scores: {np.abs(theirs - ours).max():.1e}\n")

    xgboost = xgboost_booster(train, asked.trees, asked.leaves)
    xgboost.set_param({"nthread": 1})
    oblivious = oblivious_forest(asked.trees, (asked.leaves - 1).bit_length(), X)
    runs = {
        "Pomona": lambda: in_batches(forest.score, X),
        "Pomona, oblivious trees": lambda: in_batches(oblivious.score, X),
        "Pomona, a score after every tree": lambda: list(forest.staged_scores(X)),
        "LightGBM": lambda: in_batches(lambda part: booster.predict(part, num_threads=1), X),
        "XGBoost, inplace_predict": lambda: in_batches(xgboost.inplace_predict, X),
    }
    with threads(1):
        seconds = best_seconds(runs, asked.rounds, time.process_time)
    print("| one thread | µs a document | times Pomona's |\n|---|---:|---:|")
    for name, best in seconds.items():
        print(f"| {name} | {best / len(X) * 1e6:.2f} | {best / seconds['Pomona']:.1f} |")
    print()
    with threads(1):
        print_parts(forest, X, asked.rounds)
    print()
    print("| documents | trees | threads | µs a document |\n|---:|---:|---:|---:|")
    whole = [(len(X) * times // 4, asked.trees, 1) for times in (1, 2, 4)]
    parts = [(len(X), asked.trees * times // 4, 1) for times in (1, 2)]
    for n_docs, n_trees, n_threads in [*whole, *parts, (len(X), asked.trees, 2)]:
        part, head = X[:n_docs], forest.head(n_trees)
        with threads(n_threads):
            head.score(part)
            best = best_seconds({"": lambda part=part, head=head: head.score(part)}, asked.rounds)[""]
        print(f"| {n_docs:,} | {n_trees} | {n_threads} | {best / n_docs * 1e6:.2f} |")


if __name__ == "__main__":
    main()
