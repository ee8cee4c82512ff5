"""Randomization test and bootstrap interval of one pair of rankers, then all pairs of a comparison.

    python -m benchmarks.stats               # prints the tables of docs/benchmarks.md

800 queries, 10,000 resamples, each library called once to warm up, then timed; the best of three counts.
A comparison of 20 rankers on 4,000 queries by 10 measures has 1,900 pairs, each with four tests and an
interval.
"""

import time

import numpy as np
import ranx.statistical_tests
import scipy.stats

from pomona._jit import n_threads, threads
from pomona.stats.bootstrap import interval
from pomona.stats.paired import compare_pairs
from pomona.stats.randomization import fisher_randomization


def best_of(run, times=3):
    run()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def mean(values, axis):
    return np.mean(values, axis=axis)


def randomization_by_scipy(d):
    scipy.stats.permutation_test(
        (d,), mean, permutation_type="samples", n_resamples=10_000, rng=0, batch=1000, vectorized=True
    )


def main():
    random = np.random.default_rng(0)
    a, b = random.random((2, 800))
    rows = [
        ("randomization", "Pomona", lambda: fisher_randomization(a - b)),
        ("randomization", "ranx", lambda: ranx.statistical_tests.fisher_randomization_test(a, b, 10_000)),
        ("randomization", "SciPy", lambda: randomization_by_scipy(a - b)),
        ("BCa interval", "Pomona", lambda: interval(a - b)),
        (
            "BCa interval",
            "SciPy",
            lambda: scipy.stats.bootstrap((a - b,), np.mean, n_resamples=10_000, rng=0),
        ),
    ]
    print(f"| 800 queries, 10,000 resamples, {n_threads()} threads | library | ms |\n|---|---|---|")
    for what, library, run in rows:
        print(f"| {what} | {library} | {1000 * best_of(run):.1f} |", flush=True)

    values = random.random((200, 4000))
    of_measure = 20 * np.arange(10)[:, None]
    first, second = ((of_measure + part).ravel() for part in np.triu_indices(20, 1))
    print("\n| 1,900 pairs, 4,000 queries | s |\n|---|---|")
    for count in sorted({1, n_threads()}):
        with threads(count):
            print(f"| {count} threads | {best_of(lambda: compare_pairs(values, first, second), 1):.2f} |")


if __name__ == "__main__":
    main()
