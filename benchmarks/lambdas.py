"""Lambda gradients alone, one thread: Pomona towards many measures, LightGBM towards NDCG.

    python -m benchmarks.lambdas             # 233,000 documents in 2,000 queries

LightGBM does not show its objective, so it is timed training trees of 2 leaves on one feature, with
`lambdarank` and with `regression`, whose gradients cost nothing beside it; the difference of an iteration is
the objective. Rounds of all alternate in one process, and the median of the thread's CPU time counts, which
other processes disturb least. Scores move between rounds.
"""

import argparse
import time

import numpy as np

from pomona._jit import threads
from pomona.objectives.lambdas import LambdaObjective

OURS = [
    *(("ndcg@10", None), ("ndcg@30", None), ("ndcg", 10), ("ndcg", 30), ("ndcg", None)),
    *(("letor4:ndcg@10", None), ("p@10", None), ("rbp@10", None), ("sr4", None)),
    *(("ap@10", None), ("ap", 30), ("ap", None), ("err@10", None), ("err", 30), ("err", None)),
    *(("pfound@10", None), ("rr@10", None)),
]


def documents(n_queries, seed=0):
    random = np.random.default_rng(seed)
    sizes = np.clip(random.lognormal(np.log(105), 0.5, n_queries).astype(int), 5, 900)
    labels = random.choice(5, sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(np.float32)
    return labels, sizes


def lightgbm_rounds(labels, sizes, rounds, **parameters):
    """Seconds of each iteration."""
    import lightgbm

    feature = np.random.default_rng(1).standard_normal((len(labels), 1)).astype(np.float32)
    data = lightgbm.Dataset(feature, labels, group=sizes, free_raw_data=False)
    settings = {"num_leaves": 2, "num_threads": 1, "verbose": -1, "metric": "none", **parameters}
    booster = lightgbm.Booster(settings, data)
    seconds = []
    for _ in range(rounds + 2):
        start = time.thread_time()
        booster.update()
        seconds.append(time.thread_time() - start)
    return seconds[2:]


def pomona_rounds(labels, sizes, rounds, measure, truncation):
    """Seconds of each call, on scores that move as in boosting."""
    random = np.random.default_rng(2)
    query_ptr = np.concatenate(([0], np.cumsum(sizes)))
    objective = LambdaObjective(measure, labels, query_ptr, truncation=truncation)
    scores = random.standard_normal(len(labels))
    gradient, hessian = np.empty(len(labels), np.float32), np.empty(len(labels), np.float32)
    seconds = []
    with threads(1):
        for _ in range(rounds + 2):
            scores += 0.1 * random.standard_normal(len(labels))
            start = time.thread_time()
            objective.gradients(scores, gradient, hessian)
            seconds.append(time.thread_time() - start)
    return seconds[2:]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    labels, sizes = documents(arguments.queries)
    peers = {f"LightGBM, truncation {t}": {"lambdarank_truncation_level": t} for t in (10, 30, 1000)}
    seconds = {}
    for _ in range(3):
        bare = lightgbm_rounds(labels, sizes, arguments.rounds, objective="regression")
        seconds.setdefault("LightGBM, no objective", []).extend(bare)
        for name, parameters in peers.items():
            timed = lightgbm_rounds(labels, sizes, arguments.rounds, objective="lambdarank", **parameters)
            seconds.setdefault(name, []).extend(timed)
        for measure, truncation in OURS:
            name = measure if truncation is None else f"{measure}, truncation {truncation}"
            timed = pomona_rounds(labels, sizes, arguments.rounds, measure, truncation)
            seconds.setdefault(name, []).extend(timed)
    medians = {name: float(np.median(one)) for name, one in seconds.items()}
    bare = medians.pop("LightGBM, no objective")
    for name in peers:
        medians[name] -= bare
    print(f"| {len(labels):,} documents in {len(sizes):,} queries | ms | × LightGBM at 10 | at 30 | at all |")
    print("|---|---|---|---|---|")
    for name, value in medians.items():
        ratios = " | ".join(f"{medians[peer] / value:.1f}" for peer in peers)
        print(f"| {name} | {1e3 * value:.2f} | {ratios} |")


if __name__ == "__main__":
    main()
