"""Ten measures over 3.6 million documents in 30,000 queries, from arrays: Pomona, ranx, pytrec_eval.

    python -m benchmarks.measures            # prints the table of docs/benchmarks.md

Every library gets its own input form beforehand (ranx its Qrels and Run, pytrec_eval its dictionaries,
built outside the clock), is called once to warm up, then timed; the best of three counts.
"""

import argparse
import time

import numpy as np

from pomona._jit import n_threads, threads
from pomona.measures.judge import judge
from pomona.measures.lists import ScoredQueries
from pomona.measures.parse import measure

OURS = ["ndcg@10", "ndcg@5", "ndcg", "ap", "p@5", "p@10", "recall@10", "recall@100", "rr", "rr@10"]
RANX = ["ndcg_burges@10", "ndcg_burges@5", "ndcg_burges", "map", "precision@5", "precision@10"]
RANX += ["recall@10", "recall@100", "mrr", "mrr@10"]
IR = ["nDCG@10", "nDCG@5", "nDCG", "AP", "P@5", "P@10", "R@10", "R@100", "RR", "RR@10"]


def documents(n_queries, per_query=120, seed=0):
    random = np.random.default_rng(seed)
    n = n_queries * per_query
    labels = random.choice(5, n, p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(np.float32)
    return labels, random.standard_normal(n), np.arange(0, n + 1, per_query)


def best_of(run, times=3):
    run()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def pomona_seconds(labels, scores, query_ptr):
    wanted = [measure(text) for text in OURS]
    return best_of(lambda: judge(ScoredQueries(labels, scores, query_ptr), wanted))


def ranx_seconds(labels, scores, query_ptr):
    from ranx import Qrels, Run, evaluate

    n, per_query = len(query_ptr) - 1, int(query_ptr[1])
    queries = [f"q{q}" for q in range(n)]
    ids = [[f"d{i}" for i in range(per_query)]] * n
    qrels, run = Qrels(), Run()
    qrels.add_multi(queries, ids, labels.astype(int).reshape(n, per_query).tolist())
    run.add_multi(queries, ids, scores.reshape(n, per_query).tolist())
    # ranx sorts its run inside the first call and keeps it sorted: the timed call is spared that.
    return best_of(lambda: evaluate(qrels, run, RANX, make_comparable=False), times=1)


def pytrec_eval_seconds(labels, scores, query_ptr):
    import ir_measures

    n, per_query = len(query_ptr) - 1, int(query_ptr[1])
    qrels = {f"q{q}": {f"d{i}": int(labels[q * per_query + i]) for i in range(per_query)} for q in range(n)}
    run = {f"q{q}": {f"d{i}": float(scores[q * per_query + i]) for i in range(per_query)} for q in range(n)}
    measures = [ir_measures.parse_measure(text) for text in IR]
    return best_of(lambda: ir_measures.pytrec_eval.calc_aggregate(measures, qrels, run), times=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=30_000)
    arguments = parser.parse_args()
    data = documents(arguments.queries)
    rows = []
    with threads(1):
        rows.append(("Pomona, 1 thread", pomona_seconds(*data)))
    rows.append((f"Pomona, {n_threads()} threads", pomona_seconds(*data)))
    ours = rows[-1][1]
    rows.append(("ranx", ranx_seconds(*data)))
    rows.append(("pytrec_eval (through ir-measures)", pytrec_eval_seconds(*data)))
    print(f"Ten measures, {len(data[0]):,} documents in {arguments.queries:,} queries\n")
    print("| library | seconds | times ours |\n|---|---:|---:|")
    for name, seconds in rows:
        print(f"| {name} | {seconds:.3f} | {seconds / ours:.1f} |")
    print("\nScaling:\n\n| documents | seconds | ns a document |\n|---:|---:|---:|")
    for n_queries in (arguments.queries // 4, arguments.queries // 2, arguments.queries):
        smaller = documents(n_queries)
        seconds = pomona_seconds(*smaller)
        print(f"| {len(smaller[0]):,} | {seconds:.4f} | {seconds / len(smaller[0]) * 1e9:.1f} |")


if __name__ == "__main__":
    main()
