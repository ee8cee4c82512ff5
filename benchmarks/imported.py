"""Models of other trainers scored here and there: 500 trees of 64 leaves on 136 features, one thread.

    python -m benchmarks.imported               # trains the models first, some minutes
    python -m benchmarks.imported --trees 100   # smaller

LightGBM, XGBoost and CatBoost train a model each, which Pomona reads (`pm.from_model`) and scores beside its
owner: batches of 1,000 documents, then single queries of 10 and 100, the median of many calls.
Where YDF is installed, the C++ benchmark of its fastest engine scores a model of its own of the same size.
"""

import argparse
import re
import time
from importlib.util import find_spec

import numpy as np

import pomona as pm
from benchmarks.score import N_FEATURES, best_seconds, in_batches, lightgbm_booster, xgboost_booster
from pomona._jit import threads


def catboost_model(data, n_trees, n_leaves):
    import catboost

    depth = (n_leaves - 1).bit_length()
    settings = {"iterations": n_trees, "depth": depth, "verbose": 0, "allow_writing_files": False}
    return catboost.CatBoost({**settings, "loss_function": "RMSE"}).fit(data.X, data.y)


def ydf_microseconds(data, n_trees, n_leaves, X):
    """Per document, by YDF's own benchmark of its fastest engine."""
    import pandas
    import ydf

    def frame(rows, labels):
        return pandas.DataFrame(rows, columns=[f"x{j}" for j in range(N_FEATURES)]).assign(label=labels)

    learner = ydf.GradientBoostedTreesLearner(
        label="label",
        task=ydf.Task.REGRESSION,
        num_trees=n_trees,
        growing_strategy="BEST_FIRST_GLOBAL",
        max_num_nodes=n_leaves,
        max_depth=-1,
        min_examples=5,
        validation_ratio=0.0,
    )
    model = learner.train(frame(data.X, data.y.astype(float)), verbose=0)
    told = str(model.benchmark(frame(X, np.zeros(len(X))), num_threads=1, benchmark_duration=2))
    return float(re.search(r"Single-thread inference time per example: ([\d.]+) us", told)[1])


def median_microseconds(run, n=200):
    for _ in range(5):
        run()
    times = []
    for _ in range(n):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--leaves", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()

    size = asked.trees, asked.leaves
    train = pm.simulate(100, docs_per_query=100, n_features=N_FEATURES)
    X = pm.simulate(60, docs_per_query=100, n_features=N_FEATURES, seed=1).X[:5000].copy()
    booster, xgboost = lightgbm_booster(train, *size), xgboost_booster(train, *size)
    xgboost.set_param({"nthread": 1})
    catboost = catboost_model(train, *size)
    peers = {
        "LightGBM `predict`": (booster, lambda rows: booster.predict(rows, num_threads=1)),
        "XGBoost `inplace_predict`": (xgboost, xgboost.inplace_predict),
        "CatBoost `predict`": (catboost, lambda rows: catboost.predict(rows, thread_count=1)),
    }
    print("| model, one thread | its own, µs a document | Pomona, µs a document | times |")
    print("|---|---:|---:|---:|")
    rankers = {}
    with threads(1):
        for name, (model, predict) in peers.items():
            ranker = rankers[name] = pm.from_model(model)
            assert np.array_equal(ranker.predict(X).astype(np.float32), predict(X).astype(np.float32))
            runs = {
                "ours": lambda ranker=ranker: in_batches(ranker.model_.score, X),
                "theirs": lambda predict=predict: in_batches(predict, X),
            }
            best = best_seconds(runs, asked.rounds)
            ours, theirs = (best[one] / len(X) * 1e6 for one in ("ours", "theirs"))
            print(f"| {name} | {theirs:.2f} | {ours:.2f} | {theirs / ours:.1f} |", flush=True)
        print("\n| a query of | model | its own, µs | Pomona's forest, µs | `ranker.predict`, µs |")
        print("|---:|---|---:|---:|---:|")
        for n_docs in (10, 100):
            query = X[:n_docs].copy()
            for name, (_, predict) in peers.items():
                ranker = rankers[name]
                calls = (
                    lambda predict=predict, query=query: predict(query),
                    lambda ranker=ranker, query=query: ranker.model_.score(query),
                    lambda ranker=ranker, query=query: ranker.predict(query),
                )
                theirs, forest, whole = (median_microseconds(call) for call in calls)
                print(f"| {n_docs} | {name} | {theirs:.0f} | {forest:.0f} | {whole:.0f} |", flush=True)
    if find_spec("ydf"):
        print(f"\nYDF's fastest engine: {ydf_microseconds(train, *size, X):.2f} µs a document")


if __name__ == "__main__":
    main()
