"""Yilmaz & Robertson 2009, section 5.1: which measure to train for, without any optimizer.

A ranker of two features is an angle: f = cos θ · x₁ + sin θ · x₂. Every angle is tried, the best on the
training queries by each measure is judged on the test queries.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from common import Comparison, Parts, table

import pomona as pm
from pomona._types import Scores, Values
from pomona.experiments.source import fold_sources
from pomona.measures.base import Measure
from pomona.rankers.evaluator import judged_rankings, with_fair_ties
from pomona.report.digits import fixed, p_value, signed
from pomona.stats.paired import compare_pair

N_ANGLES = 3600
N_PARTNERS = 36
"""Angles tried while the second feature is chosen."""
PAIRS = (("ap", "p@10"), ("ndcg", "ndcg@10"))
"""The more informative measure, and the one that is judged by."""


def brute_force(of: Comparison, folder: Path) -> str:
    """The best angle by the informative measure against the best by the measure of the test."""
    rows = []
    spec = of.results.spec
    for data in spec.datasets:
        folds = [source.load() for source in fold_sources(data, spec.n_folds)]
        for informative, judged in PAIRS:
            values = np.hstack([_judged_test(fold.train, fold.test, informative, judged) for fold in folds])
            tests = compare_pair(*values)
            gain = f"{signed(100 * tests.difference, 2)} ({signed(100 * tests.low, 2)} to "
            gain += f"{signed(100 * tests.high, 2)}; p {p_value(tests.randomization_p)})"
            means = [fixed(100 * mean, 2) for mean in values.mean(axis=1)]
            rows.append([data.name, judged.upper(), f"{values.shape[1]}", *means, gain])
    heads = ["queries", "angle by the informative measure", "angle by the judged one", "difference"]
    return table(["dataset", "judged by", *heads], rows, n_texts=2)


def _judged_test(train: pm.Dataset, test: pm.Dataset, informative: str, judged: str) -> Values:
    """Values of every test query, (2, queries): angle chosen by each of the two measures."""
    measures = [with_fair_ties(pm.measure(text)) for text in (informative, judged)]
    features, scale = _two_features(train, measures[0])
    angles = np.linspace(0, 2 * np.pi, N_ANGLES, endpoint=False)
    chosen = [angles[np.argmax(_means(train, features, scale, angles, measure))] for measure in measures]
    scores = _scores(test, features, scale, np.array(chosen))
    return judged_rankings(test, scores, measures[1])


def _two_features(train: pm.Dataset, measure: Measure) -> tuple[list[int], Values]:
    """The best feature of the training queries, and the one that helps it most."""
    scale = train.X.std(axis=0).astype(np.float64)
    scale[scale == 0] = np.inf
    turns = np.linspace(0, 2 * np.pi, N_PARTNERS, endpoint=False)
    alone = [
        _means(train, [f, f], scale, np.array([0.0, np.pi]), measure).max() for f in range(train.n_features)
    ]
    first = int(np.argmax(alone))
    together = [
        _means(train, [first, f], scale, turns, measure).max() if f != first else -1.0
        for f in range(train.n_features)
    ]
    return [first, int(np.argmax(together))], scale


def _means(data: pm.Dataset, features: list[int], scale: Values, angles: Values, measure: Measure) -> Values:
    """The mean measure of every angle, a few angles at a time."""
    step = max(1, 2_000_000 // data.n_docs)
    pieces = [angles[first : first + step] for first in range(0, len(angles), step)]
    return np.concatenate(
        [
            judged_rankings(data, _scores(data, features, scale, piece), measure).mean(axis=1)
            for piece in pieces
        ]
    )


def _scores(data: pm.Dataset, features: list[int], scale: Values, angles: Values) -> Scores:
    x, y = (data.X[:, f].astype(np.float64) / scale[f] for f in features)
    return np.outer(np.cos(angles), x) + np.outer(np.sin(angles), y)


PARTS: Parts = {"yilmaz-robertson brute force": ("yilmaz_robertson", brute_force)}
