"""Dropout of trees (DART): NDCG@10 of LambdaMART on MQ2008's test queries with and without, five folds.

POMONA_DATA=/your/data python -m benchmarks.dropout
"""

import numpy as np
from scipy import stats

import pomona as pm

_LEAFWISE = {"growth": "leafwise", "n_leaves": 15, "noise": 0}
SETTINGS = {
    "default": {},
    "dropout 0.05": {"dropout": 0.05},
    "dropout 0.1": {"dropout": 0.1},
    "dropout 0.1 in every round": {"dropout": 0.1, "dropout_skip": 0.0},
    "dropout 0.2": {"dropout": 0.2},
    "15 leaves": _LEAFWISE,
    "15 leaves, dropout 0.1": {**_LEAFWISE, "dropout": 0.1},
}


def main():
    values = {name: [] for name in SETTINGS}
    for fold in range(1, 6):
        train, valid, test = pm.load("mq2008", fold=fold)
        for name, parameters in SETTINGS.items():
            ranker = pm.LambdaMART(n_trees=300, **parameters).fit(train, valid=valid)
            judged = pm.evaluate(test, ranker.predict(test), "ndcg@10", per_query=True)
            values[name].append(judged["ndcg@10"])
    print("| | NDCG@10 | less that without | p |\n|---|---:|---:|---:|")
    for name, folds in values.items():
        without = "15 leaves" if "leaves" in name else "default"
        one, other = np.concatenate(folds), np.concatenate(values[without])
        p = f"{stats.ttest_rel(one, other).pvalue:.3f}" if name != without else ""
        print(f"| {name} | {one.mean():.4f} | {one.mean() - other.mean():+.4f} | {p} |")


if __name__ == "__main__":
    main()
