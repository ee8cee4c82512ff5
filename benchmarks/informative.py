"""Relevance inferred from one list of 1,000 documents, 50 of them relevant, one thread.

python -m benchmarks.informative
"""

import time

import numpy as np

import pomona as pm
from pomona._jit import threads

VALUES = {"ap": (0.05, 0.2, 0.5, 0.9), "ndcg": (0.45, 0.6, 0.8, 0.95), "p@10": (0.1, 0.5, 0.9)}


def main(n_docs=1000, n_relevant=50, rounds=20):
    labels = np.arange(n_docs) < n_relevant
    print("| measure | value | ms |\n|---|---:|---:|")
    with threads(1):
        for measure, values in VALUES.items():
            for value in values:
                seconds = []
                for _ in range(rounds + 1):
                    started = time.thread_time()
                    pm.infer_relevance(measure, value, labels)
                    seconds.append(time.thread_time() - started)
                print(f"| {measure} | {value} | {1e3 * np.median(seconds[1:]):.2f} |")


if __name__ == "__main__":
    main()
