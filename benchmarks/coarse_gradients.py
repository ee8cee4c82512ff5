"""What it costs that gradients become coarser with the number of documents: NDCG@10 of LambdaMART.

    python -m benchmarks.coarse_gradients    # 703k × 136 simulated, 100 trees, 31 leaves, some minutes

Gradient, hessian and count share 64 bits (`trees/histogram.py`), so sums of many documents leave less for
each. Here few documents get the gradients that they would have among so many times as many; beside them,
training on fewer documents, as a measure of how much that is.
"""

import argparse

import numpy as np

import pomona as pm
from pomona.trees import histogram

SCALES = (1, 5, 15, 142, 1422)
SHARES = (4, 16)


def before_rounding_among(times):
    """As `before_rounding`, of n documents among `times` as many."""
    before_rounding = histogram.before_rounding

    def limits_of(n):
        count_bits = n.bit_length()
        hessian_bits = (64 - count_bits) // 2 - 1
        return [2 ** (63 - count_bits - hessian_bits) - 1, 2**hessian_bits - 1]

    def before_rounding_of_all(limit, n):
        of_all = limits_of(n * times)[limits_of(n).index(limit)]
        return before_rounding(of_all, n * times) / times

    return before_rounding_of_all


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--trees", type=int, default=100)
    arguments = parser.parse_args()
    train = pm.simulate(arguments.queries, n_features=136, docs_per_query=117, seed=0)
    test = pm.simulate(2000, n_features=136, docs_per_query=117, seed=1)
    alike = {"n_trees": arguments.trees, "growth": "leafwise", "n_leaves": 31, "noise": 0}
    plain, reference = histogram.before_rounding, None
    print("| documents | gradients as of | NDCG@10 | less the first |\n|---:|---:|---:|---:|")
    for times, share in [(times, 1) for times in SCALES] + [(1, share) for share in SHARES]:
        data = train.take(range(train.n_queries // share))
        histogram.before_rounding = before_rounding_among(times)
        try:
            ranker = pm.LambdaMART(**alike, early_stopping=None).fit(data)
        finally:
            histogram.before_rounding = plain
        values = pm.evaluate(test, ranker.predict(test), "ndcg@10", per_query=True)["ndcg@10"]
        reference = values if reference is None else reference
        less = values - reference
        error = 1.96 * less.std() / np.sqrt(len(less))
        row = f"{values.mean():.4f} | {less.mean():+.4f} ± {error:.4f}"
        print(f"| {data.n_docs:,} | {data.n_docs * times:,} | {row} |", flush=True)


if __name__ == "__main__":
    main()
