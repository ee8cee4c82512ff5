"""Training LambdaMART: wall time, quality and memory beside LightGBM, XGBoost and CatBoost.

    python -m benchmarks.training                 # 700k × 136 simulated, 100 trees, 31 leaves, 255 bins
    python -m benchmarks.training --queries 1000  # smaller
    python -m benchmarks.training --growth        # of documents, of features, of trees
    python -m benchmarks.training --copies 1,8    # 700k × 136 so many times (22: 15 GB of memory)
    python -m benchmarks.training --threads 1,16  # the same training with so many threads
    python -m benchmarks.training --turns 3       # ours, LightGBM's, ours, so many times
    POMONA_DATA=/your/data python -m benchmarks.training --small   # MQ2008 and MQ2007, judged after each tree

Every library trains on the same arrays with the same number of threads, binning included, in one process
one after the other; the seconds are of one run each, after a small one that compiles our kernels. Of small
data they are CPU seconds of one thread, the lowest of four runs in turns.
"""

import argparse
import functools
import time

import numpy as np

import pomona as pm
from pomona._jit import n_threads
from pomona._jit import threads as use_threads
from pomona.rankers.forests.lambdamart import LambdaMART


def pomona_run(train, trees, **more):
    start = time.perf_counter()
    alike = {"n_trees": trees, "learning_rate": 0.1, "early_stopping": None, "noise": 0}
    ranker = LambdaMART(**alike, **(more or {"n_leaves": 31})).fit(train)
    return time.perf_counter() - start, ranker.predict


def lightgbm_run(train, trees, threads, **more):
    import lightgbm as lgb

    start = time.perf_counter()
    data = lgb.Dataset(train.X, train.y, group=np.diff(train.query_ptr))
    parameters = {
        "objective": "lambdarank",
        "num_leaves": 31,
        "learning_rate": 0.1,
        "max_bin": 255,
        "num_threads": threads,
        "verbose": -1,
        "metric": "None",
        "label_gain": [0, 1, 3, 7, 15],
        **more,
    }
    booster = lgb.train(parameters, data, trees)
    return time.perf_counter() - start, lambda test: booster.predict(test.X)


def xgboost_run(train, trees, threads):
    import xgboost as xgb

    start = time.perf_counter()
    data = xgb.QuantileDMatrix(train.X, train.y, qid=train.qid, max_bin=256, nthread=threads)
    parameters = {
        "objective": "rank:ndcg",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": 31,
        "max_depth": 0,
        "eta": 0.1,
        "nthread": threads,
        "verbosity": 0,
    }
    booster = xgb.train(parameters, data, trees)
    return time.perf_counter() - start, lambda test: booster.inplace_predict(test.X)


def catboost_run(train, trees, threads):
    import catboost

    start = time.perf_counter()
    pool = catboost.Pool(train.X, train.y, group_id=train.qid)
    model = catboost.CatBoostRanker(
        loss_function="LambdaMart",
        iterations=trees,
        depth=6,
        learning_rate=0.1,
        thread_count=threads,
        verbose=False,
        allow_writing_files=False,
    )
    model.fit(pool)
    return time.perf_counter() - start, lambda test: model.predict(test.X)


def growth(trees):
    """How the cost of a training grows: of documents, of features, of trees."""
    print("| documents | features | trees | seconds | ns for each of them |\n|---:|---:|---:|---:|---:|")
    for queries, features, n_trees in (
        (1500, 136, trees),
        (3000, 136, trees),
        (6000, 136, trees),
        (6000, 34, trees),
        (6000, 68, trees),
        (6000, 136, trees // 4),
        (6000, 136, trees // 2),
    ):
        data = pm.simulate(queries, n_features=features, docs_per_query=117, seed=0)
        seconds, _ = pomona_run(data, n_trees)
        each = 1e9 * seconds / (data.n_docs * features * n_trees)
        print(f"| {data.n_docs:,} | {features} | {n_trees} | {seconds:.2f} | {each:.2f} |", flush=True)


def copied(data, n_copies):
    """Its documents so many times, each time with features that are up to a tenth smaller or larger."""
    rng, n = np.random.default_rng(n_copies), data.n_docs
    X = np.empty((n_copies * n, data.n_features), np.float32)
    for part in np.split(X, n_copies):
        np.multiply(data.X, 0.9 + 0.2 * rng.random(data.X.shape, np.float32), out=part)
    query = np.unique(data.qid, return_inverse=True)[1]
    qid = np.concatenate([query + copy * n for copy in range(n_copies)])
    return pm.Dataset(X, np.tile(data.y, n_copies), qid)


def documents(train, trees, counts):
    """How the cost of a training grows with documents, beyond what is simulated in a moment."""
    print("| documents | seconds | ns for each document, feature and tree |\n|---:|---:|---:|")
    for count in counts:
        data = copied(train, count)
        seconds, _ = pomona_run(data, trees)
        each = 1e9 * seconds / (data.n_docs * data.n_features * trees)
        print(f"| {data.n_docs:,} | {seconds:.1f} | {each:.2f} |", flush=True)


def scaling(train, trees, counts):
    """One training with several numbers of threads."""
    print("| threads | seconds | times faster |\n|---:|---:|---:|")
    first = None
    for count in counts:
        with use_threads(count):
            seconds = min(pomona_run(train, trees)[0] for _ in range(2))
        first = first or seconds
        print(f"| {count} | {seconds:.2f} | {first / seconds:.2f} |", flush=True)


def in_turns(train, trees, threads, times):
    """LightGBM's seconds between two of ours, so that a machine that slows down is seen to."""
    print("| Pomona | LightGBM | Pomona | LightGBM's, times ours |\n|---:|---:|---:|---:|")
    for _ in range(times):
        before, _ = pomona_run(train, trees)
        theirs, _ = lightgbm_run(train, trees, threads)
        after, _ = pomona_run(train, trees)
        ratio = 2 * theirs / (before + after)
        print(f"| {before:.2f} | {theirs:.2f} | {after:.2f} | {ratio:.2f} |", flush=True)


def small(trees=200):
    """Folds that a training takes a second of, validation queries judged after each tree."""
    import lightgbm as lgb

    def ours(train, valid, **more):
        LambdaMART(n_trees=trees, early_stopping=None, **more).fit(train, valid=valid)

    def theirs(train, valid):
        data = lgb.Dataset(train.X, train.y, group=train.query_lengths)
        held_out = lgb.Dataset(valid.X, valid.y, group=valid.query_lengths, reference=data)
        judged = {"metric": "ndcg", "eval_at": [10], "num_threads": 1, "verbose": -1}
        lgb.train({"objective": "lambdarank", **judged}, data, trees, valid_sets=[held_out])

    runs = {"Pomona": ours, "Pomona, no noise": functools.partial(ours, noise=0), "LightGBM": theirs}
    print("| first fold of | library | CPU seconds | LightGBM's, times these |\n|---|---|---:|---:|")
    for name in ("mq2008", "mq2007"):
        fold, seconds = pm.load(name), {library: [] for library in runs}
        for _ in range(4):
            for library, run in runs.items():
                start = time.process_time()
                run(fold.train, fold.valid)
                seconds[library].append(time.process_time() - start)
        for library, each in seconds.items():
            times = min(seconds["LightGBM"]) / min(each)
            print(f"| {name} | {library} | {min(each):.2f} | {times:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--small", action="store_true")
    numbers = {"type": lambda text: [int(number) for number in text.split(",")]}
    parser.add_argument("--copies", **numbers, help="numbers with commas between")
    parser.add_argument("--threads", **numbers, help="numbers with commas between")
    parser.add_argument("--turns", type=int, default=0, help="beside LightGBM, so many times")
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--only", default="", help="names, or parts of them, with commas between")
    arguments = parser.parse_args()
    threads = n_threads()
    if arguments.small:
        with use_threads(1):
            return small()
    train = pm.simulate(arguments.queries, n_features=136, docs_per_query=117, seed=0)
    test = pm.simulate(max(200, arguments.queries // 6), n_features=136, docs_per_query=117, seed=1)
    # Large enough that every kernel is compiled, also those that only large nodes are divided by.
    warm_up = pm.simulate(1000, n_features=136, docs_per_query=117, seed=2)
    for kind in ("leafwise", "oblivious"):
        pomona_run(warm_up, 3, growth=kind)
    if arguments.growth:
        return growth(arguments.trees)
    if arguments.copies:
        return documents(train, arguments.trees, arguments.copies)
    if arguments.threads:
        return scaling(train, arguments.trees, arguments.threads)
    if arguments.turns:
        return in_turns(train, arguments.trees, threads, arguments.turns)
    runs = {
        "Pomona": lambda: pomona_run(train, arguments.trees),
        "LightGBM lambdarank": lambda: lightgbm_run(train, arguments.trees, threads),
        "XGBoost rank:ndcg hist": lambda: xgboost_run(train, arguments.trees, threads),
        "Pomona, oblivious depth 6": lambda: pomona_run(
            train, arguments.trees, growth="oblivious", max_depth=6
        ),
        "CatBoost LambdaMart depth 6": lambda: catboost_run(train, arguments.trees, threads),
        "Pomona, err@10": lambda: pomona_run(train, arguments.trees, measure="err@10"),
        "Pomona, ap": lambda: pomona_run(train, arguments.trees, measure="ap"),
    }
    print(f"{train.n_docs:,} documents × {train.n_features}, {arguments.trees} trees, {threads} threads\n")
    print("| library | seconds | times ours | test NDCG@10 |\n|---|---:|---:|---:|")
    reference: dict[str, float] = {}
    for name, run in runs.items():
        if not any(part in name for part in arguments.only.split(",")):
            continue
        try:
            seconds, predict = run()
        except ImportError:
            print(f"| {name} | not installed | | |")
            continue
        kind = "oblivious" if "depth 6" in name else "leafwise"
        reference.setdefault(kind, seconds)
        ndcg = pm.evaluate(test, predict(test), "ndcg@10")["ndcg@10"]
        print(f"| {name} | {seconds:.2f} | {seconds / reference[kind]:.2f} | {ndcg:.4f} |", flush=True)


if __name__ == "__main__":
    main()
