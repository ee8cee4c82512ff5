"""The scoreboard: every library on every collection, with its defaults or after a search of the same time.

    POMONA_DATA=/your/data python -m benchmarks.quality [--seeds 2] [--jobs 8] [--cores 2]    # defaults
    POMONA_DATA=/your/data python -m benchmarks.quality --search [--time 5m] [--jobs 8] [--cores 2]

Defaults: up to 500 trees, stopped early. Five random folds of all queries; a quarter of the training queries
decides when to stop, by NDCG@10.

Search: two fifths of the queries to learn from, one to validate by, two to test, of simulated ones too.
`BestRanker` is given the first two as one; the others' parameters are searched by Optuna's TPE, every trial
stopped early and judged by the validation queries. Each has the same time on the same number of cores, or
the same share of all where jobs want more than there are.

Every run is a process of its own; runs are kept in `--out`, and not repeated, so that a board can be put
together bit by bit; what `BestRanker` tried stands beside them.

Values of test queries, the mean of all times that a query was tested, are paired with those of the first
ranker: mean differences with 95 % intervals over queries, for each collection, pooled over all queries, and
as the plain mean over collections (macro). An interval that holds 0 is within chance; p is that of the paired
t test of the pooled difference, after Holm's correction for all rankers.
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
from pomona.stats.corrections import holm
from pomona.stats.paired import t_test

PEERS = (*COLLECTIONS, "simulated")


def ours(make):
    return lambda train, valid: make().fit(train, valid=valid).predict


DEFAULTS = {
    "LambdaMART()": ours(pm.LambdaMART),
    "LambdaMART of 31 leaves": ours(lambda: pm.LambdaMART(n_leaves=31, noise=0)),
    "XENDCG()": ours(pm.XENDCG),
    "MART()": ours(pm.MART),
    "LightGBM lambdarank": _libraries.lightgbm("lambdarank"),
    "LightGBM rank_xendcg": _libraries.lightgbm("rank_xendcg"),
    "XGBoost rank:ndcg": _libraries.xgboost,
    "CatBoost YetiRank": _libraries.catboost,
    "YDF LambdaMART": _libraries.ydf,
}
OURS = "BestRanker"
SEARCHED = (OURS, *_libraries.SEARCHED)


def with_defaults(name, collection, seed):
    """What a ranker is worth to all queries, each tested by one of five random folds."""
    judged = Judged()
    for train, valid, test in repeated(collection, [seed]):
        start = time.perf_counter()
        predict = DEFAULTS[name](train, valid)
        seconds = time.perf_counter() - start
        judged.add(test, predict(test), seconds)
    return judged.kept()


def after_search(name, collection, seed, seconds, table):
    """What the best of a search is worth to the test queries, and to the queries that it was found by."""
    train, valid, test = parted(collection, seed)
    start = time.perf_counter()
    if name == OURS:
        ranker = pm.BestRanker(time=seconds, seed=seed).fit(concatenated([train, valid]))
        n_tried, expected = ranker.trials_.height, ranker.estimate_.mean
        ranker.trials_.write_csv(table)
    else:
        ranker, n_tried = _libraries.searched(name, seconds, train, valid)
        expected = ranker.score(valid)
    spent = time.perf_counter() - start
    judged = Judged()
    judged.add(test, ranker.predict(test), spent)
    return {**judged.kept(), "tried": n_tried, "expected": expected}


def runs(given):
    """Every ranker on every collection with every seed, `jobs` at a time, each on its cores."""
    given.out.mkdir(exist_ok=True)
    names = given.rankers or list(SEARCHED if given.search else DEFAULTS)
    collections = given.collections or (PEERS if given.search else COLLECTIONS)
    may_pin = 1 < given.jobs <= os.cpu_count() // given.cores
    free = queue.SimpleQueue()
    for job in range(given.jobs):
        free.put(range(job * given.cores, (job + 1) * given.cores))

    def run(key):
        cores, path = free.get(), file_of(given.out, key)
        command = [sys.executable, "-m", "benchmarks.quality", "--one", *map(str, key), "--time", given.time]
        threads = {name: str(given.cores) for name in ("POMONA_THREADS", "OMP_NUM_THREADS")}
        pin = ["taskset", "-c", ",".join(map(str, cores))] if may_pin else []
        search = ["--search"] if given.search else []
        if not path.exists():
            subprocess.run(
                [*pin, *command, *search, "--out", given.out], env={**os.environ, **threads}, check=False
            )
        free.put(cores)
        return key, dict(np.load(path)) if path.exists() else None

    # By collection: what runs at the same time is of all rankers, so that none has better conditions.
    keys = [
        (name, collection, seed)
        for collection, seed, name in itertools.product(collections, range(given.seeds), names)
    ]
    with ThreadPoolExecutor(given.jobs) as pool:
        found = {key: one for key, one in pool.map(run, keys) if one is not None}
    judged = {name: {} for name in names if any(key[0] == name for key in found)}
    for (name, collection, _), one in found.items():
        judged[name].setdefault(collection, Judged()).take(one, one["qids"], one["seconds"])
    return judged


def file_of(folder, key):
    return folder / f"{'-'.join(map(str, key))}.npz"


def board(judged, measure):
    names = list(judged)
    values = {
        name: {collection: one.of_queries(measure) for collection, one in judged[name].items()}
        for name in names
    }
    shared = [one for one in values[names[0]] if all(one in of_ranker for of_ranker in values.values())]
    base = {one: values[names[0]][one] for one in shared}
    differences = {name: [values[name][one] - base[one] for one in base] for name in names[1:]}
    pooled = {name: np.concatenate(parts) for name, parts in differences.items()}
    p_values = dict(zip(pooled, holm([t_test(one).item() for one in pooled.values()]), strict=True))
    print(f"| ranker | {' | '.join(base)} | pooled | pooled difference | p | macro difference | seconds |")
    print("|---|" + "---:|" * (len(base) + 5))
    for name in names:
        cells = [f"{values[name][one].mean():.4f}" for one in base]
        cells.append(f"{np.concatenate([values[name][one] for one in base]).mean():.4f}")
        if name in pooled:
            cells += [with_interval(pooled[name]), f"{p_values[name]:.2g}", macro(differences[name])]
        else:
            cells += ["", "", ""]
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
    parser.add_argument("--collections", **names)
    parser.add_argument("--time", default="5m")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=Path("quality-runs"))
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.one:
        key, path = (*given.one[:2], int(given.one[2])), file_of(given.out, given.one)
        if given.search:
            found = after_search(*key, seconds_of(given.time), path.with_suffix(".csv"))
        else:
            found = with_defaults(*key)
        np.savez(path, **found)
        return
    judged = runs(given)
    for measure in MEASURES:
        print(f"\n{measure}\n")
        board(judged, measure)


if __name__ == "__main__":
    main()
