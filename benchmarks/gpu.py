"""Forests on a GPU beside the CPU of the same machine: seconds, and whether the bits are the same.

    python -m benchmarks.gpu                  # 719k × 136 simulated, 100 and 1,000 trees of 31 leaves
    python -m benchmarks.gpu --queries 1000   # smaller

Seconds are of whole fits, binning and sending the features included, after a small fit that compiles (or
loads) the kernels. Scores are of 500 trees of 64 leaves, of documents in the GPU's memory.
"""

import argparse
import time

import numpy as np

import pomona as pm
from pomona._cuda import cuda, problem
from pomona._jit import n_threads
from pomona.trees.cuda.score import CudaScorer

_ASKED = (
    ("LambdaMART", {"n_leaves": 31, "noise": 0}),
    ("LambdaMART", {"growth": "oblivious", "max_depth": 6, "noise": 0}),
    ("MART", {"n_leaves": 31}),
)


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def fit(train, trees, device, name="LambdaMART", **more):
    ranker = getattr(pm, name)(n_trees=trees, early_stopping=None, device=device, **more)
    return timed(lambda: ranker.fit(train).model_)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=6_000)
    parser.add_argument("--trees", default="100,1000")
    arguments = parser.parse_args()
    if reason := problem():
        print(f"there is no GPU here: {reason}")
        return
    train = pm.simulate(arguments.queries, docs_per_query=120, n_features=136, seed=1)
    print(f"{train.n_docs:,} × {train.n_features}, {n_threads()} threads, {cuda.get_current_device().name}")
    print("| ranker | trees | GPU s | CPU s | the same bits |\n|---|---|---|---|---|")
    few = train.take(np.arange(200))
    for trees in map(int, arguments.trees.split(",")):
        for name, more in _ASKED:
            for device in ("cuda", "cpu"):
                fit(few, 2, device, name, **more)
            on_gpu, forest = fit(train, trees, "cuda", name, **more)
            if trees > 100:
                print(f"| {name} {more or ''} | {trees:,} | {on_gpu:.2f} | | |", flush=True)
                continue
            on_cpu, expected = fit(train, trees, "cpu", name, **more)
            print(
                f"| {name} {more or ''} | {trees:,} | {on_gpu:.2f} | {on_cpu:.2f} | {forest == expected} |",
                flush=True,
            )
    _, forest = fit(train, 500, "cuda", n_leaves=64, noise=0)
    scorer, X = CudaScorer(forest), cuda.to_device(train.X)
    same = scorer.score(X).copy_to_host().tobytes() == forest.score(train.X).tobytes()
    seconds = [timed(lambda: (scorer.score(X), cuda.synchronize()))[0] for _ in range(5)]
    rate = train.n_docs / min(seconds) / 1e6
    print(f"scores of 500 trees of 64 leaves: {rate:.0f} M documents/s; the same bits: {same}")


if __name__ == "__main__":
    main()
