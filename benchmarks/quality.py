"""LambdaMART's quality beside LightGBM's on real collections: same leaves, rate and early stopping.

    POMONA_DATA=/your/data python -m benchmarks.quality

Per-query NDCG@10 of all test folds, paired: mean difference, and the p-value of a two-sided paired t test.
The MSLR subset is also cross-validated: which its own 43 test queries are decides the order.
"""

import time
import warnings

import numpy as np
from scipy import stats

import pomona as pm
from pomona.data.catalog import load_folds
from pomona.data.k_fold import QueryKFold

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


def collections():
    """Names and folds."""
    for name in ("mq2008", "mq2007", "mslr-subset"):
        yield name, load_folds(name)
    yield "mslr-subset, thirty times five folds", crossed(load_folds("mslr-subset")[0], range(30))


def crossed(parts, seeds):
    """Random folds of all queries; a quarter of what is left to train on chooses the number of trees."""
    X, y, qid = (np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "qid"))
    data = pm.Dataset(X, y, qid=qid)
    for seed in seeds:
        for inside, outside in QueryKFold(5, seed=seed).split_queries(data):
            yield *data.take(inside).split([0.75, 0.25], seed=seed), data.take(outside)


def mean_by_query(values, folds_qids):
    """Of queries that were tested several times."""
    _, place = np.unique(np.concatenate(folds_qids), return_inverse=True)
    return np.bincount(place, np.concatenate(values)) / np.bincount(place)


def main():
    warnings.simplefilter("ignore")
    variants = {"Pomona": {}, "Pomona, oblivious": {"growth": "oblivious", "max_depth": 6}}
    print("| collection | ranker | test NDCG@10 | minus LightGBM's | p | seconds, LightGBM's |")
    print("|---|---|---:|---:|---:|---:|")
    for name, folds in collections():
        values = {key: [] for key in ("LightGBM", *variants)}
        seconds = dict.fromkeys(values, 0.0)
        qids = []
        for train, valid, test in folds:
            qids.append(test.qids)
            for key in values:
                start = time.perf_counter()
                predict = lightgbm(train, valid) if key == "LightGBM" else ours(train, valid, **variants[key])
                seconds[key] += time.perf_counter() - start
                values[key].append(pm.evaluate(test, predict(test), "ndcg@10", per_query=True)["ndcg@10"])
        pooled = {key: mean_by_query(parts, qids) for key, parts in values.items()}
        theirs = pooled.pop("LightGBM")
        for key, mine in pooled.items():
            p = stats.ttest_rel(mine, theirs).pvalue
            row = f"| {name} | {key} | {mine.mean():.4f} | {mine.mean() - theirs.mean():+.4f} | {p:.3f} |"
            print(row, f"{seconds[key]:.1f}, {seconds['LightGBM']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
