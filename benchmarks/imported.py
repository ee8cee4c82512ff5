"""Models of other trainers scored here and there: 500 trees of 64 leaves on 136 features, one thread.

    python -m benchmarks.imported                # trains the models first, some minutes
    python -m benchmarks.imported --queries 30   # on fewer documents: the trees are as large

LightGBM, XGBoost and CatBoost train a model each, which Pomona reads (`pm.from_model`) and scores beside its
owner: batches of 1,000 documents in CPU time, the best of some rounds; then single queries of 1, 10 and 100,
another one at every call, the median of many calls. Where YDF is installed, the C++ benchmark of its fastest
engine scores a model of its own, beside Pomona's scoring of the same trees. On a machine that is busy,
`OMP_NUM_THREADS=1` trains sooner.
"""

import argparse
import re
import time
from importlib.util import find_spec

import numpy as np

import pomona as pm
from benchmarks.score import BATCH, N_FEATURES, lightgbm_booster, percentiles, xgboost_booster
from pomona._jit import threads
from pomona.trees.readers.reader import Nodes


def catboost_model(data, n_trees, n_leaves):
    import catboost

    depth = (n_leaves - 1).bit_length()
    settings = {"iterations": n_trees, "depth": depth, "verbose": 0, "allow_writing_files": False}
    return catboost.CatBoost({**settings, "loss_function": "RMSE"}).fit(data.X, data.y)


def ydf_benchmark(data, n_trees, n_leaves, X):
    """What tells the µs a document of YDF's fastest engine, by its own benchmark; and its forest."""
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
    rows = frame(X, np.zeros(len(X)))
    forest = _forest_of_ydf(model)
    np.testing.assert_allclose(forest.score(X), model.predict(rows), rtol=1e-4, atol=1e-4)

    def microseconds():
        """It tells the time that went by: what of it the process had the processor for is taken."""
        cpu, wall = time.process_time(), time.perf_counter()
        told = model.benchmark(
            rows, num_threads=1, batch_size=BATCH, warmup_duration=0.05, benchmark_duration=0.2
        )
        share = (time.process_time() - cpu) / (time.perf_counter() - wall)
        found = re.search(r"Single-thread inference time per example: ([\d.]+) us", str(told))
        return float(found[1]) * min(share, 1.0)

    return microseconds, forest


def _forest_of_ydf(model):
    """The same trees: x >= threshold goes to the positive child."""
    names = [column.name for column in model.data_spec().columns]
    nodes = Nodes()

    def told(node):
        if node.is_leaf:
            return float(node.value.value)
        asked = node.condition
        limit = float(np.nextafter(np.float32(asked.threshold), np.float32(-np.inf)))
        return int(names[asked.attribute][1:]), limit, not asked.missing, 0.0, node.neg_child, node.pos_child

    for number in range(model.num_trees()):
        nodes.add_tree(model.get_tree(number).root, told)
    return nodes.forest(N_FEATURES, base=float(model.initial_predictions()[0]))


def batch_microseconds(calls, X, rounds):
    """Microseconds of CPU time a document of each call, over batches that differ: the best round of each."""
    batches = [X[i : i + BATCH].copy() for i in range(0, len(X), BATCH)]
    best = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            for batch in batches:
                call(batch)
            best[name] = min(best[name], time.process_time() - start)
    return {name: seconds / len(X) * 1e6 for name, seconds in best.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--leaves", type=int, default=64)
    parser.add_argument("--queries", type=int, default=100, help="of 100 documents, to train on")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()

    size = asked.trees, asked.leaves
    train = pm.simulate(asked.queries, docs_per_query=100, n_features=N_FEATURES)
    X = pm.simulate(60, docs_per_query=100, n_features=N_FEATURES, seed=1).X[:5000].copy()
    booster, xgboost = lightgbm_booster(train, *size), xgboost_booster(train, *size)
    xgboost.set_param({"nthread": 1})
    catboost = catboost_model(train, *size)
    peers = {
        "LightGBM `predict`": (booster, lambda rows: booster.predict(rows, num_threads=1)),
        "XGBoost `inplace_predict`": (xgboost, xgboost.inplace_predict),
        "CatBoost `predict`": (catboost, lambda rows: catboost.predict(rows, thread_count=1)),
    }
    rankers = {name: pm.from_model(model) for name, (model, _) in peers.items()}
    for name, ranker in rankers.items():
        print(f"{name}: {np.diff(ranker.model_.leaf_ptr).mean():.0f} leaves a tree")
    print("\n| model, one thread | its own, µs a document | Pomona, µs a document | times |")
    print("|---|---:|---:|---:|")
    with threads(1):
        for name, (_, predict) in peers.items():
            ranker = rankers[name]
            assert np.array_equal(ranker.predict(X).astype(np.float32), predict(X).astype(np.float32))
            found = batch_microseconds({"theirs": predict, "ours": ranker.model_.score}, X, asked.rounds)
            theirs, ours = found["theirs"], found["ours"]
            print(f"| {name} | {theirs:.2f} | {ours:.2f} | {theirs / ours:.1f} |", flush=True)
        if find_spec("ydf"):
            ydf, forest = ydf_benchmark(train, *size, X)
            rounds = [
                (ydf(), batch_microseconds({"ours": forest.score}, X, 1)["ours"])
                for _ in range(4 * asked.rounds)
            ]
            theirs, ours = np.median(rounds, axis=0)
            print(f"(YDF: {np.diff(forest.leaf_ptr).mean():.0f} leaves a tree)")
            print(f"| YDF, its C++ benchmark | {theirs:.2f} | {ours:.2f} | {theirs / ours:.1f} |", flush=True)
        print("\n| a query of | model | its own, µs | Pomona's forest, µs | `ranker.predict`, µs |")
        print("|---:|---|---:|---:|---:|")
        for n_docs in (1, 10, 100):
            queries = [X[i : i + n_docs].copy() for i in range(0, len(X) - n_docs, max(n_docs, 25))]
            for name, (_, predict) in peers.items():
                ranker = rankers[name]
                calls = {"theirs": predict, "forest": ranker.model_.score, "whole": ranker.predict}
                cells = " | ".join(f"{taken:.0f}" for taken, _ in percentiles(calls, queries, 300).values())
                print(f"| {n_docs} | {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
