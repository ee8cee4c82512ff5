"""Yilmaz & Robertson 2009, Table 5: are networks local optima of the measure they are judged by?

    python examples/papers/optimality.py 0 1 2 3 4      (seeds; MQ2008 under POMONA_DATA; 4 core-minutes each)

LambdaRank with ten hidden units on MQ2008, fold 1, trained as in `yilmaz_robertson.toml`: for the measure
itself, and for a more informative one, with several seeds. Printed is a line for each model as it is done: of
4,600 points around it, how many are better, and how many by more than ε, on the training and on the test
queries. docs/analyses/optimality.md has the table.
"""

from __future__ import annotations

import sys

import pomona as pm

ROWS = (("ap", "p@10"), ("p@10", "p@10"), ("ndcg", "ndcg@10"), ("ndcg@10", "ndcg@10"))


def counts(trained: str, judged: str, seed: int) -> str:
    """Better and clearly better points, on training and on test queries, as a row of a table."""
    train, valid, test = pm.load("mq2008", 1)
    ranker = pm.LambdaRank(
        measure=trained,
        valid_measure=judged,
        hidden=(10,),
        activation="tanh",
        dropout=0.0,
        averaged=False,
        truncation=None,
        normalize=False,
        learning_rate=0.003,
        n_epochs=300,
        early_stopping=80,
        restart_after=16,
        seed=seed,
    ).fit(train, valid=valid)
    found = [pm.local_optimality(ranker, data, judged) for data in (train, test)]
    cells = [f"{one.n_better} / {one.n_clearly_better}" for one in found]
    return f"| {trained.upper()} → {judged.upper()} | {seed} | {' | '.join(cells)} |"


if __name__ == "__main__":
    print("| trained for → judged by | seed | training queries | test queries |\n|---|---:|---:|---:|")
    for seed in map(int, sys.argv[1:] or ("0", "1", "2")):
        for trained, judged in ROWS:
            print(counts(trained, judged, seed), flush=True)
