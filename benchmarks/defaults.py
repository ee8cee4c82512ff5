"""The scaling of point-wise lines and the radius of PRank, chosen where no result of ours is read off.

    POMONA_DATA=/your/data python -m benchmarks.defaults

NDCG@10 on simulated queries (four draws of three shapes), and inside the training queries of the collections
that have a test part of their own (three times five folds). The test parts are not looked at.
"""

import functools
import warnings

import numpy as np

import pomona as pm
from pomona.data.k_fold import QueryKFold

SHAPES = {"short lists": (150, 10), "middling": (100, 40), "long": (60, 120)}
COLLECTIONS = ("mslr-subset", "lightgbm-example", "trec-news-2018")
SCALINGS = ("minmax", "standard", "rank")
RADII = (None, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0)


def samples():
    """(training, judged) pairs of each sample."""
    for name, (n_queries, n_docs) in SHAPES.items():
        yield (
            f"simulated, {name}",
            [
                (
                    pm.simulate(n_queries, docs_per_query=n_docs, seed=10 + draw),
                    pm.simulate(300, docs_per_query=n_docs, seed=100 + draw),
                )
                for draw in range(4)
            ],
        )
    for name in COLLECTIONS:
        train = pm.load(name).train
        splits = [split for seed in range(3) for split in QueryKFold(5, seed=seed).split_queries(train)]
        yield name, [(train.take(inside), train.take(outside)) for inside, outside in splits]


def candidates():
    """(label, what makes the ranker)."""
    for scaling in SCALINGS:
        yield f"LinearRegression, {scaling}", functools.partial(pm.LinearRegression, normalize=scaling)
    for scaling in SCALINGS:
        yield f"LogisticRegression, {scaling}", functools.partial(pm.LogisticRegression, normalize=scaling)
    for scaling in SCALINGS:
        for radius in RADII:
            yield f"PRank, {scaling}, {radius}", functools.partial(pm.PRank, normalize=scaling, radius=radius)


def main():
    warnings.simplefilter("ignore")
    pairs_of = dict(samples())
    print(f"| ranker, scaling, radius | {' | '.join(pairs_of)} | mean |")
    print("|---|" + "---:|" * (len(pairs_of) + 1))
    for label, make in candidates():
        means = [
            np.mean(
                [
                    pm.evaluate(judged, make().fit(train).predict(judged), "ndcg@10")["ndcg@10"]
                    for train, judged in pairs
                ]
            )
            for pairs in pairs_of.values()
        ]
        print(f"| {label} | {' | '.join(f'{value:.4f}' for value in (*means, np.mean(means)))} |", flush=True)


if __name__ == "__main__":
    main()
