"""Would YetiRank or StochasticRank earn a place? CatBoost's, on MQ2008's test queries, beside our default.

    POMONA_DATA=/your/data python -m benchmarks.yetirank

All stop on the validation queries after at most 300 trees, CatBoost's of depth 4, as ours are on so few
documents.
"""

import numpy as np
from scipy import stats

import pomona as pm

OBJECTIVES = (
    "YetiRank",
    "YetiRank:mode=NDCG;top=10",
    "StochasticRank:metric=NDCG;top=10",
    "StochasticRank:metric=NDCG",
)


def catboost_scores(objective, train, valid, test):
    import catboost

    model = catboost.CatBoostRanker(
        loss_function=objective,
        eval_metric="NDCG:top=10;type=Exp",
        iterations=300,
        depth=4,
        learning_rate=0.1,
        early_stopping_rounds=50,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )
    pools = [catboost.Pool(part.X, part.y, group_id=part.qid) for part in (train, valid)]
    return model.fit(pools[0], eval_set=pools[1]).predict(test.X)


def main():
    values = {name: [] for name in ("Pomona, default", *OBJECTIVES)}
    for fold in range(1, 6):
        train, valid, test = pm.load("mq2008", fold=fold)
        for name, folds in values.items():
            if name in OBJECTIVES:
                scores = catboost_scores(name, train, valid, test)
            else:
                scores = pm.LambdaMART(n_trees=300).fit(train, valid=valid).predict(test)
            folds.append(pm.evaluate(test, scores, "ndcg@10", per_query=True)["ndcg@10"])
    print("| | NDCG@10 | less ours | p |\n|---|---:|---:|---:|")
    ours, *_ = (np.concatenate(folds) for folds in values.values())
    for name, folds in values.items():
        theirs = np.concatenate(folds)
        p = f"{stats.ttest_rel(theirs, ours).pvalue:.3f}" if name in OBJECTIVES else ""
        print(f"| {name} | {theirs.mean():.4f} | {theirs.mean() - ours.mean():+.4f} | {p} |")


if __name__ == "__main__":
    main()
