"""Every ranker on real collections, beside LETOR's published baselines: quality and seconds.

    POMONA_DATA=… python -m benchmarks.rankers                         # MQ2008, all rankers
    POMONA_DATA=… python -m benchmarks.rankers mq2007 --only ranksvm,rankboost --baselines mq2008.csv

Defaults, all folds, trained towards (or selected by) the convention that judges them, `letor4`; means of the
test folds. Methods with a choice of measure are trained for AP and for NDCG@10.
"""

import argparse
import csv
import inspect
import time
from pathlib import Path

import numpy as np

import pomona as pm
from pomona._registry import entries
from pomona.data.catalog import load_folds

MEASURES = ("letor4:ap", "letor4:mean_ndcg", "letor4:ndcg@10")
TRAINED_FOR = ("letor4:ap", "letor4:ndcg@10")


def judged(cls, folds, measure):
    """Means over folds of the measures, and mean seconds of a fit."""
    values, seconds = [], []
    for train, valid, test in folds:
        ranker = cls(measure=measure)
        start = time.perf_counter()
        ranker.fit(train, valid=valid)
        seconds.append(time.perf_counter() - start)
        values.append(list(pm.evaluate(test, ranker.predict(test), MEASURES).values()))
    return np.mean(values, axis=0), np.mean(seconds)


def published(path):
    """MAP and mean NDCG of LETOR's own table: method → {measure: value}."""
    found = {}
    lines = [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    for row in csv.DictReader(lines):
        if row["split"] == "test" and row["fold"] == "avg":
            found.setdefault(row["algorithm"], {})[row["metric"]] = row["value"]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("collection", nargs="?", default="mq2008")
    parser.add_argument("--only", default="", help="names of rankers with commas between")
    parser.add_argument("--baselines", help="a table of published results to print below")
    arguments = parser.parse_args()
    folds = list(load_folds(arguments.collection))
    wanted = arguments.only.split(",") if arguments.only else [*entries("rankers")]
    print(f"{arguments.collection}, {len(folds)} folds\n")
    print("| ranker | for | MAP | mean NDCG | NDCG@10 | s a fold |\n|---|---|---:|---:|---:|---:|")
    for name in wanted:
        cls = entries("rankers")[name].load()
        if cls.is_bound or "measure" not in inspect.signature(cls).parameters:
            continue
        for measure in TRAINED_FOR:
            try:
                (ap, mean_ndcg, ndcg), seconds = judged(cls, folds, measure)
            except pm.PomonaError as error:
                print(f"| {cls.__name__} | {measure} | {error} | | | |", flush=True)
                continue
            numbers = f"{ap:.4f} | {mean_ndcg:.4f} | {ndcg:.4f} | {seconds:.2f}"
            print(f"| {cls.__name__} | {measure.partition(':')[2]} | {numbers} |", flush=True)
    if arguments.baselines:
        print()
        for method, measures in published(arguments.baselines).items():
            told = ", ".join(f"{name} {value}" for name, value in measures.items() if "@" not in name)
            print(f"{method} (published): {told}")


if __name__ == "__main__":
    main()
