"""Where the defaults come from.

    POMONA_DATA=/your/data python -m benchmarks.defaults            # lines: scaling, and the radius of PRank
    POMONA_DATA=/your/data python -m benchmarks.defaults --forests  # how trees grow, by the size of the data
    python -m benchmarks.defaults --large [--device cuda]           # of 60,000 to a million documents
    POMONA_DATA=/your/data python -m benchmarks.defaults --rates    # slower, and more patient

Lines: NDCG@10 on simulated queries (four draws of three shapes), and inside the training queries of the
collections that have a test part of their own (three times five folds). The test parts are not looked at.

Forests: per-query NDCG@10 of every rule, less that of trees of 31 leaves, with 95 % intervals: of random
folds of real collections, then of simulated ones of 100 to 10,000 queries. Which rule is best is then asked
of all real collections but one; what it gives on that one stands beside what the best there gives.

Rates: the same of other rates, patience and draws of noise, each the mean of three seeds.
"""

import argparse
import functools
import warnings

import numpy as np

import pomona as pm
from benchmarks import _folds
from pomona.data.k_fold import QueryKFold

SHAPES = {"short lists": (150, 10), "middling": (100, 40), "long": (60, 120)}
COLLECTIONS = ("mslr-subset", "lightgbm-example", "trec-news-2018")
SCALINGS = ("minmax", "standard", "rank")
RADII = (None, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0)


def samples():
    """(training, judged) pairs of each sample."""
    for name, (n_queries, n_docs) in SHAPES.items():
        yield (
            f"simulated, {name}",
            [
                (
                    pm.simulate(n_queries, docs_per_query=n_docs, seed=10 + draw),
                    pm.simulate(300, docs_per_query=n_docs, seed=100 + draw),
                )
                for draw in range(4)
            ],
        )
    for name in COLLECTIONS:
        train = pm.load(name).train
        splits = [split for seed in range(3) for split in QueryKFold(5, seed=seed).split_queries(train)]
        yield name, [(train.take(inside), train.take(outside)) for inside, outside in splits]


def candidates():
    """(label, what makes the ranker)."""
    for scaling in SCALINGS:
        yield f"LinearRegression, {scaling}", functools.partial(pm.LinearRegression, normalize=scaling)
    for scaling in SCALINGS:
        yield f"LogisticRegression, {scaling}", functools.partial(pm.LogisticRegression, normalize=scaling)
    for scaling in SCALINGS:
        for radius in RADII:
            yield f"PRank, {scaling}, {radius}", functools.partial(pm.PRank, normalize=scaling, radius=radius)


PACE = {"learning_rate": 0.1, "early_stopping": 50, "averaged": False, "noise_draws": 4}
"""Of all rules but `auto`."""
RULES = {
    "31 leaves": {"n_leaves": 31, "noise": 0, **PACE},
    "7 leaves": {"n_leaves": 7, "noise": 0, **PACE},
    **{
        f"oblivious, depth {depth}": {"growth": "oblivious", "max_depth": depth, "noise": 0, **PACE}
        for depth in (3, 4, 5, 6)
    },
    "oblivious, depth 4, noise": {"growth": "oblivious", "max_depth": 4, "noise": 0.5, **PACE},
    "oblivious, depth 6, noise": {"growth": "oblivious", "max_depth": 6, "noise": 0.5, **PACE},
    "auto": {},
}
LARGE_RULES = {
    "31 leaves": {"growth": "leafwise", "n_leaves": 31, "noise": 0, **PACE},
    "15 leaves": {"growth": "leafwise", "n_leaves": 15, "noise": 0, **PACE},
    **{
        f"oblivious, depth {depth}": {"growth": "oblivious", "max_depth": depth, "noise": 0, **PACE}
        for depth in (6, 8)
    },
}
RATE_RULES = {
    f"{rate}, {patience}, {draws}": {
        "learning_rate": rate,
        "early_stopping": patience,
        "averaged": False,
        "noise_draws": draws,
        "n_trees": 1500 if rate < 0.05 else 500,
    }
    for rate, patience, draws in (
        *((0.1, 50, 4), (0.1, 50, 1), (0.1, 100, 1)),
        *((0.05, 100, 4), (0.05, 100, 2), (0.05, 100, 1)),
        *((0.03, 150, 2), (0.03, 150, 1)),
    )
}
"""By rate, patience and draws of noise."""
SIZES = {100: 3, 300: 3, 1000: 2, 3000: 1, 10_000: 1}
"""How often a simulated collection of so many queries is drawn."""
LARGE_SIZES = dict.fromkeys((1500, 3000, 6000, 12_000, 24_000), 1)


def forests(n_seeds):
    real = {
        name: judged_by_rules(_folds.repeated(name, range(n_seeds)))
        for name in _folds.COLLECTIONS
        if _folds.whole(name) is not None
    }
    table(real)
    print()
    left_one_out(real)
    print()
    table({f"{size} simulated": judged_on_draws(size, n_draws) for size, n_draws in SIZES.items()})


def large(device):
    rules = {name: {**rule, "device": device} for name, rule in LARGE_RULES.items()}
    table({f"{size} simulated": judged_on_draws(size, n, rules) for size, n in LARGE_SIZES.items()}, rules)


def rates(n_seeds, n_draws=3):
    values = {}
    for name in (name for name in _folds.COLLECTIONS if _folds.whole(name) is not None):
        draws = []
        for draw in range(n_draws):
            rules = {label: {**rule, "seed": draw} for label, rule in RATE_RULES.items()}
            draws.append(judged_by_rules(_folds.repeated(name, range(n_seeds)), rules))
        values[name] = {label: np.mean([one[label] for one in draws], axis=0) for label in RATE_RULES}
    table(values, RATE_RULES)


def simulated(n_queries, n_draws):
    """(training, validation, test) parts."""
    for draw in range(n_draws):
        sizes = (n_queries, max(n_queries // 3, 50), 1000)
        yield [
            pm.simulate(size, docs_per_query=40, n_features=40, seed=1000 * draw + part)
            for part, size in enumerate(sizes, start=1)
        ]


def judged_on_draws(n_queries, n_draws, rules=RULES):
    """The values by every rule of the queries of all draws, which are different queries."""
    draws = [judged_by_rules([parts], rules) for parts in simulated(n_queries, n_draws)]
    return {rule: np.concatenate([values[rule] for values in draws]) for rule in rules}


def judged_by_rules(folds, rules=RULES):
    """The values of queries by every rule."""
    judged = {name: _folds.Judged() for name in rules}
    for train, valid, test in folds:
        for name, rule in rules.items():
            judged[name].add(test, pm.LambdaMART(**rule).fit(train, valid=valid).predict(test), 0.0)
    return {name: one.of_queries() for name, one in judged.items()}


def table(values, rules=RULES):
    print(f"| rule | {' | '.join(values)} | all queries |")
    print("|---|" + "---:|" * (len(values) + 1))
    first = next(iter(rules))
    for rule in rules:
        differences = [of_rules[rule] - of_rules[first] for of_rules in values.values()]
        cells = [_folds.with_interval(one) for one in (*differences, np.concatenate(differences))]
        print(f"| {rule} | {' | '.join(cells)} |", flush=True)


def left_one_out(values):
    print("| left out | best rule of the others | it gives here | best here |")
    print("|---|---|---:|---:|")
    single = [rule for rule in RULES if rule != "auto"]
    for name, here in values.items():
        others = [of_rules for other, of_rules in values.items() if other != name]
        best = max(single, key=lambda rule: np.concatenate([of_rules[rule] for of_rules in others]).mean())
        most = max(here[rule].mean() for rule in single)
        print(f"| {name} | {best} | {here[best].mean():.4f} | {most:.4f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--forests", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--rates", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.forests:
        forests(arguments.seeds)
    elif arguments.large:
        large(arguments.device)
    elif arguments.rates:
        rates(arguments.seeds)
    else:
        lines()


def lines():
    pairs_of = dict(samples())
    print(f"| ranker, scaling, radius | {' | '.join(pairs_of)} | mean |")
    print("|---|" + "---:|" * (len(pairs_of) + 1))
    for label, make in candidates():
        means = [
            np.mean(
                [
                    pm.evaluate(judged, make().fit(train).predict(judged), "ndcg@10")["ndcg@10"]
                    for train, judged in pairs
                ]
            )
            for pairs in pairs_of.values()
        ]
        print(f"| {label} | {' | '.join(f'{value:.4f}' for value in (*means, np.mean(means)))} |", flush=True)


if __name__ == "__main__":
    main()
