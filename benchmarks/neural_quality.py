"""Neural rankers on real collections: five-fold test NDCG@10, and Yilmaz & Robertson's experiment.

    POMONA_DATA=/your/data python -m benchmarks.neural_quality
    POMONA_DATA=/your/data python -m benchmarks.neural_quality --yilmaz-robertson --folds 1 --epochs 60
    POMONA_DATA=/your/data python -m benchmarks.neural_quality --inputs --seeds 3
    POMONA_DATA=/your/data python -m benchmarks.neural_quality --context --seeds 3

The first compares every neural ranker, with its own defaults, to `LinearRegression` (per-query differences of
all test folds, and the p-value of a two-sided paired t test), and ListNet on MQ2008 to the official baseline
of LETOR 4.0; all under the rules of that collection.

The second repeats Tables 2 and 3 of "On the choice of effectiveness measures for learning to rank" (2010) on
MQ2007: a network of ten hidden nodes is trained for one measure and judged by another, which also picks the
epoch and the learning rate on the validation data. A network is trained once for each measure and learning
rate; what the other measures would have picked is noted on the way.

The third compares the scales on which a network can have its features. It looks at training queries only: for
each seed three fifths of them are learnt from, one fifth picks the epoch, and one fifth judges.

The fourth compares ContextRank to LambdaRank where relevance depends on the other documents of a list
(`simulate(context=1)`), where it does not, and on the MSLR subset; paired over test queries, of which each
has the mean over seeds.

What the third found, with two seeds, on a busy machine (NDCG@10; `log` is the default, as no difference holds
on all collections, and as engines take it):

| training queries of | log | quantile | standard | quantile minus log | p | judged |
|---|---:|---:|---:|---:|---:|---:|
| mslr-subset | 0.4318 | 0.4301 | 0.3822 | -0.0017 | 0.910 | 18 |
| mq2008 | 0.4623 | 0.4606 | 0.4706 | -0.0017 | 0.805 | 188 |
| lightgbm-example | 0.7195 | 0.7306 | 0.7226 | +0.0111 | 0.349 | 80 |
| ohsumed-min | 0.4333 | 0.3991 | 0.4290 | -0.0342 | 0.020 | 26 |
| simulated | 0.7127 | 0.7189 | 0.7027 | +0.0062 | 0.207 | 160 |
| mq2007 | 0.4438 | 0.4566 | 0.4404 | +0.0128 | 0.007 | 406 |

The fourth, with five seeds in the first row and two in the others; seconds are of a processor:

| test queries of | LambdaRank | ContextRank | difference | p | seconds | seconds | times |
|---|---:|---:|---:|---:|---:|---:|---:|
| simulated, context=1 | 0.6583 | 0.7036 | +0.0454 | < 0.001 | 2.9 | 6.3 | 2.2 |
| simulated, context=0 | 0.7154 | 0.7130 | -0.0024 | 0.211 | 1.9 | 3.6 | 1.9 |
| mslr-subset | 0.4081 | 0.3375 | -0.0706 | 0.002 | 0.6 | 1.8 | 3.1 |

Attention has more to learn: the few training queries of the MSLR subset are not enough for it.
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
INPUTS = {
    "log": {},
    "quantile": {"quantile_features": True},
    "standard": {"log_features": False},
}
COLLECTIONS = ("mq2007", "mq2008", "ohsumed-min", "mslr-subset", "lightgbm-example", "simulated")


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


def paired(values, base):
    """(mean difference, p of a two-sided paired t test) in words."""
    difference = values - base
    p = stats.ttest_1samp(difference, 0).pvalue if difference.any() else 1.0
    return f"{difference.mean():+.4f} | {p:.3f}"


def compare_inputs(names, n_seeds):
    print("| training queries of | " + " | ".join(INPUTS) + " | quantile minus log | p | judged |")
    print("|---|" + "---:|" * (len(INPUTS) + 3))
    for name in names:
        data = pm.simulate(400, seed=5) if name == "simulated" else load_folds(name)[0][0]
        values = {}
        for seed in range(n_seeds):
            train, valid, judged = data.split([0.6, 0.2, 0.2], seed=seed)
            for label, options in INPUTS.items():
                ranker = pm.LambdaRank(seed=seed, **options).fit(train, valid=valid)
                found = pm.evaluate(judged, ranker.predict(judged), "ndcg@10", per_query=True)["ndcg@10"]
                values.setdefault(label, []).append(found)
        joined = {label: np.concatenate(found) for label, found in values.items()}
        means = " | ".join(f"{found.mean():.4f}" for found in joined.values())
        more = f"{paired(joined['quantile'], joined['log'])} | {len(joined['log'])}"
        print(f"| {name} | {means} | {more} |", flush=True)


def compare_in_context(n_seeds):
    print("| test queries of | LambdaRank | ContextRank | difference | p | seconds | seconds | times |")
    print("|---|" + "---:|" * 7)
    for name in ("simulated, context=1", "simulated, context=0", "mslr-subset"):
        values, seconds = {}, {}
        for seed in range(n_seeds):
            if name == "mslr-subset":
                train, valid, test = load_folds(name)[0]
            else:
                options = {"context": float(name[-1])}
                train, valid, test = (
                    pm.simulate(n, **options, seed=draw + (10 * seed if draw < 3 else 0))
                    for draw, n in ((1, 500), (2, 200), (3, 600))
                )
            for key in ("LambdaRank", "ContextRank"):
                start = time.process_time()
                ranker = getattr(pm, key)(seed=seed).fit(train, valid=valid)
                seconds.setdefault(key, []).append(time.process_time() - start)
                found = pm.evaluate(test, ranker.predict(test), "ndcg@10", per_query=True)["ndcg@10"]
                values.setdefault(key, []).append(found)
        plain, context = (np.mean(found, axis=0) for found in values.values())
        costs = [np.mean(found) for found in seconds.values()]
        cells = f"{plain.mean():.4f} | {context.mean():.4f} | {paired(context, plain)}"
        print(
            f"| {name} | {cells} | {costs[0]:.1f} | {costs[1]:.1f} | {costs[1] / costs[0]:.1f} |", flush=True
        )


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
    parser.add_argument("--inputs", action="store_true")
    parser.add_argument("--context", action="store_true")
    parser.add_argument("--seeds", type=int, default=3, help="of the third and fourth")
    parser.add_argument("--collections", default=",".join(COLLECTIONS), help="of the third")
    arguments = parser.parse_args()
    if arguments.yilmaz_robertson:
        yilmaz_robertson(arguments.folds, arguments.epochs)
        return
    few = pm.simulate(20, docs_per_query=10, n_features=5, seed=0)
    for key in ("LambdaRank", "ContextRank") if arguments.inputs or arguments.context else RANKERS:
        # loads kernels and PyTorch, so that no time holds that
        getattr(pm, key)(measure=MAIN).fit(few, valid=few)
    if arguments.inputs:
        compare_inputs(arguments.collections.split(","), arguments.seeds)
    if arguments.context:
        compare_in_context(arguments.seeds)
    if arguments.inputs or arguments.context:
        return
    for name in (arguments.only,) if arguments.only else ("mq2007", "mq2008"):
        compare(name, arguments.folds)


if __name__ == "__main__":
    main()
