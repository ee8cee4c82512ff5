"""The same ranking of MQ2008 under every tool's rules: the README's table.

POMONA_DATA=/your/data python examples/whose_ndcg.py
"""

import numpy as np

import pomona as pm
from pomona.measures.conventions import CONVENTIONS

FEATURE = 25  # BM25 of the whole document

tests = [pm.load("mq2008", fold=fold)[2] for fold in range(1, 6)]
rows = []
for name in CONVENTIONS:
    by_fold = [pm.evaluate(test, test.X[:, FEATURE - 1], f"{name}:ndcg@10") for test in tests]
    rows.append((name, float(np.mean([result[f"{name}:ndcg@10"] for result in by_fold]))))
print("| whose NDCG@10 | mean of the five test folds |\n|---|---:|")
for name, value in sorted(rows, key=lambda row: -row[1]):
    print(f"| `{name}` | {value:.4f} |")
