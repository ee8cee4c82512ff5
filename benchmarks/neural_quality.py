"""Neural rankers on real collections: five-fold test NDCG@10, and Yilmaz & Robertson's experiment.

    POMONA_DATA=/your/data python -m benchmarks.neural_quality
    POMONA_DATA=/your/data python -m benchmarks.neural_quality --yilmaz-robertson --folds 1 --epochs 60

The first compares every neural ranker, with its own defaults, to least squares on the labels (per-query
differences of all test folds, and the p-value of a two-sided paired t test), and ListNet on MQ2008 to the
official baseline of LETOR 4.0 under that collection's own rules.

The second repeats Tables 2 and 3 of "On the choice of effectiveness measures for learning to rank" (2010) on
MQ2007: a network of ten hidden nodes is trained for one measure and judged by another, which also picks the
epoch and the learning rate on the validation data.
"""

import argparse
import itertools
import time

import numpy as np
from scipy import stats

import pomona as pm
from pomona.data.catalog import load_folds

RANKERS = ("RankNet", "LambdaRank", "ListNet", "ListMLE", "SoftRank")
LISTNET_MQ2008 = 0.2303  # LETOR 4.0's own table, NDCG@10, mean of the five test folds
TRAIN_MEASURES = ("ap", "p@10", "ndcg", "ndcg@10")
TEST_MEASURES = ("ap", "p@10", "ndcg@10")
# As in the paper, and nothing that it does not have.
PLAIN = {"hidden": 10, "activation": "tanh", "dropout": 0.0, "log_features": False, "early_stopping": None}


def least_squares(train):
    rows = np.column_stack((train.X, np.ones(train.n_docs)))
    weights = np.linalg.lstsq(rows.astype(np.float64), train.y.astype(np.float64), rcond=None)[0]
    return lambda test: test.X @ weights[:-1]


def compare(name, measure, rankers, folds):
    values, seconds = {}, {}
    for train, valid, test in itertools.islice(load_folds(name), folds):
        for key in ("least squares", *rankers):
            start = time.process_time()
            if key == "least squares":
                predict = least_squares(train)
            else:
                predict = getattr(pm, key)(measure=measure).fit(train, valid=valid).predict
            seconds[key] = seconds.get(key, 0.0) + time.process_time() - start
            values.setdefault(key, []).append(
                pm.evaluate(test, predict(test), measure, per_query=True)[measure]
            )
    print(f"| {name}, {measure} | mean of folds | minus least squares | p | processor seconds, all folds |")
    print("|---|---:|---:|---:|---:|")
    base = np.concatenate(values["least squares"])
    for key, parts in values.items():
        mean = np.mean([part.mean() for part in parts])
        difference = np.concatenate(parts) - base
        p = stats.ttest_1samp(difference, 0).pvalue if difference.any() else 1.0
        print(f"| {key} | {mean:.4f} | {difference.mean():+.4f} | {p:.3f} | {seconds[key]:.1f} |", flush=True)
    print()


def yilmaz_robertson(folds, epochs):
    rates = (0.0003, 0.001, 0.003)
    for name, more in (
        ("LambdaRank", {"truncation": None, "normalize": False}),
        ("SoftRank", {"sigma": 0.5}),
    ):
        print(f"| {name}, trained for | " + " | ".join(f"test {measure}" for measure in TEST_MEASURES) + " |")
        print("|---|" + "---:|" * len(TEST_MEASURES))
        for measure in TRAIN_MEASURES:
            cells = []
            for judged in TEST_MEASURES:
                options = {**PLAIN, **more, "n_epochs": epochs, "restart_after": 16, "learning_rate": rates}
                ranker = getattr(pm, name)(measure=measure, valid_measure=judged, **options)
                found = [
                    pm.evaluate(test, ranker.fit(train, valid=valid).predict(test), judged)[judged]
                    for train, valid, test in itertools.islice(load_folds("mq2007"), folds)
                ]
                cells.append(f"{100 * np.mean(found):.2f}")
            print(f"| {measure} | " + " | ".join(cells) + " |", flush=True)
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--yilmaz-robertson", action="store_true")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=300, help="of Yilmaz & Robertson's experiment")
    arguments = parser.parse_args()
    if arguments.yilmaz_robertson:
        yilmaz_robertson(arguments.folds, arguments.epochs)
        return
    compare("mq2007", "ndcg@10", RANKERS, arguments.folds)
    compare("mq2008", "letor4:ndcg@10", RANKERS, arguments.folds)
    print(f"ListNet's official NDCG@10 on MQ2008 is {LISTNET_MQ2008}.")


if __name__ == "__main__":
    main()
