"""Neural rankers on real collections: five-fold test NDCG@10, and Yilmaz & Robertson's experiment.

    POMONA_DATA=/your/data python -m benchmarks.neural_quality
    POMONA_DATA=/your/data python -m benchmarks.neural_quality --yilmaz-robertson --folds 1 --epochs 60

The first compares every neural ranker, with its own defaults, to `LinearRegression` (per-query differences of
all test folds, and the p-value of a two-sided paired t test), and ListNet on MQ2008 to the official baseline
of LETOR 4.0; all under the rules of that collection.

The second repeats Tables 2 and 3 of "On the choice of effectiveness measures for learning to rank" (2010) on
MQ2007: a network of ten hidden nodes is trained for one measure and judged by another, which also picks the
epoch and the learning rate on the validation data. A network is trained once for each measure and learning
rate; what the other measures would have picked is noted on the way.
"""

import argparse
import contextlib
import itertools
import time
from dataclasses import dataclass

import numpy as np
from scipy import stats

import pomona as pm
from pomona.data.catalog import load_folds

RANKERS = ("LinearRegression", "RankNet", "LambdaRank", "ListNet", "ListMLE", "SoftRank")
JUDGED = ("letor4:ndcg@1", "letor4:ndcg@5", "letor4:ndcg@10", "letor4:mean_ndcg")
MAIN = JUDGED[2]
OFFICIAL_LISTNET = "| LETOR 4.0's ListNet | 0.3754 | 0.4747 | 0.2303 | | | | |"
TRAIN_MEASURES = ("ap", "p@10", "ndcg", "ndcg@10")
TEST_MEASURES = ("ap", "p@10", "ndcg@10")
# As in the paper, and nothing that it does not have.
PLAIN = {
    "hidden": 10,
    "activation": "tanh",
    "dropout": 0.0,
    "log_features": False,
    "averaged": False,
    "early_stopping": None,
}
LEARNING_RATES = (0.0003, 0.001, 0.003)


def compare(name, n_folds):
    values, seconds = {}, dict.fromkeys(RANKERS, 0.0)
    for train, valid, test in itertools.islice(load_folds(name), n_folds):
        for key in RANKERS:
            start = time.process_time()
            ranker = getattr(pm, key)(measure=MAIN).fit(train, valid=valid)
            seconds[key] += time.process_time() - start
            judged = pm.evaluate(test, ranker.predict(test), JUDGED, per_query=True)
            values.setdefault(key, []).append(np.array([judged[measure] for measure in JUDGED]))
    print(f"| {name} | " + " | ".join(JUDGED) + f" | {MAIN} minus linear | p | processor seconds of a fold |")
    print("|---|" + "---:|" * (len(JUDGED) + 3))
    main = JUDGED.index(MAIN)
    base = np.concatenate(values[RANKERS[0]], axis=1)[main]
    for key, folds in values.items():
        means = np.mean([fold.mean(axis=1) for fold in folds], axis=0)
        difference = np.concatenate(folds, axis=1)[main] - base
        p = stats.ttest_1samp(difference, 0).pvalue if difference.any() else 1.0
        print(f"| {key} | " + " | ".join(f"{mean:.4f}" for mean in means), end="")
        print(f" | {difference.mean():+.4f} | {p:.3f} | {seconds[key] / len(folds):.1f} |", flush=True)
    if name == "mq2008":
        print(OFFICIAL_LISTNET)
    print()


class _Watched:
    """Remembers, for every test measure, its value on the test data at the epoch best by it on validation."""

    def watch(self, valid, test):
        self._parts = [valid, test]
        self.best = dict.fromkeys(TEST_MEASURES, (-np.inf, np.nan))
        return self

    @contextlib.contextmanager
    def _progress(self, what):
        def on_epoch(epoch, network, now):
            found = [pm.evaluate(part, network.score(part.X), TEST_MEASURES) for part in self._parts]
            for measure, best in self.best.items():
                self.best[measure] = max(best, tuple(values[measure] for values in found))

        yield on_epoch


@dataclass(kw_only=True, eq=False, repr=False)
class WatchedLambdaRank(_Watched, pm.LambdaRank):
    truncation: int | None = None
    normalize: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class WatchedSoftRank(_Watched, pm.SoftRank):
    sigma: float = 0.5


def yilmaz_robertson(n_folds, n_epochs):
    for cls in (WatchedLambdaRank, WatchedSoftRank):
        print(
            f"| {cls.name}, trained for | " + " | ".join(f"test {measure}" for measure in TEST_MEASURES),
            end="",
        )
        print(" | processor seconds of a fold |\n|---|" + "---:|" * (len(TEST_MEASURES) + 1))
        for measure in TRAIN_MEASURES:
            found, start = [], time.process_time()
            for train, valid, test in itertools.islice(load_folds("mq2007"), n_folds):
                options = {
                    **PLAIN,
                    "n_epochs": n_epochs,
                    "restart_after": 16,
                    "learning_rate": LEARNING_RATES,
                }
                ranker = cls(measure=measure, **options).watch(valid, test).fit(train, valid=valid)
                found.append([ranker.best[judged][1] for judged in TEST_MEASURES])
            seconds = (time.process_time() - start) / len(found)
            cells = " | ".join(f"{100 * mean:.2f}" for mean in np.mean(found, axis=0))
            print(f"| {measure} | {cells} | {seconds:.0f} |", flush=True)
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--yilmaz-robertson", action="store_true")
    parser.add_argument("--only", choices=("mq2007", "mq2008"), help="of the first: one collection")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=300, help="of Yilmaz & Robertson's experiment")
    arguments = parser.parse_args()
    if arguments.yilmaz_robertson:
        yilmaz_robertson(arguments.folds, arguments.epochs)
        return
    few = pm.simulate(20, docs_per_query=10, n_features=5, seed=0)
    for key in RANKERS:  # loads kernels and PyTorch, so that no time holds that
        getattr(pm, key)(measure=MAIN).fit(few, valid=few)
    for name in (arguments.only,) if arguments.only else ("mq2007", "mq2008"):
        compare(name, arguments.folds)


if __name__ == "__main__":
    main()
