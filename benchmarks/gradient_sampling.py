"""Sampling of documents by gradient (GOSS): seconds, and what it costs in NDCG@10.

    python -m benchmarks.gradient_sampling                              # 700k × 136 simulated, 100 trees
    POMONA_DATA=/your/data python -m benchmarks.gradient_sampling --real    # LambdaMART(), five folds

LightGBM samples as much beside, by gradients times hessians, and begins after ten trees.
"""

import argparse
import time

import numpy as np

import pomona as pm
from benchmarks._folds import COLLECTIONS, Judged, repeated, with_interval
from benchmarks.training import lightgbm_run, pomona_run
from pomona._jit import n_threads

SHARES = ((1.0, 0.1), (0.3, 0.2), (0.2, 0.1), (0.1, 0.1), (0.1, 0.05))


def lightgbm(train, top, rest):
    sampled = {"data_sample_strategy": "goss", "top_rate": top, "other_rate": rest} if top < 1 else {}
    return lightgbm_run(train, 100, n_threads(), **sampled)


def simulated(n_queries):
    """One row for each share, ours and LightGBM's."""
    train, test = (pm.simulate(n, docs_per_query=117, n_features=136, seed=n) for n in (n_queries, 1000))
    pm.LambdaMART(n_trees=2, growth="leafwise", noise=0, top_fraction=0.5).fit(pm.simulate(100))
    runs = {
        "Pomona": lambda top, rest: pomona_run(train, 100, n_leaves=31, top_fraction=top, rest_fraction=rest),
        "LightGBM": lambda top, rest: lightgbm(train, top, rest),
    }
    print("| | top, rest | seconds | NDCG@10 | less that of all |\n|---|---|---:|---:|---:|")
    for name, run in runs.items():
        of_all = None
        for top, rest in SHARES if name == "Pomona" else ((1.0, 0.1), (0.2, 0.1)):
            seconds, predict = run(top, rest)
            values = pm.evaluate(test, predict(test), "ndcg@10", per_query=True)["ndcg@10"]
            of_all = values if of_all is None else of_all
            less = "" if top == 1 else with_interval(values - of_all)
            shares = "all" if top == 1 else f"{top:g}, {rest:g}"
            print(f"| {name} | {shares} | {seconds:.1f} | {values.mean():.4f} | {less} |", flush=True)


def real():
    """What the defaults lose by 0.2 and 0.1 on every collection, and on all."""
    differences = []
    for collection in COLLECTIONS:
        judged = {top: Judged() for top in (1.0, 0.2)}
        for train, valid, test in repeated(collection, 1):
            for top, one in judged.items():
                start = time.perf_counter()
                ranker = pm.LambdaMART(top_fraction=top).fit(train, valid=valid)
                one.add(test, ranker.predict(test), time.perf_counter() - start)
        differences.append(judged[0.2].of_queries() - judged[1.0].of_queries())
        times = ", ".join(f"{one.seconds:.1f}" for one in judged.values())
        print(f"{collection}: {with_interval(differences[-1])}, seconds {times}", flush=True)
    print(f"all: {with_interval(np.concatenate(differences))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--queries", type=int, default=6000)
    given = parser.parse_args()
    if given.real:
        real()
    else:
        simulated(given.queries)


if __name__ == "__main__":
    main()
