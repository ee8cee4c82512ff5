"""`BestRanker` beside LightGBM, XGBoost and CatBoost, which Optuna searches for the same time.

    POMONA_DATA=/your/data python -m benchmarks.best [--time 60s] [--collections mq2008,ohsumed] [--folds 1,2]

The others are searched by Optuna's TPE over the `search_space` of `examples/rankers`, each trial stopped
early and judged by the validation queries, until the time is over; the best trial is tested. `BestRanker` is
run twice: with the validation queries as such, and with training and validation queries together, from which
it holds out what it needs. Nobody sees a test query before the end. Per-query NDCG@10 of all test folds,
paired with the second: mean difference, 95 % interval and p-value of a two-sided paired t test.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import optuna
from scipy import stats

import pomona as pm
from pomona.data.catalog import load_folds
from pomona.data.concatenation import concatenated
from pomona.experiments.best.duration import seconds_of
from pomona.experiments.spec import ranker_class

_EXAMPLES = Path(__file__).parents[1] / "examples" / "rankers"
PEERS = {
    "LightGBM": ("lightgbm_ranker.py", "LightGBMRanker"),
    "XGBoost": ("xgboost_ranker.py", "XGBoostRanker"),
    "CatBoost": ("catboost_ranker.py", "CatBoostRanker"),
}
TOGETHER = "BestRanker, all queries"


def searched(name, seconds, train, valid):
    """The best trial of a peer within the time."""
    file, class_name = PEERS[name]
    cls = ranker_class(f"{_EXAMPLES / file}:{class_name}")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    best = {"value": -1.0, "ranker": None}
    study.enqueue_trial({key: getattr(cls(), key) for key in cls.search_space})  # its defaults first

    def objective(trial):
        ranker = cls(**{key: suggested(trial, key, space) for key, space in cls.search_space.items()})
        value = ranker.fit(train, valid=valid).score(valid)
        if value > best["value"]:
            best.update(value=value, ranker=ranker)
        return value

    study.optimize(objective, timeout=seconds)
    return best["ranker"], len(study.trials)


def suggested(trial, name, space):
    if isinstance(space, list):
        return trial.suggest_categorical(name, space)
    low, high, scale = space
    if "int" in scale:
        return trial.suggest_int(name, low, high, log="log" in scale)
    return trial.suggest_float(name, low, high, log="log" in scale)


def contestants(seconds):
    """Name and what finds a ranker, with how many trials or recipes."""

    def best(train, valid):
        ranker = pm.BestRanker(time=seconds).fit(train, valid=valid)
        return ranker, ranker.trials_.height

    yield TOGETHER, lambda train, valid: best(concatenated([train, valid]), None)
    yield "BestRanker, validation queries", best
    for name in PEERS:
        yield name, lambda train, valid, name=name: searched(name, seconds, train, valid)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--time", default="60s")
    parser.add_argument("--collections", default="mq2008,ohsumed")
    parser.add_argument("--folds", default="1")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    folds = [int(text) for text in given.folds.split(",")]
    print(f"{given.time} each, folds {given.folds}.\n")
    print("| collection | ranker | test NDCG@10 | minus BestRanker's | p | trials | seconds |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for collection in given.collections.split(","):
        values, trials, seconds = {}, {}, {}
        for number, (train, valid, test) in enumerate(load_folds(collection), 1):
            if number not in folds:
                continue
            for name, find in contestants(seconds_of(given.time)):
                started = time.perf_counter()
                ranker, n_trials = find(train, valid)
                seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - started
                trials[name] = trials.get(name, 0) + n_trials
                judged = pm.evaluate(test, ranker.predict(test), "ndcg@10", per_query=True)["ndcg@10"]
                values.setdefault(name, []).append(judged)
        pooled = {name: np.concatenate(parts) for name, parts in values.items()}
        for name, theirs in pooled.items():
            difference = theirs - pooled[TOGETHER]
            versus = " | "
            if difference.any():
                test_of = stats.ttest_1samp(difference, 0.0)
                low, high = test_of.confidence_interval()
                versus = f"{difference.mean():+.4f} [{low:+.4f}, {high:+.4f}] | {test_of.pvalue:.3f}"
            row = f"| {collection} | {name} | {theirs.mean():.4f} | {versus} "
            print(row + f"| {trials[name]} | {seconds[name]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
