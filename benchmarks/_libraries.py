"""The libraries beside us: each with its defaults, and each searched by Optuna for a given time."""

import time
from pathlib import Path

import numpy as np

from pomona._jit import n_threads
from pomona.experiments.search import suggest
from pomona.experiments.spec import ranker_class

TREES, PATIENCE = 500, 100  # as our own forests have by default
_EXAMPLES = Path(__file__).parents[1] / "examples" / "rankers"


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


def ydf(train, valid):
    import ydf

    ydf.verbose(0)
    learner = ydf.GradientBoostedTreesLearner(
        label="label",
        task=ydf.Task.RANKING,
        ranking_group="query",
        num_trees=TREES,
        early_stopping_num_trees_look_ahead=PATIENCE,
        num_threads=n_threads(),
    )
    columns, held_out = ({"X": part.X, "label": part.y, "query": _numbers(part)} for part in (train, valid))
    model = learner.train(columns, valid=held_out)
    return lambda test: model.predict({"X": test.X})


def _numbers(data):
    return np.repeat(np.arange(data.n_queries), np.diff(data.query_ptr))


SEARCHED = {
    "LightGBM": "lightgbm_ranker.py:LightGBMRanker",
    "XGBoost": "xgboost_ranker.py:XGBoostRanker",
    "CatBoost": "catboost_ranker.py:CatBoostRanker",
    "YDF": "ydf_ranker.py:YDFRanker",
}
"""The rankers of `examples/rankers`, whose `search_space` is searched."""


def searched(name, seconds, train, valid):
    """The best ranker of Optuna's TPE by the validation queries within the time, and how many were tried.

    Every trial is stopped early by the validation queries; the first one has the defaults. What is under way
    when the time is over may end.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    cls, started = ranker_class(f"{_EXAMPLES / SEARCHED[name]}"), time.monotonic()
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.enqueue_trial({key: getattr(cls(), key) for key in cls.search_space})
    best, highest, n_trials = None, -1.0, 0
    while time.monotonic() - started < seconds:
        trial = study.ask()
        ranker = cls(**{key: suggest(trial, key, space) for key, space in cls.search_space.items()})
        value = ranker.fit(train, valid=valid).score(valid)
        study.tell(trial, value)
        n_trials += 1
        if value > highest:
            best, highest = ranker, value
    return best, n_trials
