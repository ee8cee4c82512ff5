"""One request at a time: the median and the 99th percentile of `predict`, Pomona beside its peers.

    python -m benchmarks.serving                # trains the models first, a minute or two
    python -m benchmarks.serving --trees 100    # smaller

LightGBM, XGBoost and CatBoost train a model each of 500 trees of 64 leaves on 136 features, which Pomona
reads and serves: the scores agree. One thread; the calls take turns, so that what else runs on the machine
hits all alike, each with another request, so that no processor knows it by heart. *beyond* is what `predict`
costs besides the forest itself. Then the ways to hand over a request of ten documents, and rankers that scale
features inside each query; and how long a fresh process takes to its first score, with nothing compiled
(cold) and later (warm), in Python and in `examples/serve`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

import pomona as pm
from benchmarks.imported import catboost_model
from benchmarks.score import N_FEATURES, lightgbm_booster, percentiles, xgboost_booster
from pomona._jit import threads


def forms_of(rows, names):
    """The same documents in every form that `predict` takes."""
    frame = pd.DataFrame(rows, columns=names)
    return {
        "NumPy": rows,
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "list of dicts": frame.to_dict("records"),
    }


FIRST_SCORE = """
import sys, pomona as pm
ranker = pm.load_model(sys.argv[1])
ranker.predict(dict.fromkeys(ranker.feature_names_, 0.0))
"""
FIRST_ANSWER = """
import asyncio, runpy
app = runpy.run_path("examples/serve/app.py")["app"]
async def start():
    async with app.router.lifespan_context(app):
        pass
asyncio.run(start())
"""


def first_scores(ranker):
    """Seconds from the start of a process to its first score: (what, cold, warm)."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "m.pomona"
        ranker.save(model)
        for what, script in (("Python", FIRST_SCORE), ("the service", FIRST_ANSWER)):
            cache = Path(folder) / what
            environment = {**os.environ, "POMONA_CACHE": str(cache), "POMONA_MODEL": str(model)}
            seconds = []
            for _ in range(3):
                start = time.perf_counter()
                subprocess.run([sys.executable, "-c", script, str(model)], env=environment, check=True)
                seconds.append(time.perf_counter() - start)
            yield what, seconds[0], min(seconds[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--leaves", type=int, default=64)
    parser.add_argument("--queries", type=int, default=100, help="of 100 documents, to train on")
    parser.add_argument("--calls", type=int, default=1000)
    asked = parser.parse_args()

    size = asked.trees, asked.leaves
    train = pm.simulate(asked.queries, docs_per_query=100, n_features=N_FEATURES)
    booster, xgboost = lightgbm_booster(train, *size), xgboost_booster(train, *size)
    xgboost.set_param({"nthread": 1})
    catboost = catboost_model(train, *size)
    peers = {
        "LightGBM": (booster, lambda rows: booster.predict(rows, num_threads=1)),
        "XGBoost `inplace_predict`": (xgboost, xgboost.inplace_predict),
        "CatBoost": (catboost, lambda rows: catboost.predict(rows, thread_count=1)),
    }
    with threads(1):
        print("| documents | model | its own p50, µs | p99 | `ranker.predict` p50, µs | p99 | beyond, µs |")
        print("|---:|---|---:|---:|---:|---:|---:|")
        for n_docs in (1, 10, 100):
            starts = range(0, min(2500, train.n_docs - n_docs), max(n_docs, 25))
            requests = [train.X[i : i + n_docs].copy() for i in starts]
            for name, (model, predict) in peers.items():
                ranker = pm.from_model(model)
                rows = requests[0]
                assert np.array_equal(ranker.predict(rows).astype(np.float32), np.float32(predict(rows)))
                calls = {"theirs": predict, "ours": ranker.predict, "forest": ranker.model_.score}
                taken = percentiles(calls, requests, asked.calls)
                times = " | ".join(f"{t:.0f}" for t in (*taken["theirs"], *taken["ours"]))
                print(
                    f"| {n_docs} | {name} | {times} | {taken['ours'][0] - taken['forest'][0]:.0f} |",
                    flush=True,
                )
        rankers = {
            f"LambdaMART, {asked.trees} × {asked.leaves}": pm.LambdaMART(
                n_trees=asked.trees, n_leaves=asked.leaves
            ),
            "LambdaMART, 100 × 31": pm.LambdaMART(n_trees=100, n_leaves=31),
            "RankSVM": pm.RankSVM(),
            "LinearRegression": pm.LinearRegression(),
        }
        forms = [forms_of(train.X[i : i + 10].copy(), list(train.feature_names)) for i in range(0, 500, 10)]
        print(f"\n| ten documents, p50 / p99 in µs | {' | '.join(forms[0])} |")
        print(f"|---|{'---:|' * len(forms[0])}")
        for name, ranker in rankers.items():
            ranker.fit(train)
            calls = {form: lambda tables, form=form, to=ranker: to.predict(tables[form]) for form in forms[0]}
            cells = (f"{p50:.0f} / {p99:.0f}" for p50, p99 in percentiles(calls, forms, asked.calls).values())
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
        print("\n| from start to first score, seconds | cold | warm |\n|---|---:|---:|")
        for what, cold, warm in first_scores(rankers["LambdaMART, 100 × 31"]):
            print(f"| {what} | {cold:.2f} | {warm:.2f} |", flush=True)


if __name__ == "__main__":
    main()
