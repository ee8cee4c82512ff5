"""One tree: binning and growing, Pomona beside LightGBM, on the same documents and gradients.

    python -m benchmarks.trees               # 700,000 × 136 and 10,000 × 46, with 1 and 2 threads
    python -m benchmarks.trees --queries 600 # smaller

Documents are simulated web search. LightGBM gets the same gradients and hessians through a custom objective,
with 255 bins, 31 leaves and its better of `force_row_wise` and `force_col_wise`; both are called in turn, and
the best of several calls counts. Oblivious trees have 6 levels; LightGBM has none, so its leaf-wise tree is
what they are compared with.
"""

import argparse
import time

import lightgbm
import numpy as np

from pomona._jit import threads
from pomona.data.simulate import simulate
from pomona.trees.binning import Bins
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grow_oblivious import ObliviousGrower
from pomona.trees.grower import GrowthRules


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best_in_turn(runs, times):
    """The best time of each of several calls, made in turn so that a busy machine slows all alike."""
    for run in runs:
        run()
    return np.min([[seconds(run) for run in runs] for _ in range(times)], axis=0)


def lightgbm_tree(X, gradient, hessian, n_threads, **layout):
    parameters = {"objective": "none", "num_leaves": 31, "num_threads": n_threads, "verbose": -1, **layout}
    booster = lightgbm.Booster(parameters, lightgbm.Dataset(X, gradient, params=parameters))
    return lambda: booster.update(fobj=lambda scores, data: (gradient, hessian))


def binned(X):
    bins = Bins.of(X)
    return bins, bins.codes(X)


def compare(X, labels, times):
    random = np.random.default_rng(0)
    gradient = (labels.mean() - labels).astype(np.float32)
    hessian = (0.5 + random.random(len(labels))).astype(np.float32)
    bins, codes = binned(X)
    growers = [kind(bins, codes, GrowthRules()) for kind in (LeafwiseGrower, ObliviousGrower)]
    print(f"\n{X.shape[0]:,} × {X.shape[1]}\n")
    print("| threads | what | Pomona, ms | LightGBM, ms | times ours |\n|---:|---|---:|---:|---:|")
    for n_threads in (1, 2):
        with threads(n_threads):
            layouts = [{"force_row_wise": True}, {"force_col_wise": True}]
            peers = [lightgbm_tree(X, gradient, hessian, n_threads, **layout) for layout in layouts]
            ours = [
                lambda grower=grower: grower.grow(gradient, hessian, None, np.random.default_rng(1))
                for grower in growers
            ]
            leafwise, oblivious, *theirs = best_in_turn([*ours, *peers], times) * 1e3
            parameters = {"num_threads": n_threads, "verbose": -1}
            bin_ours, bin_theirs = (
                best_in_turn(
                    [
                        lambda: binned(X),
                        lambda parameters=parameters: lightgbm.Dataset(
                            X, labels, params=parameters
                        ).construct(),
                    ],
                    1,
                )
                * 1e3
            )
        for what, mine, other in (
            ("bins and codes", bin_ours, bin_theirs),
            ("leaf-wise tree, 31 leaves", leafwise, min(theirs)),
            ("oblivious tree, 6 levels", oblivious, min(theirs)),
        ):
            print(f"| {n_threads} | {what} | {mine:.2f} | {other:.2f} | {other / mine:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=6000)
    arguments = parser.parse_args()
    large = simulate(arguments.queries, docs_per_query=117, n_features=136)
    compare(large.X, large.y, times=5)
    small = simulate(250, docs_per_query=40, n_features=46)
    compare(small.X, small.y, times=100)


if __name__ == "__main__":
    main()
