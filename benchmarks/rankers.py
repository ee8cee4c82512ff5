"""Every ranker on a real collection, beside LETOR's published baselines: quality and seconds.

    POMONA_DATA=… python -m benchmarks.rankers                                   # MQ2008, all rankers
    POMONA_DATA=… python -m benchmarks.rankers mq2008 --rooms linear,boosting --baselines mq2008.csv
    POMONA_DATA=… python -m benchmarks.rankers ohsumed --only ranksvm,rankboost --convention letor3

Defaults, all folds; means of the test folds, and the median seconds of a fit (the first may compile). Each
ranker is trained towards, or selected on the validation fold by, each measure of `--towards`.
"""

import argparse
import csv
import inspect
import time
import warnings
from pathlib import Path

import numpy as np

import pomona as pm
from pomona._registry import entries, find
from pomona.data.catalog import load_folds

MEASURES = ("ap", "mean_ndcg", "ndcg@10")


def judged(cls, folds, towards, measures):
    """Means over folds of the measures, and the median seconds of a fit."""
    values, seconds = [], []
    for train, valid, test in folds:
        ranker = cls(measure=towards)
        start = time.perf_counter()
        ranker.fit(train, valid=valid)
        seconds.append(time.perf_counter() - start)
        values.append(list(pm.evaluate(test, ranker.predict(test), measures).values()))
    return np.mean(values, axis=0), np.median(seconds)


def published(path):
    """The means over the test folds of a table of LETOR's: method → {measure: value}."""
    found = {}
    lines = [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    for row in csv.DictReader(lines):
        if row["split"] == "test" and row["fold"] == "avg":
            found.setdefault(row["algorithm"], {})[row["metric"]] = row["value"]
    return found


def wanted(arguments):
    """The classes of the rankers asked for, those that read labels left out."""
    if arguments.only:
        return [find("rankers", name, "ranker").load() for name in arguments.only.split(",")]
    rooms = arguments.rooms.split(",")
    chosen = [e for e in entries("rankers").values() if not rooms[0] or e.module.split(".")[2] in rooms]
    classes = [entry.load() for entry in chosen]
    return [cls for cls in classes if not cls.is_bound and "measure" in inspect.signature(cls).parameters]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("collection", nargs="?", default="mq2008")
    parser.add_argument("--only", default="", help="names of rankers with commas between")
    parser.add_argument("--rooms", default="", help="folders of rankers: linear,boosting,…")
    parser.add_argument("--towards", default="ap,ndcg@10", help="measures to train for")
    parser.add_argument("--convention", default="letor4")
    parser.add_argument("--baselines", help="a table of published results to print below")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of convergence: what counts here is what comes out
    folds = list(load_folds(arguments.collection))
    measures = [f"{arguments.convention}:{name}" for name in MEASURES]
    print(f"{arguments.collection}, {len(folds)} folds, judged under {arguments.convention}\n")
    print("| ranker | towards | MAP | mean NDCG | NDCG@10 | s a fold |\n|---|---|---:|---:|---:|---:|")
    for cls in wanted(arguments):
        for towards in arguments.towards.split(","):
            full = towards if ":" in towards else f"{arguments.convention}:{towards}"
            try:
                means, seconds = judged(cls, folds, full, measures)
            except pm.PomonaError as error:
                print(f"| {cls.__name__} | {towards} | {error} | | | |", flush=True)
                continue
            numbers = " | ".join(f"{value:.4f}" for value in means)
            print(f"| {cls.__name__} | {towards} | {numbers} | {seconds:.2f} |", flush=True)
    if arguments.baselines:
        for method, values in published(arguments.baselines).items():
            numbers = " | ".join(values.get(name, "") for name in ("MAP", "MeanNDCG", "NDCG@10"))
            print(f"| *{method}, LETOR* | | {numbers} | |")


if __name__ == "__main__":
    main()
