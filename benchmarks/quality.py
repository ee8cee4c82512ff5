"""The scoreboard: every library with its defaults on real collections, up to 500 trees, stopped early.

    POMONA_DATA=/your/data python -m benchmarks.quality            # two times five folds of each collection
    POMONA_DATA=/your/data python -m benchmarks.quality --seeds 6

Random folds of all queries; a quarter of the training queries decides when to stop, by NDCG@10. Per-query
measures of the test folds are paired with those of `LambdaMART()`: mean differences with 95 % intervals, for
each collection, pooled over all queries, and as the plain mean over collections (macro). An interval that
holds 0 is within chance.
"""

import argparse
import time
import warnings

import numpy as np

import pomona as pm
from benchmarks._folds import COLLECTIONS, MEASURES, Judged, repeated, with_interval
from pomona._jit import n_threads

TREES, PATIENCE = 500, 50


def ours(make):
    return lambda train, valid: make().fit(train, valid=valid).predict


def lightgbm(objective):
    def fit(train, valid):
        import lightgbm as lgb

        parameters = {
            "objective": objective,
            "metric": "ndcg",
            "eval_at": [10],
            "verbose": -1,
            "num_threads": n_threads(),
        }
        data = lgb.Dataset(train.X, train.y, group=np.diff(train.query_ptr))
        held_out = lgb.Dataset(valid.X, valid.y, group=np.diff(valid.query_ptr), reference=data)
        stop = lgb.early_stopping(PATIENCE, verbose=False)
        booster = lgb.train(parameters, data, TREES, valid_sets=[held_out], callbacks=[stop])
        return lambda test: booster.predict(test.X, num_iteration=booster.best_iteration)

    return fit


def xgboost(train, valid):
    import xgboost as xgb

    data, held_out = (xgb.DMatrix(part.X, part.y, qid=_numbers(part)) for part in (train, valid))
    parameters = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "nthread": n_threads()}
    watched = {"evals": [(held_out, "valid")], "early_stopping_rounds": PATIENCE, "verbose_eval": False}
    booster = xgb.train(parameters, data, TREES, **watched)
    best = (0, booster.best_iteration + 1)
    return lambda test: booster.predict(xgb.DMatrix(test.X), iteration_range=best)


def catboost(train, valid):
    import catboost

    data, held_out = (catboost.Pool(part.X, part.y, group_id=_numbers(part)) for part in (train, valid))
    model = catboost.CatBoostRanker(
        loss_function="YetiRank",
        eval_metric="NDCG:top=10;type=Exp",
        iterations=TREES,
        early_stopping_rounds=PATIENCE,
        thread_count=n_threads(),
        verbose=False,
        allow_writing_files=False,
    )
    model.fit(data, eval_set=held_out)
    return lambda test: model.predict(test.X)


def _numbers(data):
    return np.repeat(np.arange(data.n_queries), np.diff(data.query_ptr))


RANKERS = {
    "LambdaMART()": ours(pm.LambdaMART),
    "LambdaMART, 31 leaves": ours(lambda: pm.LambdaMART(n_leaves=31, noise=0)),
    "XENDCG()": ours(pm.XENDCG),
    "MART()": ours(pm.MART),
    "LightGBM lambdarank": lightgbm("lambdarank"),
    "LightGBM rank_xendcg": lightgbm("rank_xendcg"),
    "XGBoost rank:ndcg": xgboost,
    "CatBoost YetiRank": catboost,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rankers", type=lambda text: text.split(","), default=list(RANKERS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    judged = {name: {} for name in arguments.rankers}
    for collection in COLLECTIONS:
        for train, valid, test in repeated(collection, arguments.seeds):
            for name in arguments.rankers:
                start = time.perf_counter()
                predict = RANKERS[name](train, valid)
                seconds = time.perf_counter() - start
                judged[name].setdefault(collection, Judged()).add(test, predict(test), seconds)
        for name in arguments.rankers:
            if collection in judged[name]:
                value = judged[name][collection].of_queries().mean()
                print(f"{collection}: {name} {value:.4f}", flush=True)
    for measure in MEASURES:
        print(f"\n{measure}\n")
        board(judged, measure)


def board(judged, measure):
    names = list(judged)
    values = {
        name: {collection: one.of_queries(measure) for collection, one in judged[name].items()}
        for name in names
    }
    base = values[names[0]]
    print(f"| ranker | {' | '.join(base)} | pooled | pooled difference | macro | seconds |")
    print("|---|" + "---:|" * (len(base) + 4))
    for name in names:
        differences = [values[name][collection] - base[collection] for collection in base]
        cells = [f"{one.mean():.4f}" for one in values[name].values()]
        cells.append(f"{np.concatenate(list(values[name].values())).mean():.4f}")
        cells.append("" if name == names[0] else with_interval(np.concatenate(differences)))
        cells.append("" if name == names[0] else f"{np.mean([one.mean() for one in differences]):+.4f}")
        cells.append(f"{sum(one.seconds for one in judged[name].values()):.0f}")
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
