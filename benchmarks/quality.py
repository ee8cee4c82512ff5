"""LambdaMART's quality beside LightGBM's on real collections: same leaves, rate and early stopping.

    POMONA_DATA=/your/data python -m benchmarks.quality

Per-query NDCG@10 of all test folds, paired: mean difference, and the p-value of a two-sided paired t test.
"""

import time
import warnings

import numpy as np
from scipy import stats

import pomona as pm
from pomona.data.catalog import load_folds

LEAVES, RATE, TREES, PATIENCE = 31, 0.1, 500, 50


def ours(train, valid, **more):
    ranker = pm.LambdaMART(
        n_leaves=LEAVES, learning_rate=RATE, n_trees=TREES, early_stopping=PATIENCE, **more
    )
    return ranker.fit(train, valid=valid).predict


def lightgbm(train, valid):
    import lightgbm as lgb

    parameters = {
        "objective": "lambdarank",
        "num_leaves": LEAVES,
        "learning_rate": RATE,
        "metric": "ndcg",
        "eval_at": [10],
        "verbose": -1,
    }
    data = lgb.Dataset(train.X, train.y, group=np.diff(train.query_ptr))
    held_out = lgb.Dataset(valid.X, valid.y, group=np.diff(valid.query_ptr), reference=data)
    stop = lgb.early_stopping(PATIENCE, verbose=False)
    booster = lgb.train(parameters, data, TREES, valid_sets=[held_out], callbacks=[stop])
    return lambda test: booster.predict(test.X, num_iteration=booster.best_iteration)


def main():
    warnings.simplefilter("ignore")
    variants = {"Pomona": {}, "Pomona, oblivious": {"growth": "oblivious", "max_depth": 6}}
    print("| collection | ranker | test NDCG@10 | minus LightGBM's | p | seconds, LightGBM's |")
    print("|---|---|---:|---:|---:|---:|")
    for name in ("mq2008", "mq2007", "mslr-subset"):
        values = {key: [] for key in ("LightGBM", *variants)}
        seconds = dict.fromkeys(values, 0.0)
        for train, valid, test in load_folds(name):
            for key in values:
                start = time.perf_counter()
                predict = lightgbm(train, valid) if key == "LightGBM" else ours(train, valid, **variants[key])
                seconds[key] += time.perf_counter() - start
                values[key].append(pm.evaluate(test, predict(test), "ndcg@10", per_query=True)["ndcg@10"])
        pooled = {key: np.concatenate(parts) for key, parts in values.items()}
        theirs = pooled.pop("LightGBM")
        for key, mine in pooled.items():
            p = stats.ttest_rel(mine, theirs).pvalue
            row = f"| {name} | {key} | {mine.mean():.4f} | {mine.mean() - theirs.mean():+.4f} | {p:.3f} |"
            print(row, f"{seconds[key]:.1f}, {seconds['LightGBM']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
