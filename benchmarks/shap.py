"""Shapley values of 200 trees of 31 leaves, CPU seconds of one thread, beside LightGBM and the shap package.

python -m benchmarks.shap
"""

import time
from importlib.util import find_spec

import lightgbm
import numpy as np

import pomona as pm
from pomona._jit import threads
from pomona.trees.shap import interventional, leaf_covers, path_dependent


def seconds(work, rounds=3):
    """The best of some rounds, after one that compiles."""
    work()
    taken = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def main(n_docs=1000, n_background=100):
    train = pm.simulate(1500, docs_per_query=25, n_features=46, seed=1)
    X = train.X.astype(float)
    model = lightgbm.LGBMRanker(n_estimators=200, num_leaves=31, verbose=-1, n_jobs=1)
    model.fit(X, train.y, group=np.diff(train.query_ptr))
    forest = pm.from_model(model).model_
    cover, rows, others = leaf_covers(forest, X), X[:n_docs], X[-n_background:]
    print("| values | documents | ours | other | |\n|---|---:|---:|---:|---:|")
    with threads(1):
        ours = seconds(lambda: path_dependent(forest, rows, cover))
        theirs = seconds(lambda: model.booster_.predict(rows, pred_contrib=True, num_threads=1))
        print(f"| path | {n_docs} | {ours:.3f} | LightGBM {theirs:.3f} | {theirs / ours:.1f} × |")
        if find_spec("shap") is None:
            print("| shap is not installed | | | | |")
            return
        import shap

        some = rows[:n_background]
        explainer = shap.TreeExplainer(model.booster_, data=others, feature_perturbation="interventional")
        ours = seconds(lambda: interventional(forest, some, others))
        theirs = seconds(lambda: explainer.shap_values(some, check_additivity=False))
        print(f"| interventional | {len(some)} | {ours:.3f} | shap {theirs:.3f} | {theirs / ours:.1f} × |")


if __name__ == "__main__":
    main()
