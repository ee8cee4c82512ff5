"""The scoreboard: every library on every collection, with its defaults or after a search of the same time.

    POMONA_DATA=/your/data python -m benchmarks.quality [--seeds 2]                    # defaults
    POMONA_DATA=/your/data python -m benchmarks.quality --search [--time 5m] [--jobs 8] [--cores 2]

Defaults: up to 500 trees, stopped early. Five random folds of all queries; a quarter of the training queries
decides when to stop, by NDCG@10.

Search: two fifths of the queries to learn from, one to validate by, two to test, of simulated ones too.
`BestRanker` is given the first two as one; the others' parameters are searched by Optuna's TPE, every trial
stopped early and judged by the validation queries. Each has the same time on the same number of cores. Runs
are kept in `--out`, and not repeated.

Values of test queries are paired with those of the first ranker: mean differences with 95 % intervals over
queries, for each collection, pooled over all queries, and as the plain mean over collections (macro). An
interval that holds 0 is within chance.
"""

import argparse
import itertools
import os
import queue
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import pomona as pm
from benchmarks import _libraries
from benchmarks._folds import COLLECTIONS, MEASURES, Judged, parted, repeated, with_interval
from pomona.data.concatenation import concatenated
from pomona.experiments.best.duration import seconds_of

PEERS = (*COLLECTIONS, "simulated")


def ours(make):
    return lambda train, valid: make().fit(train, valid=valid).predict


DEFAULTS = {
    "LambdaMART()": ours(pm.LambdaMART),
    "LambdaMART, 31 leaves": ours(lambda: pm.LambdaMART(n_leaves=31, noise=0)),
    "XENDCG()": ours(pm.XENDCG),
    "MART()": ours(pm.MART),
    "LightGBM lambdarank": _libraries.lightgbm("lambdarank"),
    "LightGBM rank_xendcg": _libraries.lightgbm("rank_xendcg"),
    "XGBoost rank:ndcg": _libraries.xgboost,
    "CatBoost YetiRank": _libraries.catboost,
    "YDF": _libraries.ydf,
}
OURS = "BestRanker"
SEARCHED = (OURS, *_libraries.SEARCHED)


def by_default(names, n_seeds):
    """What every ranker is worth to the queries of every collection."""
    judged = {name: {} for name in names}
    for collection in COLLECTIONS:
        for train, valid, test in repeated(collection, n_seeds):
            for name in names:
                start = time.perf_counter()
                predict = DEFAULTS[name](train, valid)
                seconds = time.perf_counter() - start
                judged[name].setdefault(collection, Judged()).add(test, predict(test), seconds)
    return judged


def search(name, collection, seed, seconds, path):
    """Search once, and keep what the test queries get."""
    train, valid, test = parted(collection, seed)
    start = time.perf_counter()
    if name == OURS:
        ranker = pm.BestRanker(time=seconds, seed=seed).fit(concatenated([train, valid]))
        n_tried = ranker.trials_.height
    else:
        ranker, n_tried = _libraries.searched(name, seconds, train, valid)
    spent = time.perf_counter() - start
    values = pm.evaluate(test, ranker.predict(test), list(MEASURES), per_query=True)
    np.savez(path, **values, seconds=spent, tried=n_tried)


def by_search(given):
    """The same after a search of every library on every collection, `jobs` at a time, each on its cores."""
    given.out.mkdir(exist_ok=True)
    free = queue.SimpleQueue()
    for job in range(given.jobs):
        free.put([core % os.cpu_count() for core in range(job * given.cores, (job + 1) * given.cores)])

    def run(key):
        cores, path = free.get(), file_of(key)
        command = [sys.executable, "-m", "benchmarks.quality", "--one", *map(str, key), "--time", given.time]
        threads = {name: str(given.cores) for name in ("POMONA_THREADS", "OMP_NUM_THREADS")}
        pin = ["taskset", "-c", ",".join(map(str, cores))] if given.jobs > 1 else []
        if not path.exists():
            subprocess.run([*pin, *command, "--out", given.out], env={**os.environ, **threads}, check=False)
        free.put(cores)
        return key, dict(np.load(path)) if path.exists() else None

    def file_of(key):
        return given.out / f"{'-'.join(map(str, key))}.npz"

    keys = itertools.product(given.rankers or SEARCHED, given.collections, range(given.seeds))
    with ThreadPoolExecutor(given.jobs) as pool:
        found = [one for one in pool.map(run, keys) if one[1] is not None]
    judged = {}
    for (name, collection, _), one in found:
        here = judged.setdefault(name, {}).setdefault(collection, Found())
        here.add(one)
    return judged


class Found(Judged):
    """What one ranker is worth to the test queries of all seeds."""

    def add(self, one):
        self.seconds += float(one["seconds"])
        for name, parts in self._values.items():
            parts.append(one[name])

    def of_queries(self, measure="ndcg@10"):
        return np.concatenate(self._values[measure])


def board(judged, measure):
    names = list(judged)
    values = {
        name: {collection: one.of_queries(measure) for collection, one in judged[name].items()}
        for name in names
    }
    base = values[names[0]]
    print(f"| ranker | {' | '.join(base)} | pooled | pooled difference | macro difference | seconds |")
    print("|---|" + "---:|" * (len(base) + 4))
    for name in names:
        differences = [values[name][collection] - base[collection] for collection in base]
        cells = [f"{one.mean():.4f}" for one in values[name].values()]
        cells.append(f"{np.concatenate(list(values[name].values())).mean():.4f}")
        cells.append("" if name == names[0] else with_interval(np.concatenate(differences)))
        cells.append("" if name == names[0] else macro(differences))
        cells.append(f"{sum(one.seconds for one in judged[name].values()):.0f}")
        print(f"| {name} | {' | '.join(cells)} |")


def macro(differences):
    """The mean over collections of their mean differences, and half a 95 % interval over their queries."""
    errors = [np.var(one, ddof=1) / len(one) for one in differences]
    half = 1.96 * np.sqrt(np.sum(errors)) / len(differences)
    return f"{np.mean([one.mean() for one in differences]):+.4f} ± {half:.4f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    names = {"type": lambda text: text.split(",")}
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rankers", **names)
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--collections", **names, default=PEERS)
    parser.add_argument("--time", default="5m")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=Path("quality-runs"))
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.one:
        name, collection, seed = given.one
        search(name, collection, int(seed), seconds_of(given.time), given.out / f"{'-'.join(given.one)}.npz")
        return
    judged = by_search(given) if given.search else by_default(given.rankers or list(DEFAULTS), given.seeds)
    for measure in MEASURES:
        print(f"\n{measure}\n")
        board(judged, measure)


if __name__ == "__main__":
    main()
